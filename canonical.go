package ubl

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// maxSafeInteger is 2^53−1: beyond it two different integers can share one
// JSON number, and so one hash.
const maxSafeInteger = "9007199254740991"

var errUnsafeInteger = errors.New("an integer is beyond ±(2^53−1)")

// Canonical rewrites JSON in the one form that is hashed: RFC 8785 (JCS).
// Duplicate keys, lone surrogates, invalid UTF-8 and integers beyond
// ±(2^53−1) are refused; a valid result is canonical itself.
func Canonical(json []byte) ([]byte, error) {
	if !utf8.Valid(json) {
		return nil, errors.New("couldn't make JSON canonical: it is not valid UTF-8")
	}
	if unsafeInteger(json) {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", errUnsafeInteger)
	}
	out, err := jcs.Transform(json)
	if err != nil {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", err)
	}
	// 1e20 is written out in digits and so becomes an integer only here.
	if unsafeInteger(out) {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", errUnsafeInteger)
	}
	return out, nil
}

// unsafeInteger finds a number of digits only that is beyond ±(2^53−1). It
// looks at tokens and leaves syntax to the parser.
func unsafeInteger(json []byte) bool {
	inString := false
	for i := 0; i < len(json); i++ {
		switch c := json[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && c >= '0' && c <= '9':
			end := i
			plain := true
			for ; end < len(json) && isNumberByte(json[end]); end++ {
				plain = plain && json[end] >= '0' && json[end] <= '9'
			}
			if plain && beyondSafe(json[i:end]) {
				return true
			}
			i = end - 1
		}
	}
	return false
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

func beyondSafe(digits []byte) bool {
	if len(digits) != len(maxSafeInteger) {
		return len(digits) > len(maxSafeInteger)
	}
	return string(digits) > maxSafeInteger
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a canonical JSON string. s must be valid UTF-8:
// every border checks that before a value comes this far.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
