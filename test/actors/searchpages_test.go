package actors_test

import (
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestPagesOfASearch: while nothing changes, pages have each hit once and in one order, of equal
// ones too.
func TestPagesOfASearch(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	for i := range 23 {
		y.write(w, fmt.Sprint("Plan ", i), "dig here")
	}
	for _, limit := range []int{1, 5, 22, 23, 24} {
		seen := map[ubl.DocumentID]bool{}
		for after, pages := 0, 0; ; pages++ {
			hits := harness.Must[*ubl.DocumentHits](h, w, ubl.SearchDocuments{Request: y.Request(y.bob), DocumentQuery: ubl.DocumentQuery{Query: "dig"}, After: after, Limit: limit})
			for _, hit := range hits.Documents {
				if seen[hit.DocumentID] {
					t.Fatalf("with a limit of %d %s comes twice", limit, hit.Title)
				}
				seen[hit.DocumentID] = true
			}
			if hits.Next == 0 {
				break
			}
			if len(hits.Documents) != limit || hits.Next != after+limit || pages > 23 {
				t.Fatalf("a page after %d has %d hits, the next begins after %d", after, len(hits.Documents), hits.Next)
			}
			after = hits.Next
		}
		if len(seen) != 23 {
			t.Errorf("pages of %d have %d hits", limit, len(seen))
		}
	}
	for _, after := range []int{23, ubl.MaxHits, ubl.MaxHits + 1} {
		hits := harness.Must[*ubl.DocumentHits](h, w, ubl.SearchDocuments{Request: y.Request(y.bob), DocumentQuery: ubl.DocumentQuery{Query: "dig"}, After: after, Limit: 5})
		if len(hits.Documents) != 0 || hits.Next != 0 {
			t.Errorf("after %d there are %d hits, next %d", after, len(hits.Documents), hits.Next)
		}
	}
}

// TestExcerptsOfLongDocuments: a search reads so much of texts for its excerpts, and no more.
func TestExcerptsOfLongDocuments(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	long := strings.Repeat("😀 ", ubl.MaxContentChars/2-10) + "dig here" // 2.5 MB
	for i := range 8 {
		y.write(w, fmt.Sprint("Plan ", i), long)
	}
	y.write(w, "A short one", "dig")
	hits := harness.Must[*ubl.DocumentHits](h, w, ubl.SearchDocuments{Request: y.Request(y.bob), DocumentQuery: ubl.DocumentQuery{Query: "dig"}, Limit: 20})
	shown, short := 0, ""
	for _, hit := range hits.Documents {
		switch {
		case hit.Bytes < 10:
			short = hit.Snippet
		case hit.Snippet != "":
			shown++
		}
	}
	if len(hits.Documents) != 9 || shown != 6 || short != "dig" {
		t.Errorf("of %d documents %d long ones have an excerpt, the short one %q", len(hits.Documents), shown, short)
	}
}
