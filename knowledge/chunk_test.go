package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestChunkHeadings(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"none":                       {"", ""},
		"no headings":                {"a\n\nb\n", `"a\n\nb\n"`},
		"text before the first":      {"a\n# H\nb", `"a\n" H:"# H\nb"`},
		"blank lines before it":      {"\n\n# H\nb", `H:"\n\n# H\nb"`},
		"one under another":          {"# A\nx\n## B\ny\n### C\nz\n## D\nw", `A:"# A\nx\n" A/B:"## B\ny\n" A/B/C:"### C\nz\n" A/D:"## D\nw"`},
		"a level is left out":        {"# A\nx\n### C\ny\n## B\nz", `A:"# A\nx\n" A/C:"### C\ny\n" A/B:"## B\nz"`},
		"underlined":                 {"A\n=\nx\nB\n---\ny", `A:"A\n=\nx\n" A/B:"B\n---\ny"`},
		"closed, indented":           {"  ## A ##\nx", `A:"  ## A ##\nx"`},
		"no blank behind the sign":   {"#tag\nx", `"#tag\nx"`},
		"seven signs":                {"####### A\nx", `"####### A\nx"`},
		"in code":                    {"```\n# A\n```\nx", `"` + "```" + `\n# A\n` + "```" + `\nx"`},
		"in a longer fence":          {"~~~~\n~~~\n# A\n~~~~\n# B\n", `"~~~~\n~~~\n# A\n~~~~\n" B:"# B\n"`},
		"in a comment":               {"<!--\n# A\n-->\n# B\n", `"<!--\n# A\n-->\n" B:"# B\n"`},
		"in code that never ends":    {"# A\n```\n# B\n", `A:"# A\n` + "```" + `\n# B\n"`},
		"a line between paragraphs":  {"a\n\n---\n\nb", `"a\n\n---\n\nb"`},
		"a line below a list":        {"- a\n---\n* b\n---\n12. c\n---\nx", `"- a\n---\n* b\n---\n12. c\n---\nx"`},
		"a line below a quotation":   {"> a\n---\nx", `"> a\n---\nx"`},
		"a heading is no underlined": {"# A\n---\nx", `A:"# A\n---\nx"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, chunk := range Chunks(c.body) {
				under := strings.Join(chunk.Headings, "/")
				if under != "" {
					under += ":"
				}
				got = append(got, under+fmt.Sprintf("%q", c.body[chunk.From:chunk.To]))
			}
			same(t, "the chunks", strings.Join(got, " "), c.want)
		})
	}
}

// TestChunkSplits: a long section is cut between paragraphs where it can, else between lines,
// words or characters.
func TestChunkSplits(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []int // the lengths of the chunks
	}{
		"as long as may be":      {strings.Repeat("x", ChunkBytes), []int{ChunkBytes}},
		"one byte more":          {strings.Repeat("x", ChunkBytes+1), []int{ChunkBytes, 1}},
		"between paragraphs":     {strings.Repeat("x", 1200) + "\n\n" + strings.Repeat("y\n", 500), []int{1202, 1000}},
		"between lines":          {strings.Repeat("x", 1500) + "\n" + strings.Repeat("y z ", 200), []int{1501, 800}},
		"between words":          {strings.Repeat("xyz ", 600), []int{2000, 400}},
		"not before the half":    {"x\n\n" + strings.Repeat("y", 3000), []int{2000, 1003}},
		"between characters":     {"x" + strings.Repeat("€", 700), []int{1999, 102}},
		"each section by itself": {"# A\n" + strings.Repeat("x", 1500) + "\n# B\n" + strings.Repeat("y", 1500), []int{1505, 1504}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, chunk := range Chunks(c.body) {
				got = append(got, chunk.To-chunk.From)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("the chunks have %v bytes, want %v", got, c.want)
			}
		})
	}
}

// TestChunksAreTheBody: whatever a body is, its chunks are the whole of it in order, and each is
// text of a length that search takes.
func TestChunksAreTheBody(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\n\n", "# A\n", "## B\n", "###### C ##\n", "D\n===\n", "E\n---\n", "```\n", "~~~\n", "<!--\n", "-->\n", "- x\n", " ", "€"}),
		rapid.String(),
		rapid.Map(rapid.IntRange(1, ChunkBytes*2), func(n int) string { return strings.Repeat("ü", n) }),
		rapid.Map(rapid.IntRange(1, ChunkBytes), func(n int) string { return strings.Repeat("word ", n) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
		var whole strings.Builder
		for _, c := range Chunks(body) {
			text := body[c.From:c.To]
			if text == "" || len(text) > ChunkBytes {
				t.Fatalf("a chunk has %d bytes", len(text))
			}
			if !utf8.ValidString(text) && utf8.ValidString(body) {
				t.Fatalf("a chunk ends within a character: %q", text)
			}
			whole.WriteString(text)
		}
		if whole.String() != body {
			t.Fatalf("together the chunks are %q, and not %q", whole.String(), body)
		}
	})
}
