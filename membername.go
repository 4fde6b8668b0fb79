package ubl

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMemberName is how long a member's name may be, in characters.
const MaxMemberName = 64

// CheckMemberName refuses what [CheckName] refuses, names that are too long, and
// those with marks that turn the direction of writing: they would rearrange the
// line that a name stands in.
func CheckMemberName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	switch {
	case utf8.RuneCountInString(name) > MaxMemberName:
		return Errorf(CodeValidation, "the name is longer than %d characters", MaxMemberName)
	case strings.ContainsFunc(name, turns):
		return Errorf(CodeValidation, "the name holds a character that turns the direction of writing")
	}
	return nil
}

// FitMemberName makes a member's name of what somebody else calls them, as an
// identity provider does: what a name can't hold is left out. It is "" where nothing
// is left, which is no name.
func FitMemberName(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case turns(r):
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > MaxMemberName {
		text = strings.TrimSpace(string(runes[:MaxMemberName]))
	}
	return text
}

func turns(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }
