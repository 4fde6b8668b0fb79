package knowledge

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCheck reads a vault of 10,000 files with ten links each and reports on it: files with
// names of their own, files in folders of their own that all have the same name, and files of
// one folder that all have the same alias.
func BenchmarkCheck(b *testing.B) {
	const files = 10_000
	for name, file := range map[string]func(i int) (path, link, front string){
		"names":    func(i int) (string, string, string) { return fmt.Sprintf("tags/n%d.md", i), fmt.Sprintf("n%d", i), "" },
		"one name": func(i int) (string, string, string) { return fmt.Sprintf("tags/n%d/same.md", i), "same", "" },
		"one alias": func(i int) (string, string, string) {
			return fmt.Sprintf("tags/n%d.md", i), "same", "aliases: [same]\n"
		},
		"indexes": func(i int) (string, string, string) {
			return fmt.Sprintf("tags/n%d/index.md", i), fmt.Sprintf("/tags/n%d", i), "type: index\n"
		},
	} {
		texts := map[string][]byte{}
		for i := range files {
			var links strings.Builder
			for j := range 10 {
				_, link, _ := file((i*7 + j*1009) % files)
				fmt.Fprintf(&links, "See [[%s]].\n", link)
			}
			path, _, front := file(i)
			texts[path] = []byte("---\ntitle: A\ndate: 2026-01-31\npublish: true\n" + front + "---\n" + links.String())
		}
		b.Run(name, func(b *testing.B) {
			o := DefaultOntology()
			for b.Loop() {
				entries := make([]*Entry, 0, files)
				for path, text := range texts {
					entries = append(entries, o.Parse(path, text))
				}
				if r := Assemble(o, entries).Report(false); r.Links.Unresolved != 0 {
					b.Fatalf("links: %+v", r.Links)
				}
			}
		})
	}
}

// BenchmarkManyLinks reads one file with 100,000 links, or with what looks like as many.
func BenchmarkManyLinks(b *testing.B) {
	for name, link := range map[string]string{
		"names": "[[a]]", "paths": "[a](a.md)", "lines": "[[a]]\n", "open": "[[a ", "open paths": "](<a", "brackets": "](((", "code": "`[[a]] ``", "definitions": "[a]: a.md\n",
		"escaped": `\[[a`, "bars": `[[a\|`, "comments": "<!-- [[a]]",
	} {
		text := []byte("---\ntitle: A\ndate: 2026-01-31\npublish: true\n---\n" + strings.Repeat(link, 100_000))
		b.Run(name, func(b *testing.B) {
			o := DefaultOntology()
			for b.Loop() {
				Assemble(o, []*Entry{o.Parse("tags/a.md", text)})
			}
		})
	}
}
