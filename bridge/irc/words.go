package irc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ergochat/irc-go/ircfmt"
)

const (
	// maxName is how much of a name stands before each line on IRC, in bytes.
	maxName = 48
	// maxLines of one entry are said on IRC. The rest is a link away: a channel isn't to be flooded.
	maxLines = 10
)

// viaIRC begins what a bridge posts, behind a nick.
const viaIRC = " via irc: "

// Lines of bridges, in a room and on IRC. People could write so; what they did isn't passed on.
var (
	bridgedInRoom = regexp.MustCompile(`^\S+` + viaIRC)
	bridgedOnIRC  = regexp.MustCompile("^<\x02[^\x02]*\x02> ")
)

// posted is what a nick says, for the room; "" where that is nothing that can be seen.
func posted(nick, text string) string {
	text, action := unframed(text)
	text = visible(ircfmt.Strip(utf8Of(text)))
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if action {
		text = "*" + text + "*"
	}
	return visible(utf8Of(nick)) + viaIRC + text
}

// action begins the one CTCP message that is something said: /me.
const action = "\x01ACTION "

// unframed takes CTCP's frame from a text. Other CTCP messages say nothing.
func unframed(text string) (says string, isAction bool) {
	if !strings.HasPrefix(text, "\x01") {
		return text, false
	}
	inner, isAction := strings.CutPrefix(text, action)
	if !isAction {
		return "", false
	}
	return strings.TrimSuffix(inner, "\x01"), true
}

// utf8Of is a text that may be in an older encoding, of which Latin-1 is the likeliest.
func utf8Of(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, 0, len(s))
	for _, b := range []byte(s) {
		runes = append(runes, rune(b))
	}
	return string(runes)
}

// visible takes control and format characters out, which could format, move a cursor, hide, or end
// a line on either side. Tabs become blanks; emoji keep what joins them.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d', r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, s)
}

// said are the lines of IRC, each of at most so many bytes, that say a text under a name. Of a long
// text the last is where the rest is.
func said(name, text, link string, most int) []string {
	prefix := "<\x02" + cutAt(strings.TrimSpace(visible(oneLine(name))), maxName) + "\x02> "
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		for rest := strings.TrimRight(visible(line), " "); strings.TrimSpace(rest) != ""; {
			part := pieceOf(rest, most-len(prefix))
			lines = append(lines, prefix+part)
			rest = strings.TrimLeft(rest[len(part):], " ")
		}
	}
	if n := len(lines) - maxLines; n > 0 {
		lines = append(lines[:maxLines:maxLines], prefix+cutAt(fmt.Sprintf("… %d more lines: %s", n, link), most-len(prefix)))
	}
	return lines
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// pieceOf is the beginning of a line that fits, up to a blank where there is one in its later half.
func pieceOf(line string, most int) string {
	piece := cutAt(line, most)
	if len(piece) == len(line) {
		return piece
	}
	if at := strings.LastIndexByte(piece, ' '); at > len(piece)/2 {
		return piece[:at]
	}
	return piece
}

// cutAt is the beginning of a text of at most so many bytes, which ends where a character does.
func cutAt(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// folded is a name as IRC compares it: letters without their case, and {}|~ are []\^'s small ones.
func folded(name string) string {
	return strings.NewReplacer("{", "[", "}", "]", "|", `\`, "~", "^").Replace(strings.ToLower(name))
}
