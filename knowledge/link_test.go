package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// vaultOf is a vault of published files: what each has of front matter, and its body behind a line |.
func vaultOf(t *testing.T, files map[string]string) *Vault {
	t.Helper()
	vault := fstest.MapFS{}
	for file, text := range files {
		front, body, _ := strings.Cut(text, "|\n")
		vault[file] = &fstest.MapFile{Data: []byte("---\ntitle: A\ndate: 2026-01-31\npublish: true\n" + front + "\n---\n" + body)}
	}
	v, err := Read(t.Context(), vault, DefaultOntology())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLinks says what one link in data/concepts/from.md leads to.
func TestLinks(t *testing.T) {
	files := map[string]string{
		"data/concepts/circle.md":   "aliases: [Kreis, Working Circle]",
		"data/groups/circle.md":     "",
		"data/groups/compost.md":    "aliases: Soil makers", // not a list, and so invalid, but meant
		"data/groups/über uns.md":   "permalink: /about/",
		"data/index.md":             "type: index",
		"data/concepts/deep/one.md": "",
		"one.md":                    "",
		"taken.md":                  "permalink: /one",
		"Node.js.md":                "",
		"v1.2.md":                   "",
	}
	for link, want := range map[string]string{
		// By name: whatever the case, the nearest of several.
		"[[circle]]":                   "data/concepts/circle.md",
		"[[Circle.md]]":                "data/concepts/circle.md",
		"[[ circle | our circle ]]":    "data/concepts/circle.md",
		"[[circle#Roles|roles]]":       "data/concepts/circle.md",
		`| [[circle\|ours]] |`:         "data/concepts/circle.md", // in a table a bar is escaped
		"[[KREIS]]":                    "data/concepts/circle.md",
		"[[working circle]]":           "data/concepts/circle.md",
		"[[soil makers]]":              "data/groups/compost.md",
		"[[u\u0308ber uns]]":           "data/groups/über uns.md", // composed in another way
		"[[one]]":                      "one.md",                  // the fewest folders
		"[[v1.2]]":                     "v1.2.md",
		"[[Node.js]]":                  "Node.js.md", // a file of the vault, and no script to download
		"[a](/Node.js)":                "Node.js.md",
		"[[Other.js]]":                 "",
		"[[nobody]]":                   "nothing",
		"[[data/groups/circle]]":       "data/groups/circle.md",
		"[[../groups/circle]]":         "data/groups/circle.md",
		"[[deep/one]]":                 "data/concepts/deep/one.md",
		"[[/data/groups/circle]]":      "data/groups/circle.md",
		"see [[circle]] and [[one]]":   "data/concepts/circle.md one.md",
		"[[circle]][[one]]":            "data/concepts/circle.md one.md",
		"[[picture.png]]":              "",
		"[[#here]]":                    "",
		"[[never closed":               "",
		`\[[circle]]`:                  "",
		"`[[circle]]`":                 "",
		"``a ` [[circle]]`` [[one]]":   "one.md",
		"` [[circle]]":                 "data/concepts/circle.md",
		"```\n[[circle]]\n```":         "",
		"<!-- [[circle]] -->\n[[one]]": "one.md",

		// By path: from the file's folder, or from the vault's root.
		"[a](circle.md)":                       "data/concepts/circle.md",
		"[a](circle)":                          "data/concepts/circle.md",
		"[a](./circle.md#roles)":               "data/concepts/circle.md",
		"[a](circle.md?x=1)":                   "data/concepts/circle.md",
		"[a](../groups/circle.md \"a title\")": "data/groups/circle.md",
		"[a](/data/groups/circle)":             "data/groups/circle.md",
		"[a](/data/groups/%C3%BCber%20uns.md)": "data/groups/über uns.md",
		"[a](</data/groups/über uns.md>)":      "data/groups/über uns.md",
		"[a](/data)":                           "data/index.md",
		"[a](/data/)":                          "data/index.md",
		"[a](Circle.md)":                       "nothing", // paths have a case
		"[a](../../../one.md)":                 "nothing", // no way leads out of the vault
		"[![a](a.png)](circle.md)":             "data/concepts/circle.md",
		"[a]: circle.md \"a title\"":           "data/concepts/circle.md",
		"[^1]: circle.md":                      "",
		"[a](#here)":                           "",
		"[a](https://example.org/one)":         "",
		"[a](mailto:one@example.org)":          "",
		"[a](//example.org/one)":               "",
		"[a](/files/one.pdf)":                  "",
		`\[a\](circle.md)`:                     "",

		// By permalink, which takes no path from a file.
		"[a](/about)":  "data/groups/über uns.md",
		"[a](/about/)": "data/groups/über uns.md",
		"[a](/one)":    "one.md",
	} {
		t.Run(link, func(t *testing.T) {
			files["data/concepts/from.md"] = "|\n" + link
			if got := leadsTo(vaultOf(t, files), "data/concepts/from.md"); got != want {
				t.Errorf("it leads to %q, want %q", got, want)
			}
		})
	}
}

// leadsTo are the paths that a file's links lead to.
func leadsTo(v *Vault, file string) string {
	var to []string
	for _, e := range v.Entries {
		for _, l := range e.Links {
			if e.Path == file {
				to = append(to, orNothing(l.To))
			}
		}
	}
	return strings.Join(to, " ")
}

func orNothing(to string) string {
	if to == "" {
		return "nothing"
	}
	return to
}

// TestTooManyLinks: a file with more links than are followed says so once, at the first of the rest.
func TestTooManyLinks(t *testing.T) {
	v := vaultOf(t, map[string]string{"a.md": "|\n" + strings.Repeat("[[a]]\n", MaxLinks+3)})
	if n := len(v.Entries[0].Links); n != MaxLinks {
		t.Errorf("it has %d links", n)
	}
	same(t, "the problems", Problems(v.Entries[0].Problems).Error(), "a.md:5007: only the first 5000 links are followed")
}

// TestFieldLinks: fields that a type has links in are links, with their lines; others aren't.
func TestFieldLinks(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"artifacts/patterns/from.md": "author: [one]\nisPartOf: one\nrelatedPatterns:\n  - two\n  - \"[[artifacts/patterns/two|Two]]\"\n  - /tags/three.md\n  - ''\n  - 4\n  - \"[[none]]\"\n|\n[[two]]",
		"artifacts/patterns/two.md":  "", "tags/three.md": "", "one.md": "",
		"tags/from.md": "relatedPatterns: [two]\nrelatedTerms: [three]", // a tag has no related patterns
	})
	var got strings.Builder
	for _, e := range v.Entries {
		for _, l := range e.Links {
			fmt.Fprintf(&got, "%s:%d: %s%s > %s\n", e.Path, l.Line, inField(l), l.Target, orNothing(l.To))
		}
	}
	same(t, "the links", got.String(), `
artifacts/patterns/from.md:6: isPartOf: one > one.md
artifacts/patterns/from.md:8: relatedPatterns: two > artifacts/patterns/two.md
artifacts/patterns/from.md:9: relatedPatterns: artifacts/patterns/two > artifacts/patterns/two.md
artifacts/patterns/from.md:10: relatedPatterns: /tags/three.md > tags/three.md
artifacts/patterns/from.md:13: relatedPatterns: none > nothing
artifacts/patterns/from.md:16: two > artifacts/patterns/two.md
tags/from.md:6: relatedTerms: three > tags/three.md
`)
}

func inField(l Link) string {
	if l.Field == "" {
		return ""
	}
	return l.Field + ": "
}
