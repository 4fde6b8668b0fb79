package knowledge

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"ubl"
)

// TestSymlinks: what a symbolic link leads to is never read, be it a file or a folder, within
// the vault or outside.
func TestSymlinks(t *testing.T) {
	const text = "---\ntitle: A\ndate: 2026-01-31\npublish: true\n---\nsecret"
	outside, vault := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(outside, "out.md"), filepath.Join(vault, "tags", "in.md")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"file.md": filepath.Join(outside, "out.md"), "folder": outside, "again": "tags", "tags/self.md": "in.md", "gone.md": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(vault, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	root, err := os.OpenRoot(vault)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	v, err := Read(t.Context(), root.FS(), DefaultOntology())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the report", told(v.Report(true)), `
commons, ready: true, 1 files, links: 0 and 0 to nothing
tag: 1 of 1
+ tag/in "A" of tags/in.md
again: a symbolic link isn't followed (note)
file.md: a symbolic link isn't followed (note)
folder: a symbolic link isn't followed (note)
gone.md: a symbolic link isn't followed (note)
tags/self.md: a symbolic link isn't followed (note)
`)
}

// TestKeyCollisions: of two files that would be stored under one key, the first by path is; what
// isn't published takes no key.
func TestKeyCollisions(t *testing.T) {
	v := vaultOf(t, map[string]string{
		"data/concepts/cell.md":       "", // the folder makes it a tag, too
		"tags/cell.md":                "",
		"tags/more/cell.md":           "type: pattern",
		"artifacts/practices/go.md":   "draft: true",
		"artifacts/practices/a/go.md": "",
		"a/b/index.md":                "type: index",
		"a-b/index.md":                "type: index",
		"a-b.md":                      "type: index",
	})
	same(t, "the report", told(v.Report(false)), `
commons, ready: false, 8 files, links: 0 and 0 to nothing
index: 1 of 3
tag: 1 of 2
pattern: 1 of 1
practice: 1 of 2
+ index/a-b "A" of a-b.md
+ practice/go "A" of artifacts/practices/a/go.md
+ tag/cell "A" of data/concepts/cell.md
+ pattern/cell "A" of tags/more/cell.md
- a-b/index.md broken
- a/b/index.md broken
- artifacts/practices/go.md draft
- tags/cell.md broken
a-b/index.md: a-b.md is stored as index/a-b already: give one of them another name or type (broken)
a/b/index.md: a-b.md is stored as index/a-b already: give one of them another name or type (broken)
tags/cell.md: data/concepts/cell.md is stored as tag/cell already: give one of them another name or type (broken)
`)
}

// TestProblemLines: what is wrong with a file is told with the line where it stands.
func TestProblemLines(t *testing.T) {
	front := func(lines string) string { return "---\ntitle: A\ndate: 2026-01-31\npublish: true\n" + lines + "---\n" }
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":             {front("x: a: b\n"), "x.md:5: front matter: it can't be read as YAML: mapping values are not allowed in this context"},
		"a tab":               {front("x:\n\t- a\n"), "x.md:6: front matter: it can't be read as YAML: found character that cannot start any token"},
		"no such alias":       {front("y: 1\nx: *secret\n"), "x.md:6: front matter: it has an alias (*) whose anchor (&) isn't before it"},
		"a field twice":       {front("x: 1\nx: 2\n"), `x.md:6: front matter: "x" is there twice`},
		"a template":          {front("x:\n  - {{y}}\n"), "x.md:6: front matter: the name of a field is no plain text"},
		"no fields":           {"---\n\nfoo\n---\n", "x.md:2: front matter: it has no fields"},
		"no end":              {"---\npublish: true\n", "x.md:1: the front matter has no end: a line --- belongs behind it"},
		"a NUL":               {front("") + "a\r\nb\x00", "x.md:7: this is no text: it has a NUL"},
		"not UTF-8":           {front("") + "a\n\nb\xff", "x.md:8: this is no text in UTF-8"},
		"a flag as text":      {"---\npublish: \"yes\"\ndraft: no\n---\n", "x.md:2: publish must be true or false\nx.md:3: draft must be true or false"},
		"what is missing":     {"---\npublish: true\n---\n", "x.md:2: date is missing\nx.md:2: title is missing"},
		"an item of a list":   {front("author:\n  - Ada\n  - 3\n"), "x.md:7: author.1 must be text"},
		"a field of a place":  {front("type: place\ncoordinates:\n  lat: 1\n"), "x.md:6: coordinates.lng is missing"},
		"one of a few words":  {front("type: project\nstatus: gone\n"), "x.md:6: status must be one of active completed paused archived"},
		"no address":          {front("type: link\n\nurl: here\n"), "x.md:7: url must be an address like https://example.org"},
		"an empty title":      {"---\ndate: 2026-01-31\ntitle: ''\npublish: true\n---\n", "x.md:3: title must not be empty"},
		"a long title":        {"---\ndate: 2026-01-31\npublish: true\ntitle: " + strings.Repeat("x", 257) + "\n---\n", "x.md:4: title has more than 256 characters"},
		"another date":        {"---\ntitle: A\npublish: true\ndate: 31.1.2026\n---\n", "x.md:4: date must be a date like 2026-01-31"},
		"lines of Windows":    {"\ufeff---\r\ntitle: A\r\ndate: 1\r\npublish: true\r\n---\r\n", "x.md:3: date must be text"},
		"a link in the text":  {front("") + "\na\n[[b]]\n", `x.md:8: the link to "b" leads to nothing in the vault`},
		"a body that is long": {front("") + strings.Repeat("x", 1_000_001), "x.md:6: the body has 1000001 characters; a document has at most 1000000"},
		"a note for oneself":  {"---\ntype: memo\ndate: x\n---\n[[gone]]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Read(t.Context(), fstest.MapFS{"x.md": {Data: []byte(c.text)}}, DefaultOntology())
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the problems", Problems(v.Report(false).Problems).Error(), c.want)
		})
	}
}

// TestStorable: what the server refuses of a document is told with the file, before anything is
// published.
func TestStorable(t *testing.T) {
	for name, c := range map[string]struct{ file, title, want string }{
		"a dot at the end":    {"tags/wait..md", "A", ""},
		"two dots within":     {"tags/a..b.md", "A", "tags/a..b.md: the file's name is its ID: 1 to 64 bytes without .md, and without two dots in a row; this one has 4"},
		"as long as may be":   {"tags/" + strings.Repeat("x", 64) + ".md", "A", ""},
		"one byte more":       {"tags/" + strings.Repeat("x", 65) + ".md", "A", "tags/" + strings.Repeat("x", 65) + ".md: the file's name is its ID: 1 to 64 bytes without .md, and without two dots in a row; this one has 65"},
		"no name":             {"tags/.md", "A", "tags/.md: the file's name is its ID: 1 to 64 bytes without .md, and without two dots in a row; this one has 0"},
		"a name unseen":       {"tags/a\u200b.md", "A", "tags/a\u200b.md: the path has more than 1024 bytes, or characters that can't be seen"},
		"a name that turns":   {"tags/a\u202eb.md", "A", "tags/a\u202eb.md: the path has more than 1024 bytes, or characters that can't be seen"},
		"a folder that turns": {"t\u2066/a.md", "A", "t\u2066/a.md: the path has more than 1024 bytes, or characters that can't be seen"},
		"a joined picture":    {"tags/👩\u200d🔧.md", "A", ""},
		"a title unseen":      {"tags/a.md", `"a\u202eb"`, "tags/a.md:2: the title holds a character that turns the direction of writing"},
		"a title that sounds": {"tags/a.md", `"a\x07"`, "tags/a.md:2: the title holds a control character"},
	} {
		t.Run(name, func(t *testing.T) {
			e := DefaultOntology().Parse(c.file, []byte("---\ntitle: "+c.title+"\ndate: 2026-01-31\npublish: true\n---\n"))
			same(t, "the problems", Problems(e.Problems).Error(), c.want)
			as := ubl.PublishedAs{DocumentKey: ubl.DocumentKey{Type: e.Type, ID: e.ID}, Path: e.Path, Metadata: e.Metadata}
			stored := errors.Join(as.Check(), ubl.CheckTitle(e.Title)) == nil
			if stored != e.Published(true) {
				t.Errorf("published: %v; the server takes it: %v", e.Published(true), stored)
			}
		})
	}
}

// TestSettle: a file keeps the key that it is stored under already, wherever in the vault another
// one gives the same key. What can't be read keeps its key too, since what is stored of it stays.
func TestSettle(t *testing.T) {
	tag := func(id string) ubl.DocumentKey { return ubl.DocumentKey{Type: "tag", ID: id} }
	for name, c := range map[string]struct {
		files  map[string]string
		stored map[ubl.DocumentKey]string
		want   string
	}{
		"a new file before it": {
			map[string]string{"tags/a/cell.md": "", "tags/cell.md": ""},
			map[ubl.DocumentKey]string{tag("cell"): "tags/cell.md"},
			`
+ tag/cell "A" of tags/cell.md
- tags/a/cell.md broken
tags/a/cell.md: tags/cell.md is stored as tag/cell already: give one of them another name or type (broken)
`},
		"its file has gone": {
			map[string]string{"tags/a/cell.md": "", "tags/b/cell.md": ""},
			map[ubl.DocumentKey]string{tag("cell"): "tags/cell.md"},
			`
+ tag/cell "A" of tags/a/cell.md
- tags/b/cell.md broken
tags/b/cell.md: tags/a/cell.md is stored as tag/cell already: give one of them another name or type (broken)
`},
		"its file gives it up": {
			map[string]string{"tags/a/cell.md": "", "tags/cell.md": "draft: true"},
			map[ubl.DocumentKey]string{tag("cell"): "tags/cell.md"},
			`
+ tag/cell "A" of tags/a/cell.md
- tags/cell.md draft
`},
		"its file can't be read": {
			map[string]string{"tags/a/cell.md": "", "tags/cell.md": "x: [y"},
			map[ubl.DocumentKey]string{tag("cell"): "tags/cell.md"},
			`
- tags/a/cell.md broken
- tags/cell.md broken
tags/a/cell.md: tags/cell.md is stored as tag/cell already: give one of them another name or type (broken)
tags/cell.md:6: front matter: it can't be read as YAML: did not find expected ',' or ']' (broken)
`},
		"its file can't have the other key that it asks for": { // so it stays where it is, and one thing leads to another
			map[string]string{"tags/a/one.md": "", "tags/one.md": "type: pattern", "tags/b/one.md": "type: pattern"},
			map[ubl.DocumentKey]string{tag("one"): "tags/one.md", {Type: "pattern", ID: "one"}: "tags/b/one.md"},
			`
+ pattern/one "A" of tags/b/one.md
- tags/a/one.md broken
- tags/one.md broken
tags/a/one.md: tags/one.md is stored as tag/one already: give one of them another name or type (broken)
tags/one.md: tags/b/one.md is stored as pattern/one already: give one of them another name or type (broken)
`},
		"two files change their keys": {
			map[string]string{"tags/a/one.md": "type: pattern", "tags/one.md": ""},
			map[ubl.DocumentKey]string{tag("one"): "tags/a/one.md", {Type: "pattern", ID: "one"}: "tags/one.md"},
			`
+ pattern/one "A" of tags/a/one.md
+ tag/one "A" of tags/one.md
`},
	} {
		t.Run(name, func(t *testing.T) {
			v := vaultOf(t, c.files)
			for range 2 { // to settle it once more changes nothing
				v.Settle(c.stored)
				_, got, _ := strings.Cut(told(v.Report(false)), "+ ")
				if got == "" {
					_, got, _ = strings.Cut(told(v.Report(false)), "- ")
					got = "- " + got
				} else {
					got = "+ " + got
				}
				same(t, "the report", got, c.want)
			}
		})
	}
}

// TestSettledLinks: whether a link leads to what is published follows from who has the key.
func TestSettledLinks(t *testing.T) {
	v := vaultOf(t, map[string]string{"from.md": "|\n[a](/tags/cell.md) [b](/tags/a/cell.md) [c](/p.png)", "tags/a/cell.md": "", "tags/cell.md": ""})
	told := func() string { return Problems(v.Entries[0].Problems).Error() }
	same(t, "at first", told(), "from.md:7: the link leads to tags/cell.md, which isn't published")
	v.Settle(map[ubl.DocumentKey]string{{Type: "tag", ID: "cell"}: "tags/cell.md"})
	same(t, "settled", told(), "from.md:7: the link leads to tags/a/cell.md, which isn't published")
}
