package search

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// letters are those that Unicode doesn't take apart and people still expect to
// find under plain ones.
var letters = strings.NewReplacer("ß", "ss", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "æ", "ae", "œ", "oe", "ı", "i", "ς", "σ")

// fold makes texts that differ only in case, accents or width the same. Marks of
// scripts in which they are letters of their own stay.
func fold(s string) string {
	s = norm.NFKD.String(strings.ToLower(s))
	s = strings.Map(func(c rune) rune {
		if c >= 0x300 && c <= 0x36f { // combining diacritical marks
			return -1
		}
		return c
	}, s)
	return letters.Replace(norm.NFC.String(s))
}
