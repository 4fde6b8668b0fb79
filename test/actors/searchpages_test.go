package actors_test

import (
	"fmt"
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
