package api

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
)

// wordsText says of each tool what models read, and owners who decide about tools: a title,
// what it does, when to use it, which other tool to use instead, and in short what it
// answers. It knows nothing of HTTP: what the OpenAPI document says of an operation stands
// in the routes. A block is the tool's name and title, and below them its description.
//
//go:embed words.txt
var wordsText string

// said is what is said of a tool.
type said struct{ title, description string }

// words are those blocks by tool.
var words = readWords(wordsText)

func readWords(text string) map[string]said {
	out := map[string]said{}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		head, body, _ := strings.Cut(block, "\n")
		tool, title, _ := strings.Cut(head, ": ")
		if _, twice := out[tool]; twice || title == "" || body == "" {
			panic(fmt.Sprintf("words.txt: %q is there twice, or lacks something", tool))
		}
		out[tool] = said{title, strings.Join(strings.Fields(body), " ")}
	}
	return out
}

// words are those of the tool. A family's own says them in its offer.
func (o operation) words() said {
	if w, ok := words[o.tool]; ok {
		return w
	}
	return said{o.summary, cmp.Or(o.more, o.summary+".")}
}
