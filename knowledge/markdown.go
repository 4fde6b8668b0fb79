package knowledge

import (
	"strings"
)

// textLine is a line of a body that isn't code, a comment or blank.
type textLine struct {
	from, to int    // bytes in the body, without the end of the line
	number   int    // from 0
	heading  string // its text, where it is one; an underlined heading's is on its first line
	level    int    // of the heading, 1 to 6; 0 for other lines
}

// scan finds the lines of Markdown that say something. It knows what links and chunks need:
// headings, and what is code or a comment; each line is looked at once, whatever is in it.
func scan(body string) (lines []textLine) {
	fence, comment := "", false
	from, number := 0, -1
	for line := range strings.Lines(body) {
		number++
		at := textLine{from: from, to: from + len(strings.TrimSuffix(line, "\n")), number: number}
		from += len(line)
		text := strings.TrimSpace(line)
		switch {
		case comment:
			comment = !strings.Contains(text, "-->")
		case fence != "":
			if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
		case opens(text) != "":
			fence = opens(text)
		case strings.HasPrefix(text, "<!--"):
			comment = !strings.Contains(text, "-->")
		case underlines(text) > 0 && follows(body, lines, number):
			before := &lines[len(lines)-1]
			before.level, before.heading = underlines(text), strings.TrimSpace(body[before.from:before.to])
		case text != "":
			at.level, at.heading = headingOf(line)
			lines = append(lines, at)
		}
	}
	return lines
}

// opens is the fence that a line begins a block of code with, "" for none.
func opens(text string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) {
			run := text[:len(text)-len(strings.TrimLeft(text, mark[:1]))]
			if mark == "```" && strings.Contains(text[len(run):], "`") {
				return "" // code within a line
			}
			return run
		}
	}
	return ""
}

// underlines is the level of heading that a line makes of the one before it, 0 for none.
func underlines(text string) int {
	switch {
	case text == "":
	case strings.Trim(text, "=") == "":
		return 1
	case strings.Trim(text, "-") == "":
		return 2
	}
	return 0
}

// follows reports whether the line before the one of the number is text that can be underlined: no
// heading, and no part of a list or a quotation, which a line of dashes ends.
func follows(body string, lines []textLine, number int) bool {
	if len(lines) == 0 {
		return false
	}
	before := lines[len(lines)-1]
	return before.number == number-1 && before.level == 0 && !isItem(strings.TrimSpace(body[before.from:before.to]))
}

// isItem reports whether a line begins an item of a list, or is a quotation.
func isItem(text string) bool {
	mark, _, _ := strings.Cut(text, " ")
	switch {
	case strings.HasPrefix(text, ">"), mark == "-", mark == "*", mark == "+":
		return true
	}
	digits := strings.TrimRight(mark, ".)")
	return len(digits) == len(mark)-1 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// headingOf is a line's heading: # to ######, and what follows.
func headingOf(line string) (level int, heading string) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 {
		return 0, ""
	}
	rest := strings.TrimLeft(text, "#")
	level = len(text) - len(rest)
	if level == 0 || level > 6 || rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
		return 0, ""
	}
	heading = strings.TrimSpace(rest)
	if bare := strings.TrimRight(heading, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		heading = strings.TrimSpace(bare)
	}
	return level, heading
}

// withoutCode is a line with spaces in place of code between backticks, so that what follows stays
// where it is.
func withoutCode(line string) string {
	if !strings.Contains(line, "`") {
		return line
	}
	runs, last := backticks(line)
	out := []byte(line)
	for i := 0; i < len(runs); i++ {
		n := runs[i].to - runs[i].from
		if last[n] == i {
			continue // nothing closes it
		}
		close := i + 1
		for runs[close].to-runs[close].from != n {
			close++
		}
		for at := runs[i].from; at < runs[close].to; at++ {
			out[at] = ' '
		}
		i = close
	}
	return string(out)
}

type span struct{ from, to int }

// backticks are the runs of backticks in a line, and the last one of each length.
func backticks(line string) (runs []span, last map[int]int) {
	last = map[int]int{}
	for at := 0; at < len(line); at++ {
		if line[at] != '`' {
			continue
		}
		from := at
		for at < len(line) && line[at] == '`' {
			at++
		}
		last[at-from] = len(runs)
		runs = append(runs, span{from, at})
	}
	return runs, last
}
