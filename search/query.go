package search

import (
	"strings"

	"github.com/blevesearch/bleve/v2"
	tokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/search/query"
)

// maxTerms bounds the words and phrases of one query; what follows is ignored.
const maxTerms = 32

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
		return append(to, term{w, prefix})
	}
	return to
}

// split cuts folded text into words, as the index does.
func split(folded string) []string {
	tokens := tokenizer.NewUnicodeTokenizer().Tokenize([]byte(folded))
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = string(t.Term)
	}
	return words
}

// build is the query for the index: all terms, each in either field.
func build(terms []term) query.Query {
	all := make([]query.Query, len(terms))
	for i, t := range terms {
		title, content := t.in(fieldTitle), t.in(fieldContent)
		if b, ok := title.(query.BoostableQuery); ok {
			b.SetBoost(titleBoost)
		}
		all[i] = bleve.NewDisjunctionQuery(title, content)
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
	if len(words) == 1 { // looking its places up would take most of the time
		q := bleve.NewTermQuery(words[0])
		q.SetField(field)
		return q
	}
	return bleve.NewPhraseQuery(words, field)
}
