package knowledge

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestDefaultOntology(t *testing.T) {
	o := DefaultOntology()
	if len(o.Types) != 21 {
		t.Errorf("there are %d types, want 21", len(o.Types))
	}
	for file, want := range map[string]string{
		"artifacts/patterns/a.md": "pattern", "tags/a.md": "tag", "tags-old/a.md": "file", "data/people/x/a.md": "person", "a.md": "file",
	} {
		if got := o.TypeAt(file); got != want {
			t.Errorf("%s is a %s, want %s", file, got, want)
		}
	}
	if got := strings.Join(o.Under("story"), " "); got != "story study article" {
		t.Errorf("below story are %s", got)
	}
}

func TestParse(t *testing.T) {
	long := strings.Repeat("x", 70)
	for name, c := range map[string]struct {
		file, text, lenient, strict string // why it is withheld, "" for published
	}{
		"whole":            {"tags/a.md", "---\ntitle: A\ndate: 2026-01-31\npublish: true\n---\nbody", "", ""},
		"without a date":   {"tags/a.md", "---\ntitle: A\npublish: true\n---\n", "", "invalid"},
		"unknown type":     {"tags/a.md", "---\ntitle: A\ndate: 2026-01-31\ntype: concept\npublish: true\n---\n", "", "invalid"},
		"publish as text":  {"tags/a.md", "---\ntitle: A\npublish: \"true\"\n---\n", "unpublished", "unpublished"},
		"draft":            {"tags/a.md", "---\ntitle: A\npublish: true\ndraft: true\n---\n", "draft", "draft"},
		"a private note":   {"notes/" + long + ".md", "just text", "unpublished", "unpublished"},
		"CRLF and BOM":     {"tags/a.md", "\ufeff---\r\ntitle: A\r\ndate: 2026-01-31\r\npublish: true\r\n---\r\nbody\r\n", "", ""},
		"no end":           {"tags/a.md", "---\npublish: true\n", "broken", "broken"},
		"NUL":              {"tags/a.md", "a\x00b", "broken", "broken"},
		"not UTF-8":        {"tags/a.md", "\xff", "broken", "broken"},
		"long name":        {"tags/" + long + ".md", "---\ntitle: A\npublish: true\n---\n", "broken", "broken"},
		"path trick":       {"tags/../../a.md", "a", "broken", "broken"},
		"field twice":      {"tags/a.md", "---\ntitle: A\ntitle: B\npublish: true\n---\n", "broken", "broken"},
		"alias in itself":  {"tags/a.md", "---\na: &a [*a]\npublish: true\n---\n", "broken", "broken"},
		"bomb of aliases":  {"tags/a.md", "---\na: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c]\npublish: true\n---\n", "broken", "broken"},
		"nested deep":      {"tags/a.md", "---\na: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n---\n", "broken", "broken"},
		"much front":       {"tags/a.md", "---\na: " + strings.Repeat("x", 20_000) + "\n---\n", "broken", "broken"},
		"metadata too big": {"tags/a.md", "---\na: " + strings.Repeat("x", 9000) + "\npublish: true\n---\n", "broken", "broken"},
		"larger than read": {"tags/a.md", strings.Repeat("x", MaxFile+1), "broken", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			e := DefaultOntology().Parse(c.file, []byte(c.text))
			if got := e.Withheld(false); got != c.lenient {
				t.Errorf("lenient: withheld as %q, want %q: %v", got, c.lenient, e.Problems)
			}
			if got := e.Withheld(true); got != c.strict {
				t.Errorf("strict: withheld as %q, want %q: %v", got, c.strict, e.Problems)
			}
		})
	}
}

func TestVaultLinksBothWays(t *testing.T) {
	front := "---\ntitle: A\ndate: 2026-01-31\npublish: true\n---\n"
	v, err := Read(t.Context(), fstest.MapFS{
		"tags/cell.md":              {Data: []byte(front + "see [b](../artifacts/patterns/b.md#x), [[B|c]], `[[no]]` and [[gone]]")},
		"artifacts/patterns/b.md":   {Data: []byte(front + "[cell](/tags/cell) [out](https://example.org)")},
		"artifacts/patterns/idx.md": {Data: []byte("private")},
		"templates/x.md":            {Data: []byte("---\n{{x}}\n")},
		".obsidian/x.md":            {Data: []byte("x")},
		"README.md":                 {Data: []byte("x")},
	}, DefaultOntology())
	if err != nil {
		t.Fatal(err)
	}
	back := v.Backlinks()
	if len(back["tags/cell.md"]) != 1 || len(back["artifacts/patterns/b.md"]) != 1 {
		t.Errorf("backlinks are %v", back)
	}
	r := v.Report(true)
	if !r.Ready || r.Files != 3 || len(r.Published) != 2 || r.Links != (LinkCount{Resolved: 3, Unresolved: 1}) {
		t.Errorf("the report is %+v", r)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\ntitle: A\npublish: true\n---\n# H\n[[x]] [a](b.md)\n")
	f.Fuzz(func(t *testing.T, text string) {
		e := DefaultOntology().Parse("tags/a.md", []byte(text))
		from := 0
		for _, c := range Chunks(e.Body) {
			if c.From != from || c.To <= c.From || c.To-c.From > ChunkBytes {
				t.Fatalf("a chunk is from %d to %d, after %d", c.From, c.To, from)
			}
			from = c.To
		}
		if from != len(e.Body) {
			t.Fatalf("the chunks end at %d of %d", from, len(e.Body))
		}
		if len(e.Metadata) > MaxMetadata {
			t.Fatal("there is too much metadata")
		}
		Assemble(DefaultOntology(), []*Entry{e}).Report(true)
	})
}
