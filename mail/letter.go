package mail

import (
	"fmt"
	"html/template"
	netmail "net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"ubl"
)

// Bounds of a mail, whatever it is asked to tell.
const (
	maxRooms   = 20
	maxAuthors = 3
	maxLines   = 5
	maxName    = 80
	maxText    = 200
)

// letter is a mail in its language, with names and texts made harmless.
type letter struct {
	words
	Language string
	Tenant   string
	App      string
	Stop     string
	Rooms    []room
	More     int
	unread   int64
}

type room struct {
	Name    string
	At      string
	Count   int64
	Authors []string
	Lines   []ubl.UnreadLine
}

func newLetter(m ubl.UnreadMail, at, stop string) *letter {
	language, words := speaking(m.Language)
	l := &letter{
		words: words, Language: language, Tenant: harmless(strings.TrimPrefix(string(m.Of.Group().Tenant), "t:"), maxName),
		App: at + "/ui/", Stop: stop, More: m.More + max(0, len(m.Rooms)-maxRooms),
	}
	for _, r := range m.Rooms[:min(len(m.Rooms), maxRooms)] {
		l.unread += r.Count
		one := room{Name: harmless(r.Name, maxName), At: at + "/ui/rooms/" + string(r.RoomID), Count: r.Count}
		for _, a := range r.Authors[:min(len(r.Authors), maxAuthors)] {
			one.Authors = append(one.Authors, harmless(a, maxName))
		}
		if len(r.Authors) > maxAuthors {
			one.Authors = append(one.Authors, words.Others)
		}
		for _, line := range r.Lines[max(0, len(r.Lines)-maxLines):] {
			one.Lines = append(one.Lines, ubl.UnreadLine{Author: harmless(line.Author, maxName), Text: plain(line.Text, maxText)})
		}
		l.Rooms = append(l.Rooms, one)
	}
	return l
}

// subject has nothing in it that people wrote.
func (l *letter) subject() string { return fmt.Sprintf("%s: %d", l.Subject, l.unread) }

// text is the mail without marks. Isolates keep names that run the other way from turning the rest.
func (l *letter) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n", l.Subject, isolated(l.Tenant))
	for _, r := range l.Rooms {
		fmt.Fprintf(&b, "- %s: %d", isolated(r.Name), r.Count)
		for i, a := range r.Authors {
			if i == 0 {
				b.WriteString(" · ")
			} else {
				b.WriteString(", ")
			}
			b.WriteString(isolated(a))
		}
		b.WriteString("\n")
		for _, line := range r.Lines {
			fmt.Fprintf(&b, "    %s: %s\n", isolated(line.Author), isolated(line.Text))
		}
	}
	if l.More > 0 {
		fmt.Fprintf(&b, "\n%s: %d\n", l.MoreRooms, l.More)
	}
	fmt.Fprintf(&b, "\n%s: %s\n\n-- \n%s\n%s: %s\n", l.Open, l.App, l.Why, l.Ends, l.Stop)
	return b.String()
}

var page = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="{{.Language}}" dir="{{.Dir}}">
<body>
<p>{{.Subject}} (<bdi>{{.Tenant}}</bdi>)</p>
<ul>
{{range .Rooms}}<li><a href="{{.At}}"><bdi>{{.Name}}</bdi></a>: {{.Count}}{{range $i, $a := .Authors}}{{if $i}}, {{else}} · {{end}}<bdi>{{$a}}</bdi>{{end}}{{range .Lines}}
<br><bdi>{{.Author}}</bdi>: <bdi>{{.Text}}</bdi>{{end}}</li>
{{end}}</ul>
{{if .More}}<p>{{.MoreRooms}}: {{.More}}</p>
{{end}}<p><a href="{{.App}}">{{.Open}}</a></p>
<hr>
<p><small>{{.Why}} <a href="{{.Stop}}">{{.Ends}}</a></small></p>
</body>
</html>
`))

// html is the mail as HTML: no picture, no style, nothing that is fetched.
func (l *letter) html() (string, error) {
	var b strings.Builder
	if err := page.Execute(&b, l); err != nil {
		return "", fmt.Errorf("couldn't write a mail: %w", err)
	}
	return b.String(), nil
}

const (
	isolate = "\u2068" // the first strong character inside says which way it runs
	ends    = "\u2069"
	// joiner is seen by nobody. Behind a dot it keeps mail programs from making a link of a name.
	joiner = "\u2060"
)

func isolated(s string) string { return isolate + s + ends }

// plain is a text in one line that nothing hides in.
func plain(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most])) + "…"
}

// harmless changes a name so that mail programs make no link of it: its owner could lead readers to a
// page of theirs. An address stays as it is.
func harmless(s string, most int) string {
	s = plain(s, most)
	if a, err := netmail.ParseAddress(s); err == nil && a.Address == s {
		return s
	}
	return strings.ReplaceAll(s, ".", "."+joiner)
}
