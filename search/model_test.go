package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
)

// model is search as it is meant, over plain words.
type model map[string][2]string // id → title, content

func (m model) find(query string) []string {
	var out []string
	for id, doc := range m {
		if slices.ContainsFunc(terms(query), func(term string) bool { return !in(doc[0], term) && !in(doc[1], term) }) || query == "" {
			continue
		}
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// terms cuts a query made by the test: quoted ones are whole.
func terms(query string) (out []string) {
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

func in(text, term string) bool {
	words := " " + text + " "
	if beginning, ok := strings.CutSuffix(term, "*"); ok && len(beginning) > 1 {
		return strings.Contains(words, " "+beginning)
	}
	return strings.Contains(words, " "+strings.TrimSuffix(term, "*")+" ")
}

// TestSearchIsWhatItSays compares the index with the model over random documents,
// changes and queries.
func TestSearchIsWhatItSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "ab", "abc", "b", "ba", "cab", "c"})
		text := func(label string) string {
			return strings.Join(rapid.SliceOfN(word, 1, 6).Draw(rt, label), " ")
		}
		h, m, x := &history{}, model{}, open(t, t.TempDir())
		defer x.Close()
		for range rapid.IntRange(1, 8).Draw(rt, "changes") {
			id := fmt.Sprint(rapid.IntRange(1, 4).Draw(rt, "id"))
			if rapid.IntRange(0, 4).Draw(rt, "delete") == 0 {
				h.remove("d:" + id)
				delete(m, id)
			} else {
				m[id] = [2]string{text("title"), text("content")}
				h.put("d:"+id, m[id][0], m[id][1])
			}
			query := rapid.OneOf(
				word,
				rapid.Map(word, func(w string) string { return w + "*" }),
				rapid.Map(rapid.SliceOfN(word, 2, 3), func(w []string) string { return `"` + strings.Join(w, " ") + `"` }),
				rapid.Map(rapid.SliceOfN(word, 2, 3), func(w []string) string { return strings.Join(w, " ") }),
			).Draw(rt, "query")
			got := strings.Fields(ids(h.search(t, x, query)))
			slices.Sort(got)
			if !slices.Equal(got, m.find(query)) {
				rt.Fatalf("%q finds %v, the model %v in %v", query, got, m.find(query), m)
			}
		}
	})
}

// FuzzSearch: no text and no query makes it fail or hang.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", `"`, "*", "a*", `"a b`, "\xff\xfe", "e\u0301", "a\u200db", strings.Repeat("x", 5000), "\x00", "+-=&|><!(){}[]^\"~*?:\\/"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		h, x := &history{}, open(t, t.TempDir())
		h.put("d:a", text, text)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := x.Search(ctx, shelf, h.head(), h.tell, ubl.DocumentQuery{Query: query}, 10); err != nil {
			t.Fatalf("%v", err)
		}
		if _, err := x.Search(ctx, shelf, ubl.Mark{}, h.tell, ubl.DocumentQuery{Query: query, Any: true}, 10); err != nil {
			t.Fatalf("%v", err)
		}
	})
}
