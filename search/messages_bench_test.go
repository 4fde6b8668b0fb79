package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/search"
)

// rooms is how many the messages of a benchmark are in; the caller is in every second one.
const rooms = 200

// BenchmarkMessages is over messages of 3 to 25 words that are as often as words are (Zipf). It
// reports percentiles in milliseconds, and says how fast they were indexed and how large the
// index is. UBL_MESSAGES is how many there are (100,000).
func BenchmarkMessages(b *testing.B) {
	n := 100_000
	if s := os.Getenv("UBL_MESSAGES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	x, err := search.Open(dir, &search.Options{Restless: true})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	group := ubl.Name("t:a|r:b").Group()
	bytes := say(b, x, group, n)
	b.Logf("%d bytes of index for a message of %d bytes", sizeOf(b, dir)/n, bytes/n)
	var in []ubl.RoomID
	for i := 0; i < rooms; i += 2 {
		in = append(in, roomOf(i))
	}
	random := rand.New(rand.NewPCG(7, 7))
	zipf := rand.NewZipf(random, 1.1, 4, 50_000)
	word := func(i int) string { return spell(uint64(i)) }
	some := func() string { return spell(zipf.Uint64()) }
	for _, q := range []struct {
		name  string
		query func() string
		sort  ubl.Sort
	}{
		{"a word of the vocabulary", func() string { return some() + " " }, ubl.ByRelevance},
		{"the same, newest first", func() string { return some() + " " }, ubl.ByNewest},
		{"the commonest word", func() string { return word(0) + " " }, ubl.ByRelevance},
		{"the same, newest first ", func() string { return word(0) + " " }, ubl.ByNewest},
		{"two words", func() string { return some() + " " + some() + " " }, ubl.ByRelevance},
		{"three words, one left out", func() string { return some() + " " + some() + " -" + some() + " " }, ubl.ByRelevance},
		{"a phrase", func() string { return `"` + some() + " " + some() + `"` }, ubl.ByRelevance},
		{"a word being typed", func() string { s := some(); return s[:min(len(s), 4)] }, ubl.ByRelevance},
		{"from somebody, in a month", func() string {
			return fmt.Sprintf("from:u:%d after:2026-01-31 before:2026-03-01 %s ", random.IntN(500), some())
		}, ubl.ByNewest},
		{"has a link", func() string { return "has:link " + some() + " " }, ubl.ByNewest},
	} {
		b.Run(q.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				asked, err := ubl.ParseQuery(q.query())
				if err != nil {
					b.Fatal(err)
				}
				start := time.Now()
				if _, err := x.FindMessages(b.Context(), group, asked, in, q.sort, "", 20); err != nil {
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

func roomOf(i int) ubl.RoomID { return ubl.RoomID(fmt.Sprintf("r:room-%d", i)) }

// spell is a word of letters alone.
func spell(n uint64) string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	s := ""
	for n += 90; n > 0; n /= 80 {
		s += string(consonants[n%16]) + string(vowels[n%80/16])
	}
	return s
}

// say indexes messages as they would come: of all rooms in turn, kept every thousand. It
// answers how many bytes of text they have.
func say(b *testing.B, x *search.Index, group ubl.Group, n int) (bytes int) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 50_000)
	began, first := time.Now(), ubl.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	seqs := make([]int64, rooms)
	for from := 0; from < n; from += 1000 {
		by := map[int][]ubl.MessageChange{}
		for i := from; i < min(n, from+1000); i++ {
			var text strings.Builder
			for range 3 + random.IntN(23) {
				text.WriteString(spell(zipf.Uint64()) + " ")
			}
			if random.IntN(20) == 0 {
				text.WriteString("https://example.com/" + spell(zipf.Uint64()))
			}
			r := random.IntN(rooms)
			seqs[r]++
			bytes += text.Len()
			by[r] = append(by[r], ubl.MessageChange{
				RoomMark: ubl.RoomMark{Mark: ubl.Mark{N: seqs[r], CID: "c"}, From: 1}, Seq: seqs[r],
				AuthorID: ubl.UserID(fmt.Sprintf("u:%d", random.IntN(500))), SentAt: first.Add(time.Duration(i) * 30 * 24 * time.Hour * 6 / time.Duration(n)), Order: int64(i + 1), Text: text.String(),
			})
		}
		for r, list := range by {
			err := x.IndexMessages(b.Context(), group, roomOf(r), func(_ context.Context, after ubl.RoomMark, fn func(ubl.MessageChange) error) (bool, error) {
				for _, c := range list {
					if c.N <= after.N {
						continue
					}
					if err := fn(c); err != nil {
						return true, err
					}
				}
				return true, nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := x.KeepMessages(b.Context(), group, int64(from+1000)); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d messages indexed in %.0f s: %.0f a second", n, time.Since(began).Seconds(), float64(n)/time.Since(began).Seconds())
	return bytes
}

func sizeOf(b *testing.B, dir string) (size int) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += int(info.Size())
		}
		return nil // a file of the index may go meanwhile
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
