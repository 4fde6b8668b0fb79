package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/search"
)

const shelf ubl.Name = "t:example.com|w:general"

// history is a container's changes, as its actor would tell them.
type history struct {
	mu      sync.Mutex
	name    string
	changes []ubl.DocumentChange
	told    int // changes told so far
}

func (h *history) put(id, title, content string) {
	h.add(ubl.DocumentChange{DocumentID: ubl.DocumentID(id), Title: title, Content: content})
}

func (h *history) remove(id string) {
	h.add(ubl.DocumentChange{DocumentID: ubl.DocumentID(id), Deleted: true})
}

func (h *history) add(c ubl.DocumentChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.N = int64(len(h.changes) + 1)
	c.CID = fmt.Sprintf("c:%s-%d", h.name, c.N)
	h.changes = append(h.changes, c)
}

func (h *history) head() ubl.Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.changes) == 0 {
		return ubl.Mark{}
	}
	return h.changes[len(h.changes)-1].Mark
}

func (h *history) tell(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (known bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after.N > int64(len(h.changes)) || after.N > 0 && h.changes[after.N-1].Mark != after {
		return false, nil
	}
	for _, c := range h.changes[after.N:] {
		h.told++
		if err := fn(c); err != nil {
			return true, err
		}
	}
	return true, ctx.Err()
}

func (h *history) search(t testing.TB, x *search.Index, q string) []ubl.DocumentMatch {
	t.Helper()
	found, err := x.Search(t.Context(), shelf, h.head(), h.tell, ubl.DocumentQuery{Query: q}, 100)
	if err != nil || found.Behind {
		t.Fatalf("search %q: %+v, %v", q, found, err)
	}
	return found.Matches
}

func ids(found []ubl.DocumentMatch) string {
	out := make([]string, len(found))
	for i, m := range found {
		out[i] = strings.TrimPrefix(string(m.DocumentID), "d:")
	}
	return strings.Join(out, " ")
}

func open(t testing.TB, dir string) *search.Index {
	t.Helper()
	x, err := search.Open(dir, &search.Options{Patience: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

// TestWhatAQueryFinds is the query language as a table.
func TestWhatAQueryFinds(t *testing.T) {
	h := &history{}
	h.put("d:minutes", "Minutes of the board", "We agreed on the annual budget. Ana will write the report, don't wait.")
	h.put("d:budget", "Budget 2027", "Numbers for the next year: travel, rent, salaries.")
	h.put("d:acao", "Plano de ação", "A ação começa em São Paulo; straße und Øresund.")
	h.put("d:cjk", "会議の議事録", "東京で会議がありました。")
	h.put("d:cyrillic", "Встреча", "Обсудили отчёт и бюджет.")
	h.put("d:code", "Snippets", "call read_file(path) and x-ray foo_bar 3.14")
	x := open(t, t.TempDir())
	for _, tt := range []struct{ query, want, why string }{
		{"budget", "budget minutes", "a match in the title counts more"},
		{"BUDGET", "budget minutes", "case makes no difference"},
		{"annual budget", "minutes", "all words must occur"},
		{"board budget", "minutes", "in the title or the content"},
		{`"annual budget"`, "minutes", "a phrase"},
		{`"budget annual"`, "", "the words of a phrase follow each other"},
		{`"board budget"`, "", "a phrase doesn't go from the title to the content"},
		{`ana "annual budget"`, "minutes", "words and phrases together"},
		{`"annual budget`, "minutes", "a quote that is not closed goes to the end"},
		{"sal*", "budget", "the beginning of a word"},
		{"sal", "", "a word is a whole word"},
		{"s*", "", "one letter is no beginning"},
		{"会*", "cjk", "but in scripts where it is a word"},
		{"*", "", "an asterisk alone is nothing"},
		{"acao", "acao", "accents make no difference"},
		{"AÇÃO", "acao", "either way"},
		{"strasse oresund", "acao", "nor do letters that can't be taken apart"},
		{"会議", "cjk", "scripts without spaces"},
		{"отчет", "cyrillic", "other scripts"},
		{"don't", "minutes", "an apostrophe inside a word"},
		{"read_file", "code", "names of programs"},
		{"read_f*", "code", "and their beginnings"},
		{"x-ray", "code", "a hyphen separates, the words must follow each other"},
		{"3.14", "code", "numbers"},
		{"title:budget", "", "the words title and budget: fields can't be named"},
		{"/.*/ OR -budget", "", "operators are words or nothing"},
		{"", "", "an empty query finds nothing"},
		{" ?! ", "", "nor does one without words"},
	} {
		if got := ids(h.search(t, x, tt.query)); got != tt.want {
			t.Errorf("%q finds %q, want %q: %s", tt.query, got, tt.want, tt.why)
		}
	}
}

// TestAnIndexFollowsTheDocuments: changed and deleted documents are found as
// they are now, and nothing is told twice.
func TestAnIndexFollowsTheDocuments(t *testing.T) {
	h, dir := &history{}, t.TempDir()
	x := open(t, dir)
	h.put("d:a", "Apples", "red")
	h.put("d:b", "Pears", "green")
	expect(t, h, x, "red", "a")
	h.put("d:a", "Apples", "yellow")
	expect(t, h, x, "red", "")
	expect(t, h, x, "yellow", "a")
	h.remove("d:b")
	expect(t, h, x, "green", "")
	if h.told != len(h.changes) {
		t.Errorf("%d changes were told, of %d", h.told, len(h.changes))
	}
	x.Close()
	x = open(t, dir)
	expect(t, h, x, "yellow", "a")
}

// TestAnotherHistoryIsIndexedAnew: after a restore the events have other cids, or
// there are fewer of them.
func TestAnotherHistoryIsIndexedAnew(t *testing.T) {
	x := open(t, t.TempDir())
	before := &history{name: "before"}
	before.put("d:a", "Apples", "red")
	before.put("d:b", "Pears", "green")
	expect(t, before, x, "green", "b")
	for _, after := range []*history{{name: "after"}, {name: "longer"}} {
		after.put("d:c", "Plums", "blue")
		if after.name == "longer" {
			after.put("d:d", "Figs", "brown")
			after.put("d:e", "Dates", "blue")
		}
		want := map[string]string{"after": "c", "longer": "c e"}[after.name]
		if got := ids(after.search(t, x, "blue")); got != want {
			t.Errorf("%s: blue finds %q, want %q", after.name, got, want)
		}
		expect(t, after, x, "green", "")
	}
}

// TestAnotherHistoryThatBreaksOff: a search that fails while it takes in another
// history leaves nothing behind that would pass for an index of it.
func TestAnotherHistoryThatBreaksOff(t *testing.T) {
	x := open(t, t.TempDir())
	before := &history{name: "before"}
	before.put("d:a", "Apples", "blue")
	before.put("d:b", "Pears", "blue")
	expect(t, before, x, "blue", "a b")
	after := &history{name: "after"}
	after.put("d:c", "Plums", "blue")
	after.put("d:d", "Figs", "brown")
	after.put("d:e", "Dates", "blue")
	_, err := x.Search(t.Context(), shelf, after.head(), func(ctx context.Context, from ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		known, err := after.tell(ctx, from, fn)
		return known, errors.Join(err, ubl.Errorf(ubl.CodeUnavailable, "the store is down"))
	}, ubl.DocumentQuery{Query: "blue"}, 10)
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("the search failed with %v", err)
	}
	expect(t, after, x, "blue", "c e")
}

func expect(t *testing.T, h *history, x *search.Index, query, want string) {
	t.Helper()
	got := strings.Fields(ids(h.search(t, x, query)))
	slices.Sort(got)
	if strings.Join(got, " ") != want {
		t.Errorf("%q finds %q, want %q", query, got, want)
	}
}

// TestSearchesAtOnce: searches, changes and more containers than may be open at
// once, all together.
func TestSearchesAtOnce(t *testing.T) {
	x := open(t, t.TempDir())
	const shelves = 80
	var all sync.WaitGroup
	for n := range shelves {
		h := &history{name: fmt.Sprint(n)}
		h.put("d:x", "Title", fmt.Sprintf("word%d", n))
		name := ubl.Name(fmt.Sprintf("t:example.com|w:%d", n))
		for range 2 {
			all.Go(func() {
				for range 2 {
					found, err := x.Search(t.Context(), name, h.head(), h.tell, ubl.DocumentQuery{Query: fmt.Sprintf("word%d", n)}, 10)
					if err != nil || len(found.Matches) != 1 {
						t.Errorf("%s: %v, %v", name, found, err)
					}
				}
			})
		}
	}
	all.Wait()
}

// TestAContainerThatCantTell: its error is the caller's, and the index stays.
func TestAContainerThatCantTell(t *testing.T) {
	x, h := open(t, t.TempDir()), &history{}
	h.put("d:a", "Apples", "red")
	expect(t, h, x, "red", "a")
	told := h.told
	h.put("d:b", "Pears", "red")
	down := ubl.Errorf(ubl.CodeUnavailable, "the store is down")
	_, err := x.Search(t.Context(), shelf, h.head(), func(context.Context, ubl.Mark, func(ubl.DocumentChange) error) (bool, error) {
		return true, down
	}, ubl.DocumentQuery{Query: "red"}, 10)
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("the search failed with %v", err)
	}
	expect(t, h, x, "red", "a b")
	if h.told != told+1 {
		t.Errorf("%d changes were told again", h.told-told-1)
	}
}
