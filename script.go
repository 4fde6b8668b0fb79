package ubl

import (
	"slices"
	"strings"
	"unicode"
)

// together are the scripts that one language writes together; Latin may stand among
// them. By UTS #39 names in one script or in one of these are highly restricted.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"}, // Japanese
	{"Latin", "Han", "Hangul"},               // Korean
	{"Latin", "Han", "Bopomofo"},             // Chinese
}

// oneScript refuses a name whose letters are of several scripts, unless they are
// written [together]: one of another alphabet among them passes for its look-alike.
// Digits, signs, marks and pictures are of none.
func oneScript(name string) error {
	if plainText(name) {
		return nil
	}
	var seen []string
	for _, r := range name {
		s := script(r)
		if s == "Common" || s == "Inherited" || slices.Contains(seen, s) {
			continue
		}
		if s == "" {
			return Errorf(CodeValidation, "the name holds a character of no script that is known here")
		}
		if seen = append(seen, s); !fit(seen) {
			return Errorf(CodeValidation, "the name mixes scripts (%s): write it in one", strings.Join(seen, " and "))
		}
	}
	return nil
}

func fit(scripts []string) bool {
	return len(scripts) == 1 || slices.ContainsFunc(together, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// usual are the scripts that most names are of, to be tried first.
var usual = []string{"Latin", "Common", "Cyrillic", "Han", "Hiragana", "Katakana", "Hangul", "Greek", "Arabic", "Hebrew", "Inherited"}

// script is the one that a character belongs to: Common for those of all, Inherited for
// marks, "" for one of none.
func script(r rune) string {
	for _, name := range usual {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}
