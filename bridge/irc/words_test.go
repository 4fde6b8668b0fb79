package irc

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPosted: what comes from IRC is a line of plain text behind who says it.
func TestPosted(t *testing.T) {
	for text, want := range map[string]string{
		"hello":                            "bob via irc: hello",
		"\x02bold\x0f \x0304,12red\x03":    "bob via irc: bold red",
		"\x01ACTION waves\x01":             "bob via irc: *waves*",
		"\x01ACTION \x01":                  "",
		"\x01VERSION\x01":                  "",
		"\x02\x02 ":                        "",
		"a\x00b\x1b[2Jc\u202ed":            "bob via irc: ab[2Jcd",
		"caf\xe9":                          "bob via irc: café",
		"@room /poll **x**":                "bob via irc: @room /poll **x**",
		strings.Repeat("x", 10_000) + "\t": "bob via irc: " + strings.Repeat("x", 10_000) + " ",
	} {
		if got := posted("bob", text); got != want {
			t.Errorf("%.40q is posted as %.60q, want %.60q", text, got, want)
		}
		if want != "" && !bridgedInRoom.MatchString(want) {
			t.Errorf("another bridge doesn't know %.60q as a bridge's", want)
		}
	}
}

// TestSaid: what goes to IRC is lines that fit, which say who speaks and do nothing else.
func TestSaid(t *testing.T) {
	const prefix = "<\x02Ana\x02> "
	for text, want := range map[string][]string{
		"one\n\ntwo\r\n":                 {"one", "two"},
		"a\rQUIT :x":                     {"a", "QUIT :x"},
		"\x01ACTION x\x01\x00\x02\u202e": {"ACTION x"},
		"\u200b \n\t":                    nil,
		"12345 78901":                    {"12345", "78901"},
		"ääääääää":                       {"ääää", "ääää"},
	} {
		lines := said("Ana", text, "link", len(prefix)+9)
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, prefix)
			if !bridgedOnIRC.MatchString(line) {
				t.Errorf("another bridge doesn't know %q as a bridge's", line)
			}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%q is said as %q, want %q", text, lines, want)
		}
	}
	long := said("Ana\r\nQUIT \x02"+strings.Repeat("é", 100), strings.Repeat("ß", 4000), "https://ubl.example/ui", 400)
	if len(long) != maxLines+1 || !strings.HasSuffix(long[maxLines], "more lines: https://ubl.example/ui") {
		t.Errorf("%d lines, and the last is %q", len(long), long[len(long)-1])
	}
	for _, line := range long {
		if len(line) > 400 || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
	}
}
