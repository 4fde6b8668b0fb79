package ubl

import (
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

//go:embed confusables.txt
var confusables string

// prototypes has for each character that looks like another what it looks like.
var prototypes = sync.OnceValue(func() map[rune]string {
	of := make(map[rune]string, 6000)
	_, lines, _ := strings.Cut(confusables, "\n\n") // behind the comment
	for line := range strings.Lines(lines) {
		skeleton, characters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, r := range characters {
			of[r] = skeleton
		}
	}
	return of
})

// Skeleton is the same for names that look the same in any case of their letters, and is
// no name itself: it is the skeleton of UTS #39, with single blanks. ALICE looks like
// Alice in capitals, and AIice looks like it in its own: so the letters are compared as
// they stand, as small ones and as capitals. For comparing within one process only: with
// newer data it may change.
func Skeleton(name string) string {
	for _, inCase := range []func(string) string{strings.ToLower, strings.ToUpper, strings.ToLower} {
		name = inCase(looks(name))
	}
	return strings.Join(strings.Fields(name), " ")
}

// looks has in place of each character what it looks like, and nothing for what can't be seen.
func looks(name string) string {
	of := prototypes()
	var b strings.Builder
	for _, r := range norm.NFD.String(name) {
		if r >= 0x80 && ignorable(r) {
			continue
		}
		if s, ok := of[r]; ok {
			b.WriteString(s)
		} else {
			b.WriteRune(r)
		}
	}
	return norm.NFD.String(b.String())
}
