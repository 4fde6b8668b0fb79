package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/search"
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
				if _, err := x.Search(b.Context(), shelf, h.head(), h.tell, ubl.DocumentQuery{Query: q.query}, 20); err != nil {
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

// BenchmarkFresh is the first search over 28 MB of documents of which the index has seen
// none. It reports when the first answer came, with what of the index there was, when all
// were indexed, and by how much the process was larger meanwhile than with the texts alone.
func BenchmarkFresh(b *testing.B) {
	for _, form := range []struct{ documents, size int }{{2800, 10_000}, {28, 1_000_000}} {
		b.Run(fmt.Sprintf("%d of %d bytes", form.documents, form.size), func(b *testing.B) {
			h := shelved(form.documents, form.size, form.size+1)
			for b.Loop() {
				x, err := search.Open(b.TempDir(), nil)
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				debug.FreeOSMemory()
				most := watchMemory()
				began, first := time.Now(), time.Duration(0)
				for behind := true; behind; {
					found, err := x.Search(b.Context(), shelf, h.head(), h.tell, ubl.DocumentQuery{Query: "w1"}, 20)
					if err != nil {
						b.Fatal(err)
					}
					if behind = found.Behind; first == 0 {
						first = time.Since(began)
					}
				}
				b.ReportMetric(first.Seconds(), "first-s")
				b.ReportMetric(time.Since(began).Seconds(), "all-s")
				b.ReportMetric(float64(most())/1024, "more-MB")
				x.Close()
			}
		})
	}
}

// watchMemory looks again and again at how large the process is, without the files that it
// maps, until it is asked by how much that grew at most, in kB.
func watchMemory() (most func() int64) {
	before := memory("RssAnon")
	highest, done, ended := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(20 * time.Millisecond); ; highest = max(highest, memory("RssAnon")) {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() int64 {
		close(done)
		<-ended
		return highest - before
	}
}

// memory is a figure of this process in kB, 0 where nobody says.
func memory(name string) (kb int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, name+": %d kB", &kb); err == nil {
			return kb
		}
	}
	return 0
}

func library(n int) *history {
	return shelved(n, 500, 20_500)
}

// shelved are documents of at least so many bytes, and less than so many.
func shelved(n, least, most int) *history {
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 4, 20_000)
	h := &history{}
	for i := range n {
		var text strings.Builder
		for size := least + random.IntN(most-least); text.Len() < size; {
			fmt.Fprintf(&text, "w%d ", word.Uint64())
		}
		h.put(fmt.Sprintf("d:%d", i), fmt.Sprintf("w%d w%d", word.Uint64(), word.Uint64()), text.String())
	}
	return h
}
