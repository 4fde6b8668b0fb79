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

// Skeleton is the same for names that look the same, and is no name itself: it is the
// skeleton of UTS #39, in small letters and with single blanks. For comparing within
// one process only: with newer data it may change.
func Skeleton(name string) string {
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
	return strings.Join(strings.Fields(strings.ToLower(norm.NFD.String(b.String()))), " ")
}
