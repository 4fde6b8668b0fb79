package searchload

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/loadtest"
)

// Words are spelled apart, or the vocabulary would be smaller than it says.
func TestWord(t *testing.T) {
	seen := make(map[string]bool)
	for n := range uint64(vocabulary) {
		seen[word(n)] = true
	}
	if len(seen) != vocabulary || word(0) != "baba" {
		t.Errorf("%d words, the first is %q", len(seen), word(0))
	}
}

func TestDocument(t *testing.T) {
	total := 0
	for n := range 200 {
		title, content := Document(n)
		if againTitle, again := Document(n); again != content || againTitle != title {
			t.Fatalf("document %d is another the second time", n)
		}
		if len(content) < minBytes || len(content) > maxBytes+10 || len(strings.Fields(title)) != titleWords {
			t.Errorf("document %d has %d bytes and the title %q", n, len(content), title)
		}
		total += len(content)
	}
	if mean := total / 200; mean < 3_500 || mean > 5_000 {
		t.Errorf("documents have %d bytes", mean)
	}
}

// Each query has an answer among the documents, and all kinds come.
func TestQuery(t *testing.T) {
	const documents = 20
	texts := make([]string, documents)
	for n := range texts {
		_, content := Document(n)
		texts[n] = " " + content + " "
	}
	random := rand.New(rand.NewPCG(1, 1))
	kinds := make(map[string]int)
	for range 200 {
		query := Query(random, documents)
		kind, want := "words", []string{}
		switch {
		case strings.HasPrefix(query, `"`):
			kind, want = "phrase", []string{" " + strings.Trim(query, `"`) + " "}
		case strings.HasSuffix(query, "*"):
			kind, want = "beginning", []string{" " + strings.TrimSuffix(query, "*")}
		default:
			for _, w := range strings.Fields(query) {
				want = append(want, " "+w+" ")
			}
			kind = fmt.Sprint(len(want))
		}
		kinds[kind]++
		if !hasAll(texts, want) {
			t.Errorf("%q has no answer", query)
		}
	}
	for _, kind := range []string{"1", "2", "phrase", "beginning"} {
		if kinds[kind] < 20 {
			t.Errorf("of 200 queries %d are of kind %s", kinds[kind], kind)
		}
	}
}

func hasAll(texts, want []string) bool {
	for _, text := range texts {
		found := 0
		for _, w := range want {
			if strings.Contains(text, w) {
				found++
			}
		}
		if found == len(want) {
			return true
		}
	}
	return false
}

// A search that finds nothing is no success.
func TestRun(t *testing.T) {
	for answer, success := range map[string]bool{`{"documents":[{"document_id":"d:1"}]}`: true, `{"documents":[]}`: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != SearchPath || r.URL.Query().Get("query") == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, answer)
		}))
		defer server.Close()
		r, err := loadtest.Enough(1, func(p load.Plan) (load.Result, error) {
			return Run(t.Context(), Options{Host: server.Listener.Addr().String(), Documents: 20, Writers: 2, Plan: p})
		})
		if err != nil || (r.Sends > 0) != success || (r.Refused > 0) == success {
			t.Errorf("%s: got %+v, %v", answer, r, err)
		}
	}
}
