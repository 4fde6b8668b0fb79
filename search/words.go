package search

import (
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/ar"
	tokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/spanish"
)

// A message doesn't say which language it is in. So each word is indexed as it is and by its
// stem in each language, and two words are the same where they share one of these.

// word is one word of a text: folded, and where it stands there in bytes.
type word struct {
	text       string
	start, end int
}

// wordsOf cuts a text into words.
func wordsOf(text string) []word {
	tokens := tokenizer.NewUnicodeTokenizer().Tokenize([]byte(text))
	words := make([]word, 0, len(tokens))
	for _, t := range tokens {
		if folded := foldWord(string(t.Term)); folded != "" {
			words = append(words, word{folded, t.Start, t.End})
		}
	}
	return words
}

// foldWord is fold, with the letters that Arabic writes in several ways as one.
func foldWord(s string) string {
	s = fold(s)
	if !isArabic(s) {
		return s
	}
	return string(arabicOf(s, ar.NewArabicNormalizeFilter()))
}

func isArabic(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c >= 0x600 && c <= 0x6ff })
}

func arabicOf(s string, f analysis.TokenFilter) []byte {
	return f.Filter(analysis.TokenStream{{Term: []byte(s)}})[0].Term
}

// stemmers are those of languages written in Latin letters.
var stemmers = []func(*snowballstem.Env) bool{english.Stem, german.Stem, spanish.Stem}

// maxStemmed is the longest word, in bytes, that has a stem.
const maxStemmed = 40

// formsOf is a folded word with its stems, each once. Forms begins with the word.
func formsOf(word string) []string {
	if v, ok := forms.get(word); ok {
		return v
	}
	out := []string{word}
	add := func(stem string) {
		if stem != "" && !slices.Contains(out, stem) {
			out = append(out, stem)
		}
	}
	switch {
	case len(word) > maxStemmed:
	case isArabic(word):
		add(string(arabicOf(word, ar.NewArabicStemmerFilter())))
	case isASCII(word):
		for _, stem := range stemmers {
			env := snowballstem.NewEnv(word)
			stem(env)
			add(env.Current())
		}
	}
	forms.put(word, out)
	return out
}

// forms remembers words of which stems were made: a language has few that are frequent.
var forms cache

// maxForms bounds it.
const maxForms = 20_000

type cache struct {
	mu sync.RWMutex
	of map[string][]string
}

func (c *cache) get(word string) ([]string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.of[word]
	return v, ok
}

func (c *cache) put(word string, of []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= maxForms {
		c.of = make(map[string][]string)
	}
	c.of[word] = of
}

// analyzed is an analyzer of tokens that a function makes of a text.
type analyzed func(text string) analysis.TokenStream

// Analyze implements [analysis.Analyzer].
func (a analyzed) Analyze(text []byte) analysis.TokenStream { return a(string(text)) }

func token(term string, at int) *analysis.Token {
	return &analysis.Token{Term: []byte(term), Position: at, Type: analysis.AlphaNumeric}
}

// allForms are words with their stems.
func allForms(words []word) (out analysis.TokenStream) {
	for i, w := range words {
		for _, form := range formsOf(w.text) {
			out = append(out, token(form, i+1))
		}
	}
	return out
}

// allPairs are every two words that follow each other.
func allPairs(words []word) (out analysis.TokenStream) {
	for i := 1; i < len(words); i++ {
		out = append(out, token(pair(words[i-1].text, words[i].text), i))
	}
	return out
}

func pair(a, b string) string { return a + " " + b }

// fields are the terms of a text that blanks separate.
func fields(text string) (out analysis.TokenStream) {
	for i, f := range strings.Fields(text) {
		out = append(out, token(f, i+1))
	}
	return out
}
