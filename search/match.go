package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
)

// wanted is a clause as the index and a text are asked for it.
type wanted struct {
	not, exact    bool // exact: these words and no others of their stems
	words         []string
	prefix, typed bool
}

// wantedBy reads the clauses of a query. Several words without a blank between, as in
// e-mail, follow each other.
func wantedBy(q *ubl.MessageQuery) []wanted {
	var out []wanted
	for _, c := range q.Clauses {
		w := wanted{not: c.Not, exact: c.Phrase, prefix: c.Prefix, typed: c.Typed}
		for _, found := range wordsOf(c.Text) {
			w.words = append(w.words, found.text)
		}
		if len(w.words) == 0 { // only signs: nothing can be found by it
			continue
		}
		w.exact = w.exact || len(w.words) > 1
		w.prefix = w.prefix && long(w.words[len(w.words)-1])
		out = append(out, w)
	}
	return out
}

// same reports whether a word of a text is one that is asked for.
func (w *wanted) same(i int, of word) bool {
	want := w.words[i]
	if w.prefix && i == len(w.words)-1 && begins(of.text, want, w.exact) {
		return true
	}
	if w.exact {
		return of.text == want
	}
	forms := formsOf(of.text)
	return slices.ContainsFunc(formsOf(want), func(f string) bool { return slices.Contains(forms, f) })
}

func begins(text, with string, exact bool) bool {
	if exact {
		return strings.HasPrefix(text, with)
	}
	return slices.ContainsFunc(formsOf(text), func(f string) bool { return strings.HasPrefix(f, with) })
}

// in finds where the clause stands in a text: the numbers of its first words.
func (w *wanted) in(text []word) (at []int) {
	for i := 0; i+len(w.words) <= len(text); i++ {
		all := true
		for j := 0; all && j < len(w.words); j++ {
			all = w.same(j, text[i+j])
		}
		if all {
			at = append(at, i)
		}
	}
	return at
}

// MatchMessage implements [ubl.MessageSearcher].
func (x *Index) MatchMessage(q *ubl.MessageQuery, text string) (string, []ubl.Highlight, bool) {
	words := wordsOf(text)
	found := make([]bool, len(words))
	for _, w := range wantedBy(q) {
		at := w.in(words)
		if (len(at) > 0) == w.not {
			return "", nil, false
		}
		for _, i := range at {
			for j := range w.words {
				found[i+j] = true
			}
		}
	}
	snippet, marks := excerpt(text, words, found)
	return snippet, marks, true
}

// excerpt cuts a snippet of a text around the first word that was found. Nothing in it is
// changed, so that its highlights are right.
func excerpt(text string, words []word, found []bool) (string, []ubl.Highlight) {
	first := 0
	if i := slices.Index(found, true); i >= 0 {
		first = words[i].start
	}
	from := 0
	if first > snippetLead {
		from = first - snippetLead
		for from < first && text[from] != ' ' && text[from] != '\n' {
			from++
		}
		for from < len(text) && from < first && (text[from] == ' ' || text[from] == '\n') {
			from++
		}
	}
	to := len(text)
	if to-from > messageSnippet {
		to = from + messageSnippet
		for !utf8.RuneStart(text[to]) {
			to--
		}
	}
	marks := []ubl.Highlight{}
	chars, at := 0, from
	count := func(upTo int) int {
		chars += utf8.RuneCountInString(text[at:upTo])
		at = upTo
		return chars
	}
	for i, w := range words {
		if found[i] && w.start >= from && w.end <= to {
			start := count(w.start)
			marks = append(marks, ubl.Highlight{Start: start, End: count(w.end)})
		}
	}
	return text[from:to], marks
}

// messageSnippet is how many bytes of a message a snippet has at most.
const messageSnippet = 400
