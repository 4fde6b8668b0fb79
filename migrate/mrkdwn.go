package migrate

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// said is a text of Slack's as Markdown, and whom it mentions.
type said struct {
	text     strings.Builder
	mentions []string
	all      bool
}

// markdown translates Slack's mrkdwn. Code stays as it is; else *bold* is **bold**, ~struck~ is
// ~~struck~~, <http://x|y> is [y](http://x), and <@U1> names whom it means.
func (e *Export) markdown(mrkdwn string) *said {
	s := &said{}
	for i, part := range strings.Split(mrkdwn, "```") {
		if i%2 == 1 && strings.Count(mrkdwn, "```") > i { // fenced, and the fence is closed
			s.text.WriteString("```\n" + strings.Trim(plain(part), "\n") + "\n```")
			continue
		}
		if i > 0 && i%2 == 1 {
			s.text.WriteString("```")
		}
		for j, piece := range strings.Split(part, "`") {
			switch {
			case j%2 == 1 && strings.Count(part, "`") > j && !strings.Contains(piece, "\n"):
				s.text.WriteString("`" + plain(piece) + "`")
				continue
			case j%2 == 1:
				s.text.WriteString("`")
			}
			s.text.WriteString(e.inline(s, piece))
		}
	}
	return s
}

// angled is anything that Slack puts between < and >, which texts of people have as &lt; and &gt;.
var angled = regexp.MustCompile(`<([^<>\n]+)>`)

// inline translates a piece that has no code. Marks are looked for outside of links.
func (e *Export) inline(s *said, text string) string {
	var b strings.Builder
	last := 0
	for _, m := range angled.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[0]])
		b.WriteString(e.link(s, text[m[2]:m[3]]))
		last = m[1]
	}
	b.WriteString(text[last:])
	text = marks(marks(b.String(), '*', "**"), '~', "~~")
	text = withEmoji(html.UnescapeString(text))
	for _, bullet := range []string{"• ", "◦ ", "▪︎ "} {
		text = strings.ReplaceAll(text, bullet, "- ")
	}
	return text
}

// link translates what stands between < and >.
func (e *Export) link(s *said, in string) string {
	what, label, labelled := strings.Cut(in, "|")
	switch {
	case strings.HasPrefix(what, "@"):
		s.mentions = append(s.mentions, what[1:])
		return "@" + escaped(e.called(what[1:], label))
	case strings.HasPrefix(what, "#"):
		for _, r := range e.Rooms {
			if label == "" && r.ID == what[1:] {
				label = r.Name
			}
		}
		return "#" + firstOf(label, what[1:])
	case what == "!here" || what == "!channel" || what == "!everyone":
		s.all = true
		return "@room"
	case strings.HasPrefix(what, "!"):
		return firstOf(label, strings.TrimPrefix(what, "!"))
	case !strings.Contains(what, ":"):
		return "&lt;" + in + "&gt;" // no link
	case !labelled || label == what || strings.HasSuffix(what, "//"+label) || what == "mailto:"+label:
		return strings.TrimPrefix(what, "mailto:")
	}
	return "[" + strings.NewReplacer("[", "\\[", "]", "\\]").Replace(label) + "](" + strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(what) + ")"
}

// called is what to call somebody in a text.
func (e *Export) called(id, label string) string {
	if p := e.People[id]; p != nil && p.Name != "" {
		return p.Name
	}
	return firstOf(label, id)
}

// escaped keeps characters of a name from being marks of Slack's.
func escaped(name string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "&#42;", "~", "&#126;").Replace(name)
}

// plain is what code says.
func plain(text string) string {
	return html.UnescapeString(angled.ReplaceAllStringFunc(text, func(m string) string {
		what, label, _ := strings.Cut(strings.Trim(m, "<>"), "|")
		return firstOf(label, what)
	}))
}

// marks puts other marks in the place of pairs that Slack takes for such: on one line, with a
// blank or a sign before the first, none behind it, and the mirror image at the second.
func marks(text string, mark byte, to string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != mark || !edge(text[:i], false) {
			b.WriteByte(text[i])
			continue
		}
		end := strings.IndexByte(text[i+1:], mark)
		inside := ""
		if end > 0 {
			inside = text[i+1 : i+1+end]
		}
		if inside == "" || strings.ContainsRune(inside, '\n') || strings.TrimSpace(inside) != inside || !edge(text[i+2+end:], true) {
			b.WriteByte(text[i])
			continue
		}
		b.WriteString(to + inside + to)
		i += end + 1
	}
	return b.String()
}

// edge reports whether a text ends, or begins, where no word goes on.
func edge(text string, begins bool) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	if begins {
		r, n = utf8.DecodeRuneInString(text)
	}
	return n == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
