package search

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	tokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/search/query"
)

const (
	// maxTerms bounds the words and phrases of one query; what follows is ignored.
	maxTerms = 32
	// minPrefix is how many letters the beginning of a word has at least: one letter
	// stands for thousands of words. Scripts that write a word with one are those
	// without letters.
	minPrefix = 2
)

// titleBoost is how much more a match in the title counts.
const titleBoost = 3

// term is one thing that must occur: folded words that follow each other, the
// last of which may be just a beginning.
type term struct {
	words  []string
	prefix bool
}

// parse reads a query. Every input is one; it may have no terms.
func parse(q string) []term {
	var out []term
	for i, part := range strings.Split(q, `"`) {
		if i%2 == 1 { // inside quotes, to the end where the last one is missing
			out = appendTerm(out, part, false)
			continue
		}
		for _, w := range strings.Fields(part) {
			bare := strings.TrimRight(w, "*")
			out = appendTerm(out, bare, bare != w)
		}
	}
	return out[:min(len(out), maxTerms)]
}

func appendTerm(to []term, text string, prefix bool) []term {
	if w := split(fold(text)); len(w) > 0 {
		last := w[len(w)-1]
		return append(to, term{w, prefix && long(last)})
	}
	return to
}

// long reports whether a word may stand for all that begin with it.
func long(word string) bool { return utf8.RuneCountInString(word) >= minPrefix || len(word) > 2 }

// split cuts folded text into words, as the index does.
func split(folded string) []string {
	tokens := tokenizer.NewUnicodeTokenizer().Tokenize([]byte(folded))
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = string(t.Term)
	}
	return words
}

// build is the query for the index: all terms, each in any of the fields.
func build(terms []term) query.Query {
	all := make([]query.Query, len(terms))
	for i, t := range terms {
		title, content, names := t.in(fieldTitle), t.in(fieldContent), t.in(fieldNames)
		if b, ok := title.(query.BoostableQuery); ok {
			b.SetBoost(titleBoost)
		}
		all[i] = bleve.NewDisjunctionQuery(title, content, names)
	}
	return bleve.NewConjunctionQuery(all...)
}

// in is the term as it is looked for in one field.
func (t term) in(field string) query.Query {
	last := len(t.words) - 1
	if !t.prefix {
		return phrase(field, t.words)
	}
	begins := bleve.NewPrefixQuery(t.words[last])
	begins.SetField(field)
	if last == 0 {
		return begins
	}
	return bleve.NewConjunctionQuery(phrase(field, t.words[:last]), begins)
}

// phrase is words that follow each other, of which there may be just one.
func phrase(field string, words []string) query.Query {
	switch {
	case len(words) == 1:
		return exactly(field, words[0])
	case field != fieldContent: // the others are short
		return bleve.NewPhraseQuery(words, field)
	case len(words) == 2:
		return exactly(fieldPairs, words[0]+" "+words[1])
	}
	all := make([]query.Query, 0, len(words))
	for i := range words[1:] {
		all = append(all, exactly(fieldPairs, words[i]+" "+words[i+1]))
	}
	return bleve.NewConjunctionQuery(append(all, bleve.NewPhraseQuery(words, field))...)
}

func exactly(field, term string) query.Query {
	q := bleve.NewTermQuery(term)
	q.SetField(field)
	return q
}
