package api

import (
	_ "embed"
	"fmt"
	"strings"
)

// wordsText says of each tool what models read: what it does, when to use it, which other
// tool to use instead, and in short what it answers. It knows nothing of HTTP: what the
// OpenAPI document says of an operation is in its description in the routes. A block is
// the tool's name, and below it its words.
//
//go:embed words.txt
var wordsText string

// words are those blocks by tool.
var words = readWords(wordsText)

func readWords(text string) map[string]string {
	out := map[string]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		tool, said, _ := strings.Cut(block, "\n")
		if _, twice := out[tool]; twice || said == "" {
			panic(fmt.Sprintf("words.txt: %q is there twice, or has no words", tool))
		}
		out[tool] = strings.Join(strings.Fields(said), " ")
	}
	return out
}

// description says to models, and to owners who decide about tools, what the tool does.
// A family's own tools say it in their offer.
func (o operation) description() string {
	if said := words[o.tool]; said != "" {
		return said
	}
	if o.more == "" {
		return o.summary + "."
	}
	return o.summary + ". " + o.more
}
