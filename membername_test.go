package ubl_test

import (
	"strings"
	"testing"

	"ubl"
)

func TestCheckMemberName(t *testing.T) {
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"Ana", true}, {"Ana Müller-Lüdenscheidt (QA)", true}, {"李小龍", true}, {"עדה", true}, {"👩\u200d🔧 Kim", true}, {strings.Repeat("é", 64), true},
		{"", false}, {"  ", false}, {strings.Repeat("é", 65), false}, {"Ana\nadmin", false}, {"\x1b[2J", false}, {"\x85", false}, {"\xff", false},
		{"\u202enimda", false}, {"Ana\u2069", false},
	} {
		if err := ubl.CheckMemberName(c.name); (err == nil) != c.ok {
			t.Errorf("CheckMemberName(%q) = %v", c.name, err)
		}
	}
}

// TestFitMemberName: what a provider calls somebody becomes a name, or none.
func TestFitMemberName(t *testing.T) {
	for text, want := range map[string]string{
		"Ana":                          "Ana",
		"  Ana\n Müller\t":             "Ana Müller",
		"\u202enimda":                  "nimda",
		"A\xffna":                      "Ana",
		strings.Repeat("é", 70):        strings.Repeat("é", 64),
		strings.Repeat("é", 63) + " x": strings.Repeat("é", 63),
		"":                             "",
		" \x00\u2066 ":                 "",
	} {
		got := ubl.FitMemberName(text)
		if got != want {
			t.Errorf("FitMemberName(%q) = %q, want %q", text, got, want)
		}
		if got != "" && ubl.CheckMemberName(got) != nil {
			t.Errorf("%q is no name", got)
		}
	}
}
