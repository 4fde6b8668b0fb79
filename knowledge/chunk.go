package knowledge

import (
	"strings"
	"unicode/utf8"
)

// ChunkBytes is how long a chunk may be.
const ChunkBytes = 2000

// Chunk is a part of a body that is found by itself: a section, or a part of a long one.
type Chunk struct {
	Headings []string // those that it stands under, outermost first, its own last
	From, To int      // bytes of the body
}

// Chunks parts a body at its headings, and long sections between paragraphs where it can. Each is
// at most [ChunkBytes] long; together they are the body, in order. An empty body has none.
func Chunks(body string) (chunks []Chunk) {
	type heading struct {
		level int
		text  string
	}
	var under []heading
	from := 0
	end := func(to int) {
		headings := make([]string, len(under))
		for i, h := range under {
			headings[i] = h.text
		}
		for _, part := range parts(body[from:to]) {
			chunks = append(chunks, Chunk{headings, from, from + part})
			from += part
		}
	}
	for _, l := range scan(body) {
		if l.level == 0 {
			continue
		}
		if strings.TrimSpace(body[from:l.from]) != "" {
			end(l.from)
		}
		for len(under) > 0 && under[len(under)-1].level >= l.level {
			under = under[:len(under)-1]
		}
		under = append(under, heading{l.level, l.heading})
	}
	end(len(body))
	return chunks
}

// HeadingAt is the heading that a byte of a body stands under, or in; "" for none.
func HeadingAt(body string, at int) (heading string) {
	end := min(at, len(body))
	for range 2 { // the line below tells whether this one is a heading
		n := strings.IndexByte(body[end:], '\n')
		if n < 0 {
			end = len(body)
			break
		}
		end += n + 1
	}
	for _, l := range scan(body[:end]) {
		if l.level > 0 && l.from <= at {
			heading = l.heading
		}
	}
	return heading
}

// parts are the lengths of the parts of a section: whole paragraphs, else lines, else words, else
// characters.
func parts(section string) (lengths []int) {
	for len(section) > ChunkBytes {
		n := cut(section)
		lengths = append(lengths, n)
		section = section[n:]
	}
	if section != "" {
		lengths = append(lengths, len(section))
	}
	return lengths
}

// cut is where a section that is too long is best cut: behind half of a chunk, if that can be.
func cut(section string) int {
	for _, gap := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(section[:ChunkBytes], gap); at >= ChunkBytes/2 {
			return at + len(gap)
		}
	}
	n := ChunkBytes
	for !utf8.RuneStart(section[n]) {
		n--
	}
	return n
}
