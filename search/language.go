package search

import (
	"cmp"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/es"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/spanish"
)

// A document is long enough to tell its language, by the words that stand in every text of one.
// Each of its words is indexed once, by its stem. A question is short: its words are looked for
// by their stems in every language.

// language is one that is written in Latin letters.
type language struct {
	common analysis.TokenMap // words that tell nothing about a text, folded
	stem   func(*snowballstem.Env) bool
}

// languages are made once, from lists of common words that bleve has.
var languages = sync.OnceValue(func() []*language {
	return []*language{
		{foldedWords(en.EnglishStopWords), english.Stem},
		{foldedWords(de.GermanStopWords), german.Stem},
		{foldedWords(es.SpanishStopWords), spanish.Stem},
	}
})

var arabicCommon = sync.OnceValue(func() analysis.TokenMap { return foldedWords(ar.ArabicStopWords) })

func foldedWords(list []byte) analysis.TokenMap {
	read, folded := analysis.NewTokenMap(), analysis.NewTokenMap()
	if err := read.LoadBytes(list); err != nil {
		panic(err) // a list of bleve's own
	}
	for word := range read {
		folded.AddToken(foldWord(word))
	}
	return folded
}

// tellingWords is how many words of a text are looked at for its language.
const tellingWords = 1000

// languageOf is the language that words are in, nil where they don't tell.
func languageOf(words []word) (best *language) {
	most := 0
	for _, l := range languages() {
		n := 0
		for _, w := range words[:min(len(words), tellingWords)] {
			if l.common[w.text] {
				n++
			}
		}
		switch {
		case n > most:
			best, most = l, n
		case n == most:
			best = nil
		}
	}
	return best
}

// isCommon reports whether a word tells nothing about a text in the language.
func (l *language) isCommon(word string) bool {
	if isArabic(word) {
		return arabicCommon()[word]
	}
	return l != nil && l.common[word]
}

// stemsOf are a word's terms: its stem in the language, or all of its forms where that is unknown.
func (l *language) stemsOf(word string) []string {
	switch {
	case isArabic(word):
		forms := formsOf(word)
		return forms[len(forms)-1:]
	case l == nil || len(word) > maxStemmed || !isASCII(word):
		return formsOf(word)
	}
	env := snowballstem.NewEnv(word)
	l.stem(env)
	return []string{cmp.Or(env.Current(), word)}
}
