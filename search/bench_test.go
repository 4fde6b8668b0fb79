package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkSearch is over 10,000 documents of 0.5 to 20 KB whose words are as
// often as words are (Zipf). It reports percentiles in milliseconds.
func BenchmarkSearch(b *testing.B) {
	h, x := library(10_000), open(b, b.TempDir())
	began := time.Now()
	h.search(b, x, "w1")
	b.Logf("10,000 documents indexed in %.1f s", time.Since(began).Seconds())
	for _, q := range []struct{ name, query string }{
		{"a rare word", "w9000"}, {"a common word", "w3"}, {"two words", "w20 w300"},
		{"a phrase", `"w40 w90"`}, {"a phrase of the commonest words", `"w1 w2"`}, {"a beginning", "w77*"},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := x.Search(b.Context(), shelf, h.head(), h.tell, q.query, 20); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func library(n int) *history {
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 4, 20_000)
	h := &history{}
	for i := range n {
		var text strings.Builder
		for size := 500 + random.IntN(20_000); text.Len() < size; {
			fmt.Fprintf(&text, "w%d ", word.Uint64())
		}
		h.put(fmt.Sprintf("d:%d", i), fmt.Sprintf("w%d w%d", word.Uint64(), word.Uint64()), text.String())
	}
	return h
}
