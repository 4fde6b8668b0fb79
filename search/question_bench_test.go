package search_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
)

// BenchmarkQuestions is over 100,000 documents of 0.5 to 1.5 KB whose words are as often as words are
// (Zipf). It says how long it takes to index them and how much room that needs, and reports percentiles of
// a page of twenty with its excerpts, in milliseconds.
func BenchmarkQuestions(b *testing.B) {
	const documents = 100_000
	h, dir := shelved(documents, 500, 1500), b.TempDir()
	x := open(b, dir)
	began := time.Now()
	h.search(b, x, "w1")
	took := time.Since(began)
	x.Close() // it is written and merged then
	b.Logf("%d documents indexed in %.0f s, %d bytes each", documents, took.Seconds(), bytesIn(b, dir)/documents)
	x = open(b, dir)
	random := rand.New(rand.NewPCG(3, 4))
	word := rand.NewZipf(random, 1.1, 4, 20_000)
	ask := func(n int) string {
		var words []string
		for range n {
			words = append(words, fmt.Sprintf("w%d", word.Uint64()))
		}
		return strings.Join(words, " ")
	}
	for _, q := range []struct {
		name string
		of   func() ubl.DocumentQuery
	}{
		{"all of two words", func() ubl.DocumentQuery { return ubl.DocumentQuery{Query: ask(2)} }},
		{"a question of six words", func() ubl.DocumentQuery { return ubl.DocumentQuery{Query: ask(6), Any: true} }},
		{"a question of thirty words", func() ubl.DocumentQuery { return ubl.DocumentQuery{Query: ask(30), Any: true} }},
		{"a question since a day", func() ubl.DocumentQuery {
			return ubl.DocumentQuery{Query: ask(6), Any: true, From: "1969-12-31"}
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				asked := q.of()
				start := time.Now()
				found, err := x.Search(b.Context(), shelf, h.head(), h.tell, asked, 20)
				if err != nil {
					b.Fatal(err)
				}
				for _, m := range found.Matches {
					found.Excerpt(h.changes[number(b, m.DocumentID)].Content)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// number is a made document's.
func number(b *testing.B, id ubl.DocumentID) (n int) {
	b.Helper()
	if _, err := fmt.Sscanf(string(id), "d:%d", &n); err != nil {
		b.Fatal(err)
	}
	return n
}

// bytesIn is how much room the files of a folder need.
func bytesIn(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
