package check

// maxCard is the most digits of a card number.
const maxCard = 19

// networks are the payment card networks: a range of the first four digits and
// the lengths that they use.
var networks = []struct {
	from, to int
	lengths  []int
}{
	{2221, 2720, []int{16}},             // Mastercard
	{3000, 3059, []int{14}},             // Diners Club
	{3400, 3499, []int{15}},             // American Express
	{3528, 3589, []int{16, 17, 18, 19}}, // JCB
	{3600, 3699, []int{14}},             // Diners Club
	{3700, 3799, []int{15}},             // American Express
	{3800, 3899, []int{14}},             // Diners Club
	{4000, 4999, []int{13, 16, 19}},     // Visa
	{5100, 5599, []int{16}},             // Mastercard
	{6011, 6011, []int{16, 17, 18, 19}}, // Discover
	{6200, 6299, []int{16, 17, 18, 19}}, // UnionPay
	{6440, 6599, []int{16, 17, 18, 19}}, // Discover
}

// hasCard looks at every place where a number begins, and reads at most 19
// digits on from there, in groups that a space or hyphen parts.
func hasCard(text string) bool {
	for i := range len(text) {
		if isDigit(text[i]) && starts(text, i) && cardAt(text[i:]) {
			return true
		}
	}
	return false
}

func cardAt(s string) bool {
	var digits [maxCard]byte
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case isDigit(s[i]) && n < maxCard:
			digits[n] = s[i] - '0'
			n++
			if (i+1 == len(s) || !isAlnum(s[i+1])) && isCard(digits[:n]) {
				return true
			}
		case (s[i] == ' ' || s[i] == '-') && i+1 < len(s) && isDigit(s[i+1]):
		default:
			return false
		}
	}
	return false
}

func isCard(digits []byte) bool {
	if len(digits) < 13 {
		return false
	}
	prefix := 0
	for _, d := range digits[:4] {
		prefix = prefix*10 + int(d)
	}
	for _, network := range networks {
		if prefix < network.from || prefix > network.to {
			continue
		}
		for _, n := range network.lengths {
			if n == len(digits) {
				return luhn(digits)
			}
		}
	}
	return false
}

// luhn is the checksum of ISO/IEC 7812.
func luhn(digits []byte) bool {
	sum := 0
	for i, d := range digits {
		v := int(d)
		if (len(digits)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// ibanLengths is the length of a country's account numbers, from the registry
// of ISO 13616.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
	"IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
	"PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19,
	"SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// maxIBAN is the longest of them.
const maxIBAN = 32

// hasIBAN looks at every place where a country's letters begin a word, and reads
// as many letters and digits as the country has, single spaces left out.
func hasIBAN(text string) bool {
	for i := 0; i+4 <= len(text); i++ {
		if n := ibanLengths[text[i:i+2]]; n > 0 && starts(text, i) && ibanAt(text[i:], n) {
			return true
		}
	}
	return false
}

func ibanAt(s string, length int) bool {
	var number [maxIBAN]byte
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c) || c >= 'A' && c <= 'Z':
			number[n] = c
			if n++; n == length {
				return (i+1 == len(s) || !isAlnum(s[i+1])) && mod97(number[:n]) == 1
			}
		case c == ' ' && n > 0 && s[i-1] != ' ':
		default:
			return false
		}
	}
	return false
}

// mod97 is the checksum of ISO 13616: the first four characters go last, and
// letters count from 10.
func mod97(number []byte) int {
	rest := 0
	for i := range number {
		c := number[(i+4)%len(number)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}
