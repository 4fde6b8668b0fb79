package search

import (
	"strings"
	"unicode/utf8"

	tokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
)

// snippetBytes is about how long a snippet is, and snippetLead how much of it
// comes before the match.
const (
	snippetBytes = 200
	snippetLead  = 60
	// searchedBytes is how much of a text is looked through for the match.
	searchedBytes = 64 << 10
)

// snippet is the part of a text around the first word that a term begins with, or
// its beginning where the match is elsewhere.
func snippet(text string, terms []term) string {
	from := firstMatch(text, terms)
	start := max(0, from-snippetLead)
	for start > 0 && start < from && text[start-1] != ' ' && text[start-1] != '\n' {
		start++
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end := min(len(text), start+snippetBytes)
	if end < len(text) {
		if cut := strings.LastIndexAny(text[start:end], " \n"); start+cut > from {
			end = start + cut
		}
		for !utf8.RuneStart(text[end]) {
			end--
		}
	}
	return strings.Join(strings.Fields(text[start:end]), " ")
}

// beginning is as much of a text as a snippet may be cut from.
func beginning(text string) string {
	end := min(len(text), searchedBytes+snippetBytes)
	for 0 < end && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// firstMatch is where a word of the text matches the first word of a term, 0
// where none near its beginning does.
func firstMatch(text string, terms []term) int {
	head := text[:min(len(text), searchedBytes)]
	if isASCII(head) {
		return firstASCII(strings.ToLower(head), terms)
	}
	for _, token := range tokenizer.NewUnicodeTokenizer().Tokenize([]byte(head)) {
		word := fold(string(token.Term))
		for _, t := range terms {
			if word == t.words[0] || t.beginning() && strings.HasPrefix(word, t.words[0]) {
				return token.Start
			}
		}
	}
	return 0
}

// beginning reports whether the term's first word is just the start of one.
func (t term) beginning() bool { return t.prefix && len(t.words) == 1 }

// firstASCII is firstMatch for text in which a byte is a letter, without cutting
// all of it into words: most documents are like that, and most of a search's time
// would go there.
func firstASCII(lower string, terms []term) int {
	first := len(lower)
	for _, t := range terms {
		for from := 0; from < first; {
			n := strings.Index(lower[from:first], t.words[0])
			if n < 0 {
				break
			}
			start, end := from+n, from+n+len(t.words[0])
			if (start == 0 || !wordByte(lower[start-1])) && (t.beginning() || end == len(lower) || !wordByte(lower[end])) {
				first = start
				break
			}
			from = end
		}
	}
	if first == len(lower) {
		return 0
	}
	return first
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
