package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPII tells what is found in which text; numbers are the well-known examples
// of their standards.
func TestPII(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"the meeting is at 10:30 today": "",

		"write to ana@example.com, please": "email",
		"ana.souza+ubl@mail.example.co.uk": "email",
		"see golang.org/x/mod@v0.41.0":     "",
		"follow @ana on the fediverse":     "",
		"a@b":                              "",

		"call +49 30 901820 today":         "phone",
		"call (212) 555-0123 today":        "phone",
		"212-555-0123":                     "phone",
		"on 2026-01-07 it was 12-34-56":    "",
		"1+2345678901 = 2345678902":        "",
		"commit 4155550123456 of 20260107": "",

		"card 4111 1111 1111 1111":            "card",
		"card 4111-1111-1111-1111.":           "card",
		"378282246310005":                     "card",
		"10 4111111111111111":                 "card",
		"4111 1111 1111 1112":                 "", // checksum
		"9999 9999 9999 9995":                 "", // no network's
		"x4111111111111111":                   "",
		"3.4111111111111111":                  "",
		"41111111111111111111111111111111111": "",

		"IBAN DE89 3704 0044 0532 0130 00 AT THE BANK": "iban",
		"GB82WEST12345698765432":                       "iban",
		"GB82WEST12345698765433":                       "", // checksum
		"DE89 3704 0044 0532 0130":                     "", // too short for Germany
		"XX82WEST12345698765432":                       "", // no country

		"ssn 123-45-6789": "ssn",
		"666-45-6789":     "",
		"123-00-6789":     "",

		"CPF 529.982.247-25": "cpf",
		"CPF 529.982.247-26": "",
		"111.111.111-11":     "",

		"ana@example.com, 4111111111111111": "card,email",
	} {
		if got := strings.Join(findPII(text), ","); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// TestIBANs makes account numbers of every country with the right check digits,
// finds them in any text, and not where a digit is another.
func TestIBANs(t *testing.T) {
	countries := slices.Sorted(maps.Keys(ibanLengths))
	rapid.Check(t, func(t *rapid.T) {
		country := rapid.SampledFrom(countries).Draw(t, "country")
		account := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789ABCXYZ")), ibanLengths[country]-4, ibanLengths[country]-4, -1).Draw(t, "account")
		number := fmt.Sprintf("%s%02d%s", country, 98-mod97([]byte(country+"00"+account)), account)
		before, after := words().Draw(t, "before"), words().Draw(t, "after")
		if !hasIBAN(before + " " + number + ", " + after) {
			t.Fatalf("%s was not found", number)
		}
		wrong := []byte(number)
		at := rapid.IntRange(2, len(wrong)-1).Draw(t, "at")
		if !isDigit(wrong[at]) {
			return
		}
		wrong[at] = '0' + (wrong[at]-'0'+1)%10
		if hasIBAN(string(wrong)) {
			t.Fatalf("%s was found in spite of its checksum", wrong)
		}
	})
}

// TestCards does the same for card numbers in groups of any size.
func TestCards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := append([]byte("4"), rapid.SliceOfN(rapid.ByteRange('0', '9'), 14, 14).Draw(t, "digits")...)
		digits = append(digits, '0')
		for !luhnOf(digits) {
			digits[15]++
		}
		grouped := group(t, digits)
		if !hasCard("x " + grouped + " y") {
			t.Fatalf("%s was not found", grouped)
		}
		at := rapid.IntRange(1, 15).Draw(t, "at")
		digits[at] = '0' + (digits[at]-'0'+1)%10
		if hasCard(string(digits)) {
			t.Fatalf("%s was found in spite of its checksum", digits)
		}
	})
}

func luhnOf(ascii []byte) bool {
	digits := make([]byte, len(ascii))
	for i, c := range ascii {
		digits[i] = c - '0'
	}
	return luhn(digits)
}

func group(t *rapid.T, digits []byte) string {
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && rapid.Bool().Draw(t, "gap") {
			b.WriteString(rapid.SampledFrom([]string{" ", "-"}).Draw(t, "separator"))
		}
		b.WriteByte(c)
	}
	return b.String()
}

// words is text that is no number.
func words() *rapid.Generator[string] { return rapid.StringMatching(`[a-z ]{0,20}`) }
