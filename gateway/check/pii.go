package check

import "strings"

// pii is the table of what counts as personal data: a label and how it is found,
// in the order of the labels.
var pii = []struct {
	label string
	found func(text string) bool
}{
	{"card", hasCard},   // payment card: the networks' prefixes and lengths, Luhn
	{"cpf", hasCPF},     // Brazil's person number as ddd.ddd.ddd-dd, check digits
	{"email", hasEmail}, // address of mail
	{"iban", hasIBAN},   // bank account: the registry's lengths, checksum mod 97
	{"phone", hasPhone}, // + and 8 to 15 digits, or ddd-ddd-dddd as in North America
	{"ssn", hasSSN},     // US person number as ddd-dd-dddd, without the unused ranges
}

// findPII lists the labels that a text gives cause for.
func findPII(text string) []string {
	var labels []string
	for _, kind := range pii {
		if kind.found(text) {
			labels = append(labels, kind.label)
		}
	}
	return labels
}

var (
	email = lazily(`[A-Za-z0-9._%+-]@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?:[^A-Za-z0-9]|$)`)
	// phone is + and digits in any grouping, or the North American grouping.
	phone = lazily(`(?:^|[^0-9A-Za-z])(?:\+[1-9](?:[ .()-]{0,2}[0-9]){7,14}|(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[0-9]{3}[-. ][0-9]{4})(?:[^0-9A-Za-z]|$)`)
	ssn   = lazily(`\b(?:00[1-9]|0[1-9][0-9]|[1-578][0-9]{2}|6[0-57-9][0-9]|66[0-57-9])-(?:0[1-9]|[1-9][0-9])-(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})\b`)
	cpf   = lazily(`\b[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}\b`)
)

func hasEmail(text string) bool { return strings.Contains(text, "@") && email().MatchString(text) }

func hasPhone(text string) bool { return phone().MatchString(text) }

func hasSSN(text string) bool { return ssn().MatchString(text) }

func hasCPF(text string) bool {
	for rest := text; ; {
		at := cpf().FindStringIndex(rest)
		if at == nil {
			return false
		}
		if cpfChecks(rest[at[0]:at[1]]) {
			return true
		}
		rest = rest[at[1]:]
	}
}

// cpfChecks computes both check digits; numbers of one digit repeated are not
// given out.
func cpfChecks(s string) bool {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
	if strings.Count(digits, digits[:1]) == len(digits) {
		return false
	}
	for n := 9; n < 11; n++ {
		sum := 0
		for i := range n {
			sum += int(digits[i]-'0') * (n + 1 - i)
		}
		if sum*10%11%10 != int(digits[n]-'0') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlnum(c byte) bool {
	return isDigit(c) || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// starts reports whether a word begins at i, and no decimal place.
func starts(s string, i int) bool { return i == 0 || !isAlnum(s[i-1]) && s[i-1] != '.' }
