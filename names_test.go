package ubl_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ubl"
)

// TestCheckName: names that people have, in their scripts, and each rule with what
// breaks it. The message says which.
func TestCheckName(t *testing.T) {
	for _, name := range []string{
		"Ana", "Ana Müller-Lüdenscheidt (QA)", "O’Brien, Seán", "李小龍", "山田 Taro さん カナ", "김 Kim 金", "ㄅㄆ Bopo 波", "עדה", "Анна Петрова",
		"Ελένη", "محمد علی", "می\u200cخواهم", "क्\u200dष", "क्\u200cष", "Nguyễn Thị Ánh", "e\u0301\u0323 ok", "ไทยดี่", "👩\u200d🔧 Kim", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3 first", "👍🏽",
		"Sales & Ops: 2026/Q4", "C++ / C#", "general", "会議", "@here", "price @ 5", "price @ 5.50 each", "Ana @ Acme", "Ana @Acme Inc.", "Ana (at) Acme", "Look at main.go", "Meet at the dot", "Lunch at 12 [dot]", "polka dot dress", "‼\ufe0f", "👩🏽\u200d🔧", "a : b", "x:", "1ª planta", "m² ½ ™ № 5", "Über", strings.Repeat("é", 128),
	} {
		if err := ubl.CheckName(name); err != nil {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
	for rule, names := range map[string][]string{
		"not valid UTF-8":      {"\xff", "Ana\xc3"},
		"is empty":             {"", "  ", "\u00a0", "\u3000\t"},
		"longer than 128":      {strings.Repeat("é", 129)},
		"a control character":  {"Ana\nadmin", "\x1b[2J", "a\u0085b", "a\x00b", "a\x7f"},
		"direction of writing": {"\u202enimda", "Ana\u2069", "\u200eAna", "Ana\u200f", "\u061cعلي"},
		"can't be seen":        {"A\u200bna", "Ana\u200d", "A\u200cna", "\u200dAna", "Ana\ufeff", "Ana\u00ad", "\u3164", "Ana\u115f", "Ana\u2060", "\u2800", "Ana\ufe0f", "A\U000e0041", "Ana\U000e0100", "Ana\u034f", "Ana\ue000", "Ana\ufffd", "Ana\u2028", "\U0010ffff", "Ana\U0001d159", "Ana\U00013441", "Ana\u1160", "Ana\uffa0", "Ana\U00016fe4", "C+\ufe0f+", "C+\u200d+", "A\ufe0f\u20e3", "👩\u200d"},
		"no letter, or more":   {"\u0301Ana", "A\u0301\u0302\u0303\u0304\u0305na"},
		"a style of their own": {"𝐀𝐝𝐦𝐢𝐧", "ａｄｍｉｎ", "Ⓐdmin", "ℋello", "room １"},
		"Latin and Cyrillic":   {"Bоb", "Ana Петрова", "pаypal"},
		"Greek and Latin":      {"Οscar"},
		"Cyrillic and Greek":   {"ноΩ"},
		"and Hangul":           {"かHan漢한", "カ한"},
		"an address or an id":  {"ana@acme.com", "Ana <ana@acme.com>", "ana＠acme.com", "ana﹫acme.com", "x @a b@c", "alice@\u200aacme.example", "owner @localhost", "owner @ LocalHost", "owner@ localhost.", "alice\u2009@acme", "alice\u205f@\u202facme", "alice @ acme.example", "alice @acme.example,", "alice@ acme.example", "ceo[at]acme.com", "ceo (at) acme.com", "ceo(AT)acme[dot]com", "ceo [ at ] acme (dot) com", "ceo{at}acme", "ceo<at>acme.com", "ceo［at］acme.com", "ceo[@]acme.com", "ceo at acme dot com", "CEO AT ACME DOT COM", "https://evil.example", "u:0123", "r:general", "t:acme.com", "a:room:r:general"},
	} {
		for _, name := range names {
			err := ubl.CheckName(name)
			if ubl.CodeOf(err) != ubl.CodeValidation || !strings.Contains(err.Error(), rule) {
				t.Errorf("CheckName(%q) = %v, want %q", name, err, rule)
			}
		}
	}
	if err := ubl.CheckMemberName(strings.Repeat("é", 65)); ubl.CodeOf(err) != ubl.CodeValidation || ubl.CheckMemberName(strings.Repeat("é", 64)) != nil {
		t.Errorf("a name of 65 characters: %v", err)
	}
}

// TestFitMemberName: what a provider calls somebody becomes a name, or none.
func TestFitMemberName(t *testing.T) {
	for text, want := range map[string]string{
		"Ana":                          "Ana",
		"  Ana\n Müller\t":             "Ana Müller",
		"\u202enimda":                  "nimda",
		"A\u200bna":                    "Ana",
		"A\xffna":                      "Ana",
		strings.Repeat("é", 70):        strings.Repeat("é", 64),
		strings.Repeat("é", 63) + " x": strings.Repeat("é", 63),
		"":                             "",
		" \x00\u2066 ":                 "",
		"ceo@acme.com":                 "",
		"c\u200beo@acme.com":           "",
		"Bоb":                          "", // Cyrillic о
		"u:boss":                       "",
		"ceo@\u200aacme":               "",
		"ceo @ acme.com":               "",
		"ceo[at]acme.com":              "",
	} {
		if got := ubl.FitMemberName(text); got != want {
			t.Errorf("FitMemberName(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestShownName: what was stored before there were rules is shown without what can't be
// seen, and not at all where it says to be another's address.
func TestShownName(t *testing.T) {
	for stored, want := range map[string]string{
		"Ana": "Ana", "команда QA": "команда QA", "\u202enimda": "nimda", "A\u200bna\u2069": "Ana", "a\x1b[2Jb": "a[2Jb",
		"ceo@acme.com": "", "ceo\u200b@acme.com": "", "": "", "\u200b": "", "𝐀na": "𝐀na",
	} {
		if got := ubl.ShownName(stored); got != want {
			t.Errorf("ShownName(%q) = %q, want %q", stored, got, want)
		}
	}
}

// TestSkeleton: names that look the same have one, others have two.
func TestIntroduced(t *testing.T) {
	for want, m := range map[string]ubl.Member{
		"Ana":             {UserID: "u:1", Name: "Ana", Email: "ana@example.com"},
		"ana@example.com": {UserID: "u:1", Email: "ana@example.com"},
		"u:1":             {UserID: "u:1"},
		"Ana (unproven)":  {UserID: "u:1", Name: "Ana", Email: "ceo@example.com", Unproven: true},
		"u:1 (unproven)":  {UserID: "u:1", Email: "ceo@example.com", Unproven: true},
	} {
		if got := m.Introduced(); got != want {
			t.Errorf("%+v is introduced as %q, want %q", m, got, want)
		}
	}
}

func TestSkeleton(t *testing.T) {
	for _, same := range [][]string{
		{"paypal", "раураl", "PAYPAL", "pаypal", "payp\u200bal"},
		{"Bob", "Вob", "bob", " Bob  ", "𝐁ob"},
		{"modern", "rnodern"}, {"Ill", "lll", "I11"}, {"сосо", "coco"}, {"O0", "0O"}, {"Alice", "ALICE", "AIice", "alice"}, {"modern", "MODERN"}, {"Оlga", "OLGA"}, {"é", "e\u0301"}, {"Ana B", "Ana\u00a0B"},
		{"Olivia", "Oli\u0307via", "Olivi\u0307a", "Ol\u0131\u0307via"}, {"Jan", "j\u0307an"}, // the dot takes the place of the letter's own
	} {
		for _, name := range same[1:] {
			if ubl.Skeleton(name) != ubl.Skeleton(same[0]) {
				t.Errorf("%q is %q, and %q is %q", name, ubl.Skeleton(name), same[0], ubl.Skeleton(same[0]))
			}
		}
	}
	var all []string
	for _, name := range []string{"Ana", "Anna", "Ané", "Bob", "Zan", "Z\u0307an", "李", "季", "Анна", "👍", "👎"} {
		if s := ubl.Skeleton(name); slices.Contains(all, s) {
			t.Errorf("%q looks like another: %q", name, s)
		} else {
			all = append(all, s)
		}
	}
}

// FuzzNames: a name that passes has only what can be seen, is shown as it is and is no
// address; whatever is shown, fitted or compared is text.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"Ana", "Bоb", "👩\u200d🔧", "\u202enimda", "ana＠acme.com", "क्\u200dष", "\xff\x00", "𝐀", "1\ufe0f\u20e3", "\u3164"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		shown, fitted, skeleton := ubl.ShownName(name), ubl.FitMemberName(name), ubl.Skeleton(name)
		for _, s := range []string{shown, fitted} {
			if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
				t.Errorf("%q becomes %q", name, s)
			}
		}
		if fitted != "" && ubl.CheckMemberName(fitted) != nil {
			t.Errorf("%q is fitted to %q, which is no name: %v", name, fitted, ubl.CheckMemberName(fitted))
		}
		if ubl.CheckName(name) == nil && (shown != name || skeleton == "" || strings.ContainsAny(name, "\u200b\u2060\ufeff\u00ad\u202e")) {
			t.Errorf("%q is a name, is shown as %q and looks like %q", name, shown, skeleton)
		}
	})
}

func BenchmarkCheckName(b *testing.B) {
	for b.Loop() {
		_ = ubl.CheckName("Ana Müller (QA)")
	}
}

func BenchmarkSkeleton(b *testing.B) {
	for b.Loop() {
		_ = ubl.Skeleton("Ana Müller (QA)")
	}
}
