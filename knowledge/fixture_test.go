package knowledge

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFixture reads a small vault of the shape that real ones have: root-relative links, a
// vocabulary and a folder of a release, few dates, and some files that aren't ready.
func TestFixture(t *testing.T) {
	root, err := os.OpenRoot("testdata/vault")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	v, err := Read(t.Context(), root.FS(), DefaultOntology())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the report of lenient mode", told(v.Report(false)), `
commons, ready: false, 14 files, links: 17 and 1 to nothing
file: 0 of 2
index: 3 of 3
link: 2 of 2
tag: 3 of 4
pattern: 1 of 1
article: 1 of 1
group: 1 of 1
+ tag/circle "Circle" of data/concepts/circle.md
+ tag/common-land "Common land" of data/concepts/common-land.md
+ index/data-concepts "Concepts" of data/concepts/index.md
+ tag/steward "Steward" of data/concepts/steward.md
+ group/compost-circle "Compost circle" of data/groups/compost-circle.md
+ index/data "Allotment commons" of data/index.md
+ link/lost "A page that moved" of data/links/lost.md
+ link/seed-library "A seed library" of data/links/seed-library.md
+ pattern/rotating-roles "Rotating roles" of data/resources/patterns/rotating-roles.md
+ article/first-harvest "The first harvest" of data/stories/articles/spring/first-harvest.md
+ index/data-stories-articles-spring "Spring release" of data/stories/articles/spring/index.md
- data/concepts/threshold.md broken
- drafts/seed-swap.md draft
- notes/minutes.md unpublished
data/concepts/circle.md:8: the link leads to data/concepts/threshold.md, which isn't published (note)
data/concepts/common-land.md:3: the ontology has no such type; the folder makes it tag (invalid)
data/concepts/index.md:8: the link leads to data/concepts/threshold.md, which isn't published (note)
data/concepts/steward.md:2: date is missing (invalid)
data/concepts/threshold.md:6: front matter: it can't be read as YAML: did not find expected ',' or ']' (broken)
data/links/lost.md:3: url must be an address like https://example.org (invalid)
data/resources/patterns/rotating-roles.md:7: the link to "consent-round" leads to nothing in the vault (note)
data/stories/articles/spring/first-harvest.md:3: the type is called article now (note)
data/stories/articles/spring/first-harvest.md:10: the link leads to notes/minutes.md, which isn't published (note)
`)
	same(t, "the files that strict mode withholds", withheld(v.Report(true)), `
- data/concepts/common-land.md invalid
- data/concepts/steward.md invalid
- data/concepts/threshold.md broken
- data/links/lost.md invalid
- drafts/seed-swap.md draft
- notes/minutes.md unpublished
`)
	same(t, "the backlinks", backlinks(v), `
data/concepts/circle.md < data/concepts/index.md, data/concepts/steward.md, data/resources/patterns/rotating-roles.md
data/concepts/index.md < data/index.md
data/concepts/steward.md < data/concepts/circle.md, data/concepts/index.md, data/stories/articles/spring/first-harvest.md
data/concepts/threshold.md < data/concepts/circle.md, data/concepts/index.md
data/groups/compost-circle.md < data/links/seed-library.md
data/resources/patterns/rotating-roles.md < data/groups/compost-circle.md, data/index.md
data/stories/articles/spring/first-harvest.md < data/stories/articles/spring/index.md
data/stories/articles/spring/index.md < data/index.md, data/resources/patterns/rotating-roles.md
notes/minutes.md < data/stories/articles/spring/first-harvest.md
`)
}

// same compares texts that stand in a test between a line break and another one.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// told is a report as a text.
func told(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, ready: %v, %d files, links: %d and %d to nothing\n", r.Ontology, r.Ready, r.Files, r.Links.Resolved, r.Links.Unresolved)
	for _, c := range r.Types {
		fmt.Fprintf(&b, "%s: %d of %d\n", c.Type, c.Published, c.Files)
	}
	for _, p := range r.Published {
		fmt.Fprintf(&b, "+ %s %q of %s\n", p.Key, p.Title, p.Path)
	}
	b.WriteString(withheld(r))
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s (%s)\n", p, p.Severity)
	}
	return b.String()
}

func withheld(r *Report) string {
	var b strings.Builder
	for _, w := range r.Withheld {
		fmt.Fprintf(&b, "- %s %s\n", w.Path, w.Why)
	}
	return b.String()
}

func backlinks(v *Vault) string {
	var b strings.Builder
	back := v.Backlinks()
	for _, e := range v.Entries {
		if from := back[e.Path]; len(from) > 0 {
			fmt.Fprintf(&b, "%s < %s\n", e.Path, strings.Join(from, ", "))
		}
	}
	return b.String()
}
