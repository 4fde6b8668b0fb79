package preview

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxLinks is how many links of a message have a preview.
	MaxLinks = 3
	maxURL   = 2048
)

// address is a link as people write it. What ends one, as the dot of a sentence, is cut off after.
var address = regexp.MustCompile("https?://[^\\s<>\"`]+")

// Links are the first links of a message that have a preview, as they are written there, each once.
// Links in code have none, and those in angle brackets, which Markdown shows in the same way: so an
// author says that they want none.
func Links(text string) (links []string) {
	text = withoutCode(text)
	for _, at := range address.FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		if before == '<' || at[0] > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before)) {
			continue
		}
		link := trimmed(text[at[0]:at[1]])
		if !slices.Contains(links, link) && fetchable(link) != nil {
			links = append(links, link)
		}
		if len(links) == MaxLinks {
			break
		}
	}
	return links
}

// trimmed is a link without what belongs to the text around it.
func trimmed(link string) string {
	if label, target, found := strings.Cut(link, "]("); found { // a link whose label is one
		if link = target; !strings.HasPrefix(target, "http") {
			link = label
		}
	}
	for link != "" {
		last := link[len(link)-1]
		if open, closes := map[byte]string{')': "(", ']': "[", '}': "{"}[last]; closes {
			if strings.Count(link, open) >= strings.Count(link, string(last)) {
				return link
			}
		} else if !strings.ContainsRune(`.,;:!?'*_~`, rune(last)) {
			return link
		}
		link = link[:len(link)-1]
	}
	return link
}

// fetchable is the address of a link that may be asked for: nil for one with a user, and for a port
// at which something other than a web server listens.
func fetchable(link string) *url.URL {
	u, err := url.Parse(link)
	if err != nil || len(link) > maxURL || u.Hostname() == "" || u.User != nil || u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		if n, err := strconv.Atoi(port); err != nil || n < 1024 || n > 65535 {
			return nil
		}
	}
	u.Fragment, u.RawFragment, u.Host = "", "", strings.ToLower(u.Host)
	return u
}

// withoutCode is a text with spaces in the place of its blocks and spans of code.
func withoutCode(text string) string {
	if !strings.ContainsAny(text, "`~") {
		return text
	}
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
			fence = ""
		case fence == "":
			out.WriteString(line)
			continue
		}
		out.WriteByte('\n')
	}
	return withoutSpans(out.String())
}

// fenceOf is the mark that a line begins with, if it opens or closes a block of code.
func fenceOf(line string) string {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	mark := rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
	if len(mark) < 3 || mark[0] == '`' && strings.Contains(rest[len(mark):], "`") { // a span on one line
		return ""
	}
	return mark
}

// withoutSpans leaves out what stands between two equally long runs of backticks.
func withoutSpans(text string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '`')
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		inside := text[i+n:]
		if end := runOf(inside, n); end >= 0 {
			inside = inside[end+n:]
		}
		out.WriteByte(' ')
		text = inside
	}
	return out.String() + text
}

// runOf is where a run of exactly n backticks begins, -1 for nowhere.
func runOf(text string, n int) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		length := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if length == n {
			return at
		}
		at += length
	}
}
