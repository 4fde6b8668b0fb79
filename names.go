package ubl

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// How long names may be, in characters: of a person or an agent, and of anything else.
const (
	MaxMemberName = 64
	MaxName       = 128
)

// maxMarks is how many combining marks one character may carry (UTS #39): more of
// them climb over the lines around.
const maxMarks = 4

// CheckName refuses what must not be the name of anything: a person, an agent, a room,
// a container, a server, a token. Its error says which rule the name breaks:
//
//   - UTF-8, not blank, at most [MaxName] characters, all of which can be seen;
//   - one script, or those that one language writes together (see [oneScript]), in
//     plain letters;
//   - no address and no id.
//
// So no two names that pass differ in what can't be seen. They may still look the same
// (see [Skeleton]): then clients show the ids.
//
// A joiner may stand where it changes what is seen: between pictures, and where the
// script needs it.
func CheckName(name string) error { return checkName(name, MaxName) }

// CheckMemberName is [CheckName] for people and agents, whose names are shorter.
func CheckMemberName(name string) error { return checkName(name, MaxMemberName) }

func checkName(name string, most int) error {
	switch {
	case !utf8.ValidString(name):
		return Errorf(CodeValidation, "the name is not valid UTF-8")
	case strings.TrimSpace(name) == "":
		return Errorf(CodeValidation, "the name is empty")
	case utf8.RuneCountInString(name) > most:
		return Errorf(CodeValidation, "the name is longer than %d characters", most)
	}
	if err := checkRunes(name); err != nil {
		return err
	}
	if err := oneScript(name); err != nil {
		return err
	}
	if isAddress(name) {
		return Errorf(CodeValidation, "the name looks like an address or an id; choose one that is neither")
	}
	return nil
}

// checkRunes looks at each character with its neighbours.
func checkRunes(name string) error {
	if plainText(name) {
		return nil
	}
	runes := []rune(name)
	marks := 0
	for i, r := range runes {
		if err := checkSeen("name", runes, i); err != nil {
			return err
		}
		if marks++; !unicode.Is(unicode.Mn, r) {
			marks = 0
		}
		if marks > maxMarks || i == 0 && unicode.Is(unicode.M, r) {
			return Errorf(CodeValidation, "the name has a combining mark that belongs to no letter, or more than %d on one", maxMarks)
		}
		if styled(r) {
			return Errorf(CodeValidation, "the name has letters in a style of their own; write plain ones")
		}
	}
	return nil
}

// CheckTitle refuses what can't be seen in a title, as [CheckName] does: control
// characters, those that turn the direction of writing, and invisible ones. A title may
// be in several scripts, and hold an address.
func CheckTitle(title string) error {
	if plainText(title) {
		return nil
	}
	runes := []rune(title)
	for i := range runes {
		if err := checkSeen("title", runes, i); err != nil {
			return err
		}
	}
	return nil
}

// checkSeen refuses the i-th character where nobody sees it, or it changes how others
// are seen.
func checkSeen(what string, runes []rune, i int) error {
	switch r := runes[i]; {
	case unicode.IsControl(r):
		return Errorf(CodeValidation, "the %s holds a control character", what)
	case unicode.Is(unicode.Bidi_Control, r):
		return Errorf(CodeValidation, "the %s holds a character that turns the direction of writing", what)
	case invisible(r) && !joins(runes, i):
		return Errorf(CodeValidation, "the %s holds a character that can't be seen", what)
	}
	return nil
}

// plainText reports whether a name is of ASCII alone, and can be seen.
func plainText(name string) bool {
	for i := range len(name) {
		if name[i] < ' ' || name[i] > '~' {
			return false
		}
	}
	return true
}

// invisible reports whether a character leaves nothing on the screen: what Unicode calls
// default ignorable, what has no shape yet, and blanks that are no spaces. Spaces are none.
func invisible(r rune) bool {
	return ignorable(r) || !unicode.IsGraphic(r) || blank(r) || r == brailleBlank || r == '\ufffc' || r == unicode.ReplacementChar
}

const brailleBlank = '\u2800'

// blank reports whether a character that Unicode calls a letter, mark or symbol leaves
// its place empty: a note without a head, Egyptian blanks, the Khitan filler.
func blank(r rune) bool {
	switch r {
	case 0x1D159, 0x13441, 0x13442, 0x16FE4:
		return true
	}
	return false
}

// ignorable is Unicode's Default_Ignorable_Code_Point, as far as characters are assigned.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// The characters that join or part their neighbours, or choose between two pictures.
const (
	nonJoiner   = '\u200c'
	joiner      = '\u200d'
	textShape   = '\ufe0e'
	colourShape = '\ufe0f'
	keycap      = '\u20e3'
)

// joins reports whether the i-th character, which nobody sees, changes how its
// neighbours look.
func joins(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before, after := runes[i-1], rune(0)
	if i+1 < len(runes) {
		after = runes[i+1]
	}
	switch runes[i] {
	case textShape, colourShape:
		return picture(before) || keyed(before) && after == keycap
	case joiner:
		return (picture(before) || before == colourShape) && picture(after) || virama(before)
	case nonJoiner:
		return virama(before) || unicode.In(before, cursive...) && unicode.In(after, cursive...)
	}
	return false
}

// picture reports whether a character is one, or may be: what has a shape of text and one
// of colour. Signs of ASCII, as +, are none.
func picture(r rune) bool {
	switch {
	case r == 0x203C, r == 0x2049, r == 0x2139, r == 0x3030, r >= 0x1F3FB && r <= 0x1F3FF:
		return true
	}
	return r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm) && !blank(r) && r != brailleBlank
}

// keyed reports whether a character may stand on a key of its own: 1️⃣.
func keyed(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// cursive are scripts whose letters join unless something parts them, as in Persian.
var cursive = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko}

// virama reports whether a mark takes the vowel from a letter of an Indic script: there
// the joiners choose between shapes.
func virama(r rune) bool { return norm.NFD.PropertiesString(string(r)).CCC() == 9 }

// styled reports whether a character is a plain letter or digit in another dress: bold,
// wide or in a circle. Ordinal marks (1ª) are no letters.
func styled(r rune) bool {
	if r < 0x2000 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.So, r) {
		return false
	}
	plain := norm.NFKC.String(string(r))
	return len(plain) == 1 && (plain[0] >= '0' && plain[0] <= '9' || plain[0]|0x20 >= 'a' && plain[0]|0x20 <= 'z')
}

// isAddress reports whether a name would be taken for a mail address, also one that is
// spelled out, for one of the web, or for an id.
func isAddress(name string) bool {
	plain := strings.TrimSpace(norm.NFKC.String(strings.Map(wide, name)))
	plain = spelledDot.ReplaceAllString(spelledAt.ReplaceAllString(plain, "${1}@${2}"), ".")
	if spelledOut.MatchString(plain) {
		return true
	}
	for rest := plain; ; {
		before, after, found := strings.Cut(rest, "@")
		if !found {
			break
		}
		if joined := !strings.HasSuffix(before, " ") && !strings.HasPrefix(after, " "); before != "" && after != "" && (joined || dotted(after)) {
			return true
		}
		rest = after
	}
	return strings.Contains(plain, "://") || len(plain) > 2 && plain[1] == ':' && validID(plain, plain[:2], len(plain), ":")
}

// How addresses are spelled for people: ceo[at]acme.com, ceo (at) acme (dot) com, and ceo
// at acme dot com. The blanks about an at in brackets stay, as those about @ do. By itself
// "at" is a word like others.
var (
	spelledAt  = regexp.MustCompile(`(?i)( ?)[\[({<] ?(?:at|@) ?[\])}>]( ?)`)
	spelledDot = regexp.MustCompile(`(?i) ?[\[({<] ?(?:dot|\.) ?[\])}>] ?`)
	spelledOut = regexp.MustCompile(`(?i)\S (?:at|@) ?\S+ dot \pL`)
)

// wide leaves out spaces that are hardly seen: all but those as wide as a letter.
func wide(r rune) rune {
	if unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u00a0' && r != '\u3000' {
		return -1
	}
	return r
}

// dotted reports whether the first word of a text could be a domain: letters and a dot
// that parts them, or [LocalDomain].
func dotted(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	word := strings.Trim(words[0], ".,;:!?()<>")
	host, top, found := strings.Cut(word, ".")
	return strings.EqualFold(word, LocalDomain) || found && host != "" && strings.ContainsFunc(top, unicode.IsLetter)
}

// FitMemberName makes a member's name of what somebody else calls them, as an
// identity provider does: what can't be seen is left out. It is "" where what is left
// is no name by [CheckMemberName]: then they have none, and go by their address or id.
func FitMemberName(text string) string {
	text = visible(text, ' ')
	if isAddress(text) { // with spaces that the next step would widen
		return ""
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > MaxMemberName {
		text = strings.TrimSpace(string(runes[:MaxMemberName]))
	}
	if CheckMemberName(text) != nil {
		return ""
	}
	return text
}

// ShownName is a stored name as it may be shown. Names from before there were rules lose
// what can't be seen, and are "" where they look like an address: then clients show the
// id. Names that [CheckName] takes stay as they are.
func ShownName(name string) string {
	if CheckName(name) == nil {
		return name
	}
	if name = strings.TrimSpace(visible(name, -1)); isAddress(name) {
		return ""
	}
	return name
}

// visible leaves out what nobody sees, and puts blank in the place of control characters.
func visible(text string, blank rune) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	var b strings.Builder
	for i, r := range runes {
		switch {
		case unicode.IsControl(r):
			if blank >= 0 {
				b.WriteRune(blank)
			}
		case !invisible(r) || joins(runes, i):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Called is what clients call a member: their name, else the local part of their
// address, else their id.
func (m Member) Called() string {
	local := m.Email[:max(0, strings.LastIndexByte(m.Email, '@'))]
	return cmp.Or(m.Name, local, string(m.UserID))
}

// Introduced is what to call a member where there is room for one text alone, as in a
// notification: their name, else their address if it is proven, else their id. It says of who is
// unproven that they are.
func (m Member) Introduced() string {
	name := m.Name
	if name == "" && !m.Unproven {
		name = m.Email
	}
	name = cmp.Or(name, string(m.UserID))
	if m.Unproven {
		name += " (unproven)"
	}
	return name
}

// together are the scripts that one language writes together; Latin may stand among
// them. By UTS #39 names in one script or in one of these are highly restricted.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"}, // Japanese
	{"Latin", "Han", "Hangul"},               // Korean
	{"Latin", "Han", "Bopomofo"},             // Chinese
}

// oneScript refuses a name whose letters are of several scripts, unless they are
// written [together]: one of another alphabet among them passes for its look-alike.
// Digits, signs, marks and pictures are of none.
func oneScript(name string) error {
	if plainText(name) {
		return nil
	}
	var seen []string
	for _, r := range name {
		s := script(r)
		if s == "Common" || s == "Inherited" || slices.Contains(seen, s) {
			continue
		}
		if s == "" {
			return Errorf(CodeValidation, "the name holds a character of no script that is known here")
		}
		if seen = append(seen, s); !fit(seen) {
			return Errorf(CodeValidation, "the name mixes scripts (%s): write it in one", strings.Join(seen, " and "))
		}
	}
	return nil
}

func fit(scripts []string) bool {
	return len(scripts) == 1 || slices.ContainsFunc(together, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
}

// usual are the scripts that most names are of, to be tried first.
var usual = []string{"Latin", "Common", "Cyrillic", "Han", "Hiragana", "Katakana", "Hangul", "Greek", "Arabic", "Hebrew", "Inherited"}

// script is the one that a character belongs to: Common for those of all, Inherited for
// marks, "" for one of none.
func script(r rune) string {
	for _, name := range usual {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

//go:embed confusables.txt
var confusables string

// prototypes has for each character that looks like another what it looks like.
var prototypes = sync.OnceValue(func() map[rune]string {
	of := make(map[rune]string, 6000)
	_, lines, _ := strings.Cut(confusables, "\n\n") // behind the comment
	for line := range strings.Lines(lines) {
		skeleton, characters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, r := range characters {
			of[r] = skeleton
		}
	}
	return of
})

// Skeleton is the same for names that look the same in any case of their letters, and is
// no name itself: it is the skeleton of UTS #39, with single blanks. ALICE looks like
// Alice in capitals, and AIice looks like it in its own: so the letters are compared as
// they stand, as small ones and as capitals. For comparing within one process only: with
// newer data it may change.
func Skeleton(name string) string {
	for _, inCase := range []func(string) string{strings.ToLower, strings.ToUpper, strings.ToLower} {
		name = inCase(looks(name))
	}
	return strings.Join(strings.Fields(name), " ")
}

// looks has in place of each character what it looks like, and nothing for what can't be
// seen: the dot over an i or a j takes the place of the letter's own.
func looks(name string) string {
	of := prototypes()
	var b strings.Builder
	dotted := false
	for _, r := range norm.NFD.String(name) {
		if r >= 0x80 && (ignorable(r) || r == dotAbove && dotted) {
			continue
		}
		s, ok := of[r]
		if !ok {
			s = string(r)
		}
		if !unicode.Is(unicode.Mn, r) {
			dotted = s == "i" || s == "j" || unicode.Is(unicode.Soft_Dotted, r)
		}
		b.WriteString(s)
	}
	return norm.NFD.String(b.String())
}

const dotAbove = '\u0307'
