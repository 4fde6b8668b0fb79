package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	twoDocuments = "<doc>\n<docno>1</docno>\n<title>wings\nof birds .</title>\n<author>a</author><text>they fly &amp; land .</text></doc>" +
		"<doc><docno>2</docno><title></title><bib>b</bib><text></text></doc>"
	twoQuestions = "<xml><top><num> 1</num><title>\nhow do birds\nfly .\n</title></top><top><num> 4</num><title>what is nothing</title></top>"
	judged       = "1 0 1 1\n1 0 2 0\n2 0 2 3 \n"
)

func TestParse(t *testing.T) {
	c, err := parse(twoDocuments, twoQuestions, judged)
	if err != nil {
		t.Fatal(err)
	}
	if c.documents[0] != (document{"1", "wings of birds .", "they fly & land ."}) || c.questions[1] != (question{2, "what is nothing"}) ||
		len(c.relevant[1]) != 1 || !c.relevant[2]["2"] {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{"", "1 0 1", "x 0 1 1"} {
		if _, err := parse(twoDocuments, twoQuestions, bad); err == nil {
			t.Errorf("the judgements %q are taken", bad)
		}
	}
}

func TestMeasures(t *testing.T) {
	relevant := map[string]bool{"a": true, "b": true}
	for _, tt := range []struct {
		found        string
		gain, recall float64
	}{
		{"a b", 1, 1}, {"b a x", 1, 1}, {"", 0, 0}, {"x y", 0, 0}, {"a", 1 / (1 + 1/math.Log2(3)), .5},
		{"x a", 1 / math.Log2(3) / (1 + 1/math.Log2(3)), .5}, {strings.Repeat("x ", 10) + "a", 0, .5}, {strings.Repeat("x ", 20) + "a", 0, 0},
	} {
		found := strings.Fields(tt.found)
		if g, r := gain(found, relevant), recall(found, relevant); math.Abs(g-tt.gain) > 1e-9 || r != tt.recall {
			t.Errorf("%q: %v and %v, want %v and %v", tt.found, g, r, tt.gain, tt.recall)
		}
	}
}

// TestRun against a server that finds the first document whatever it is asked.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"cran.all.1400.xml": twoDocuments, "cran.qry.xml": twoQuestions, "cranqrel.trec.txt": judged, "token": "secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	published := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == "POST" {
			var body struct{ Documents []json.RawMessage }
			if json.NewDecoder(r.Body).Decode(&body) == nil {
				published += len(body.Documents)
			}
			return
		}
		if r.URL.Query().Get("match") != "any" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"documents":[{"document_id":"d:1","published":{"type":"file","id":"1"}}]}`))
	}))
	defer s.Close()
	var out strings.Builder
	if err := run(t.Context(), []string{"-dir", dir, "-url", s.URL, "-token-file", filepath.Join(dir, "token")}, &out); err != nil {
		t.Fatal(err)
	}
	want := "questions  how many  nDCG@10  recall@20\neven              1    0.000      0.000\nodd               1    1.000      1.000\n"
	if out.String() != want || published != 2 {
		t.Errorf("%d published,\n%s", published, out.String())
	}
}
