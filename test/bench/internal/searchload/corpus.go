// Package searchload makes documents and searches them. Both follow from a seed,
// so that every run has the same; words are as often as words of a language are.
package searchload

import (
	"math/rand/v2"
	"strings"
)

const (
	seed       = 20261121
	vocabulary = 20_000
	minBytes   = 500
	maxBytes   = 8_000
	titleWords = 3

	// Zipf's law with these has the commonest word make a twentieth of a text.
	exponent, flatness = 1.1, 4
)

const (
	consonants = "bdfgklmnprstvz"
	vowels     = "aeiou"
	syllables  = len(consonants) * len(vowels)
)

// word spells the nth commonest word: two syllables for the first of them, then
// three, like words that are used a lot and words that are not.
func word(n uint64) string {
	var b strings.Builder
	for i := 0; i < 2 || n > 0; i++ {
		syllable := int(n % uint64(syllables))
		b.WriteByte(consonants[syllable/len(vowels)])
		b.WriteByte(vowels[syllable%len(vowels)])
		n /= uint64(syllables)
	}
	return b.String()
}

// Document is the nth one's title and content.
func Document(n int) (title, content string) {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	zipf := rand.NewZipf(random, exponent, flatness, vocabulary-1)
	var b strings.Builder
	for size := minBytes + random.IntN(maxBytes-minBytes); b.Len() < size; {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(zipf.Uint64()))
	}
	words := make([]string, titleWords)
	for i := range words {
		words[i] = word(zipf.Uint64())
	}
	return strings.Join(words, " "), b.String()
}

// prefixLetters is how much of a word is given when only its beginning is: about
// twenty words of the vocabulary have the same.
const prefixLetters = 3

// Query draws one that at least one of n documents answers. There are as many of
// each kind: a word, two words, a phrase of two, the beginning of a word. Words
// are asked for as often as they are written.
func Query(random *rand.Rand, n int) string {
	_, content := Document(random.IntN(n))
	words := strings.Fields(content)
	at := random.IntN(len(words) - 1)
	switch random.IntN(4) {
	case 0:
		return words[at]
	case 1:
		return words[at] + " " + words[random.IntN(len(words))]
	case 2:
		return `"` + words[at] + " " + words[at+1] + `"`
	default:
		return words[at][:prefixLetters] + "*"
	}
}
