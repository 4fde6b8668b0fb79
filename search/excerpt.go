package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ubl"
	"ubl/knowledge"
)

const (
	// snippetBytes is about how long a snippet is, and snippetLead how much of it
	// comes before the match.
	snippetBytes = 200
	snippetLead  = 60
	// excerptBytes is how much of the texts is looked through for the excerpts of one search, and
	// excerptLeast how much of each of them at least.
	excerptBytes = 4 << 20
	excerptLeast = 32 << 10
	// maxMarks is how many matches of one text are looked at, and maxPhrases how many places at
	// which a phrase may begin.
	maxMarks   = 20_000
	maxPhrases = 2000
	// phraseBytes is how long a phrase may be that is marked.
	phraseBytes = 1000
)

// shown is what an excerpt is to show: words by their forms, beginnings, and phrases.
type shown struct {
	forms    map[string]int // of a question's words, the number of each
	terms    []term         // numbered behind them
	excerpts int            // bytes that may still be looked through
}

// mark is a match in a text, in bytes, of a numbered word.
type mark struct{ from, to, of int }

// excerpts is what cuts the excerpts of all that one search finds.
func (q *question) excerpts() func(string) ubl.Excerpt {
	s := &shown{forms: map[string]int{}, terms: q.terms, excerpts: excerptBytes}
	for i, w := range q.asked {
		for _, form := range w.forms {
			s.forms[form] = i
		}
	}
	return s.excerpt
}

// excerpt cuts the part of a text that shows most of what was asked for, the first of several.
func (s *shown) excerpt(text string) ubl.Excerpt {
	seen := text[:whole(text, min(len(text), max(s.excerpts, excerptLeast)))]
	s.excerpts -= len(seen)
	marks := s.marks(seen)
	first := 0
	if best := densest(marks); best >= 0 {
		first = marks[best].from
	}
	from := max(0, first-snippetLead)
	for from > 0 && from < first && !isGap(text[from-1]) {
		from++
	}
	from = whole(text, from)
	to := min(len(text), from+snippetBytes)
	if to < len(text) {
		if cut := strings.LastIndexAny(text[from:to], " \n"); from+cut > first {
			to = from + cut
		}
		to = whole(text, to)
	}
	out := rendered(text[from:to], from, marks)
	for from < to && isGap(text[from]) { // which the snippet leaves out
		from++
	}
	out.Offset = utf8.RuneCountInString(text[:from])
	out.Under = clipped(knowledge.HeadingAt(text, max(first, from)))
	return out
}

func isGap(c byte) bool { return c == ' ' || c == '\n' }

// whole is where the character begins that a byte is of.
func whole(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// clipped is a heading, as far as a title may be long.
func clipped(heading string) string {
	if utf8.RuneCountInString(heading) > ubl.MaxTitleChars {
		heading = string([]rune(heading)[:ubl.MaxTitleChars])
	}
	return heading
}

// rendered is a part of a text with single blanks, and what is marked in it.
func rendered(part string, at int, marks []mark) (out ubl.Excerpt) {
	i, _ := slices.BinarySearchFunc(marks, at, func(m mark, at int) int { return cmp.Compare(m.from, at) })
	var b strings.Builder
	chars, started := 0, -1
	for offset, c := range part {
		place := at + offset
		if i < len(marks) && started >= 0 && place >= marks[i].to {
			out.Highlights = append(out.Highlights, ubl.Highlight{Start: started, End: chars})
			i, started = i+1, -1
		}
		if unicode.IsSpace(c) {
			if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
				chars++
			}
			continue
		}
		if i < len(marks) && marks[i].from == place && marks[i].to <= at+len(part) {
			started = chars
		}
		b.WriteRune(c)
		chars++
	}
	out.Snippet = strings.TrimSuffix(b.String(), " ")
	if started >= 0 {
		out.Highlights = append(out.Highlights, ubl.Highlight{Start: started, End: utf8.RuneCountInString(out.Snippet)})
	}
	return out
}

// densest is the mark where a snippet shows most of the different words, -1 for none.
func densest(marks []mark) int {
	best, most := -1, 0
	inside, words := map[int]int{}, 0
	for first, last := 0, 0; first < len(marks); first++ {
		for ; last < len(marks) && marks[last].to <= marks[first].from+snippetBytes-snippetLead; last++ {
			if inside[marks[last].of]++; inside[marks[last].of] == 1 {
				words++
			}
		}
		if best < 0 || words > most {
			best, most = first, words
		}
		if last <= first { // longer than a snippet
			last = first + 1
			continue
		}
		if inside[marks[first].of]--; inside[marks[first].of] == 0 {
			words--
		}
	}
	return best
}

// marks are the matches in a text, in order; none is within another.
func (s *shown) marks(text string) (marks []mark) {
	known := map[string]int{} // the number of a word, noMark for none, and phraseMark where it may begin phrases
	phrases, end := 0, 0
	var lower [maxStemmed]byte
	eachWord(text, func(from, to int) bool {
		if from < end {
			return true
		}
		word := text[from:to]
		n, ok := 0, false
		if len(word) <= len(lower) { // without an allocation where the word is known
			n, ok = known[string(lowered(lower[:0], word))]
		}
		if !ok {
			folded := foldWord(word)
			n = s.number(folded)
			known[strings.ToLower(word)] = n
		}
		switch {
		case n == phraseMark && phrases < maxPhrases:
			phrases++
			if of, length := s.phrase(text[from:whole(text, min(len(text), from+phraseBytes))]); length > 0 {
				end = from + length
				marks = append(marks, mark{from, end, of})
			}
		case n >= 0:
			end = to
			marks = append(marks, mark{from, to, n})
		}
		return len(marks) < maxMarks
	})
	return marks
}

const (
	noMark     = -1
	phraseMark = -2
)

func lowered(to []byte, ascii string) []byte {
	for i := range len(ascii) {
		c := ascii[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// number is that of a folded word.
func (s *shown) number(word string) int {
	if len(s.forms) > 0 {
		for _, form := range formsOf(word) {
			if n, ok := s.forms[form]; ok {
				return n
			}
		}
	}
	number := noMark
	for i, t := range s.terms {
		switch {
		case len(t.words) > 1 && t.words[0] == word:
			return phraseMark
		case len(t.words) == 1 && (t.words[0] == word || t.prefix && strings.HasPrefix(word, t.words[0])):
			number = i
		}
	}
	return number
}

// phrase is the term that a text begins with, and its length in the text: the longest one.
func (s *shown) phrase(text string) (of, length int) {
	most := 0
	for _, t := range s.terms {
		most = max(most, len(t.words))
	}
	words := make([]word, 0, most)
	eachWord(text, func(from, to int) bool {
		words = append(words, word{foldWord(text[from:to]), from, to})
		return len(words) < most
	})
	for i, t := range s.terms {
		last := len(t.words) - 1
		if last >= len(words) || words[last].end <= length {
			continue
		}
		same := true
		for j, w := range t.words {
			same = same && (words[j].text == w || j == last && t.prefix && strings.HasPrefix(words[j].text, w))
		}
		if same {
			of, length = i, words[last].end
		}
	}
	return of, length
}

// eachWord calls fn with the words of a text until it returns false. Lines in plain letters, as most
// are, are cut more quickly than by the rules of Unicode, and into the same words.
func eachWord(text string, fn func(from, to int) bool) {
	at := 0
	for line := range strings.Lines(text) {
		if !isASCII(line) {
			for _, w := range wordsOf(line) {
				if !fn(at+w.start, at+w.end) {
					return
				}
			}
		} else if !eachPlainWord(line, func(from, to int) bool { return fn(at+from, at+to) }) {
			return
		}
		at += len(line)
	}
}

func eachPlainWord(line string, fn func(from, to int) bool) bool {
	for from := 0; from < len(line); {
		if !wordByte(line[from]) {
			from++
			continue
		}
		to := from + 1
		for to < len(line) && (wordByte(line[to]) || to+1 < len(line) && joins(line[to-1], line[to], line[to+1])) {
			to++
		}
		if !fn(from, to) {
			return false
		}
		from = to
	}
	return true
}

func wordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// joins reports whether a sign between two bytes is a part of their word, as in don't and 3.14.
func joins(before, sign, after byte) bool {
	switch sign {
	case '.', '\'':
		return isLetter(before) && isLetter(after) || isDigit(before) && isDigit(after)
	case ':':
		return isLetter(before) && isLetter(after)
	case ',', ';':
		return isDigit(before) && isDigit(after)
	}
	return false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
