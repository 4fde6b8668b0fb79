package search_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"ubl"
)

// TestASearchHoldsNoWholeDocuments: of a document that is found it reads no more
// than a snippet may be cut from.
func TestASearchHoldsNoWholeDocuments(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	const documents, perDocument = 3, 300 << 10
	for n := range documents {
		h.put(fmt.Sprint("d:", n), "Title", "needle"+strings.Repeat(" ", 300_000))
	}
	h.search(t, x, "nothing")
	least := uint64(math.MaxUint64) // of several, since bleve works in the background too
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if found := h.search(t, x, "needle"); len(found) != documents {
			t.Fatalf("found %d documents", len(found))
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > documents*perDocument {
		t.Errorf("a search that finds %d documents allocates %d KiB", documents, least>>10)
	}
}

// TestAnEarlierFormIsIndexedAnew opens an index of each earlier form, of the same
// history.
func TestAnEarlierFormIsIndexedAnew(t *testing.T) {
	for _, form := range []string{"form2", "form3"} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/"+form)); err != nil {
			t.Fatal(err)
		}
		h, x := &history{}, open(t, dir)
		h.put("d:a", "Apples", "red")
		h.put("d:b", "Pears", "green")
		expect(t, h, x, "green", "b")
		if h.told != len(h.changes) {
			t.Errorf("%s: %d changes were told, of %d", form, h.told, len(h.changes))
		}
	}
}

// TestIndexingSetsAsideWhatItNeeds: no room for documents that a batch hasn't.
func TestIndexingSetsAsideWhatItNeeds(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	const documents = 3
	random := rand.New(rand.NewPCG(1, 2))
	for n := range documents {
		var text strings.Builder
		for text.Len() < 200_000 {
			fmt.Fprintf(&text, "%x ", random.Uint32())
		}
		h.put(fmt.Sprint("d:", n), "Title", text.String())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	h.search(t, x, "nothing")
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / documents; each > 200<<20 { // with room for a hundred more it is 264 MiB
		t.Errorf("indexing a document of 200 kB allocates %d MiB", each>>20)
	}
}

// TestTheBeginningsOfAQueryTogetherAreBounded: each beginning here stands for fewer words
// than a query may, all of them for more, in titles and contents together.
func TestTheBeginningsOfAQueryTogetherAreBounded(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	const each = 4000
	h.put("d:a", words("ka", each), words("kb", each))
	h.put("d:b", "", words("kc", each))
	for query, refused := range map[string]bool{"ka*": false, "ka* kb*": false, "ka* kb* kc*": true, `k*`: false, "kb* kb* kb*": true} {
		_, err := x.Search(t.Context(), shelf, h.head(), h.tell, ubl.DocumentQuery{Query: query}, 10)
		if got := ubl.CodeOf(err) == ubl.CodeValidation; got != refused || err != nil && !refused {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// words are different ones that begin alike.
func words(beginning string, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%s%d ", beginning, i)
	}
	return text.String()
}

// TestASearchEndsWhileItsWordsAreCounted, before any of them is looked up.
func TestASearchEndsWhileItsWordsAreCounted(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	h.put("d:a", "Title", words("ka", 5000))
	h.search(t, x, "nothing")
	ctx := &expiring{Context: t.Context(), after: 1000}
	if found, err := x.Search(ctx, shelf, h.head(), h.tell, ubl.DocumentQuery{Query: "ka*"}, 10); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("found %d, %v", len(found.Matches), err)
	}
}

// expiring is a context that is over once it was asked so many times. Nobody who waits
// for its end is told.
type expiring struct {
	context.Context
	after, asked int
}

func (c *expiring) Err() error {
	if c.asked++; c.asked > c.after {
		return context.Canceled
	}
	return nil
}
