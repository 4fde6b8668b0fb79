package ubl

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// maxSafeInteger is 2^53−1: beyond it two different integers can share one
// JSON number, and so one hash.
const maxSafeInteger = "9007199254740991"

// maxNesting is how deep arrays and objects may stand in one another: who reads them may
// have a small stack.
const maxNesting = 1000

var (
	errUnsafeInteger = errors.New("an integer is beyond ±(2^53−1)")
	errNesting       = errors.New("it is nested too deep")
)

// Canonical rewrites JSON in the one form that is hashed: RFC 8785 (JCS).
// Duplicate keys, lone surrogates, invalid UTF-8, integers beyond ±(2^53−1) and more
// than 1,000 levels of nesting are refused; a valid result is canonical itself.
func Canonical(json []byte) ([]byte, error) {
	if !utf8.Valid(json) {
		return nil, errors.New("couldn't make JSON canonical: it is not valid UTF-8")
	}
	if err := checkTokens(json, maxNesting); err != nil {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", err)
	}
	out, err := jcs.Transform(json)
	if err != nil {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", err)
	}
	// 1e20 is written out in digits and so becomes an integer only here.
	if err := checkTokens(out, maxNesting); err != nil {
		return nil, fmt.Errorf("couldn't make JSON canonical: %w", err)
	}
	return out, nil
}

// checkTokens finds a number of digits only that is beyond ±(2^53−1), and what is nested
// deeper than so many levels. It looks at tokens and leaves syntax to the parser.
func checkTokens(json []byte, levels int) error {
	inString, depth := false, 0
	for i := 0; i < len(json); i++ {
		switch c := json[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > levels {
				return errNesting
			}
		case c == '}' || c == ']':
			depth--
		case c >= '0' && c <= '9':
			end := i
			plain := true
			for ; end < len(json) && isNumberByte(json[end]); end++ {
				plain = plain && json[end] >= '0' && json[end] <= '9'
			}
			if plain && beyondSafe(json[i:end]) {
				return errUnsafeInteger
			}
			i = end - 1
		}
	}
	return nil
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

// Genesis is the head of an empty ledger.
const Genesis = "h:genesis"

// Hashes are lower-case hex SHA-256 behind a prefix that says of what: "b:" a
// body, "c:" an atom, "h:" a head. The prefix is part of what later hashes
// cover.

// BodyHash is the hash of a body given as canonical JSON.
func BodyHash(canonical []byte) string { return prefixedHash("b:", canonical) }

// namedText is {name: text} as canonical JSON.
func namedText(name, text string) []byte {
	b := append(make([]byte, 0, len(name)+len(text)+16), '{')
	b = append(appendString(b, name), ':')
	return append(appendString(b, text), '}')
}

// CID is the hash of an atom given as canonical JSON without its cid.
func CID(canonical []byte) string { return prefixedHash("c:", canonical) }

// NextHead is the ledger's head after the atom cid: each head covers the one
// before it, so that no atom can be changed, moved or dropped unseen.
func NextHead(head, cid string) string {
	buf := make([]byte, 0, 160)
	buf = append(buf, head...)
	buf = append(buf, ':')
	buf = append(buf, cid...)
	return prefixedHash("h:", buf)
}

func prefixedHash(prefix string, data []byte) string {
	sum := sha256.Sum256(data)
	var out [2 + 2*sha256.Size]byte
	copy(out[:], prefix)
	hex.Encode(out[2:], sum[:])
	return string(out[:])
}

// ValidHash reports whether s is a hash with the prefix, as this package
// writes them.
func ValidHash(prefix, s string) bool {
	if len(s) != len(prefix)+2*sha256.Size || s[:len(prefix)] != prefix {
		return false
	}
	for _, c := range []byte(s[len(prefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Salt keeps a hash in the ledger from telling what it is of. A PIN of four digits is found
// from its bare hash in milliseconds; with 16 random bytes before it, it isn't. A salt is
// stored and served with what it belongs to, never in the ledger, and is removed with it.
//
// The zero Salt stands for none: acts before action.v2 have bare hashes.
type Salt [16]byte

// NewSalt draws a salt.
func NewSalt(random io.Reader) (s Salt, err error) {
	if _, err := io.ReadFull(random, s[:]); err != nil {
		return s, fmt.Errorf("couldn't draw a salt: %w", err)
	}
	return s, nil
}

// Commit is what the ledger says of private content: "b:" and the hex SHA-256 of the salt's
// 16 bytes followed by the content. Who has both can check it; nobody can guess the content
// from it. Without a salt it is the [BodyHash].
func (s Salt) Commit(content []byte) string {
	if s.IsZero() {
		return BodyHash(content)
	}
	h := sha256.New()
	h.Write(s[:])
	h.Write(content)
	var sum [sha256.Size]byte
	return string(hex.AppendEncode([]byte("b:"), h.Sum(sum[:0])))
}

// CommitText is the commitment to {name: text} as canonical JSON: a document's "content"
// and "title", a "query". The text is valid UTF-8, and the name plain.
func (s Salt) CommitText(name, text string) string { return s.Commit(namedText(name, text)) }

// IsZero reports whether there is no salt.
func (s Salt) IsZero() bool { return s == Salt{} }

// String is the salt as it is served: 32 lower-case hex digits, "" for none.
func (s Salt) String() string {
	if s.IsZero() {
		return ""
	}
	return hex.EncodeToString(s[:])
}

var (
	_ encoding.TextMarshaler   = Salt{}
	_ encoding.TextUnmarshaler = (*Salt)(nil)
)

// MarshalText implements [encoding.TextMarshaler].
func (s Salt) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var errSalt = errors.New("a salt is not 32 lower-case hex digits")

// UnmarshalText reads what [Salt.String] writes.
func (s *Salt) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Salt{}
		return nil
	}
	var read Salt
	if len(text) != hex.EncodedLen(len(read)) {
		return errSalt
	}
	if _, err := hex.Decode(read[:], text); err != nil || read.String() != string(text) { // one form: lower case
		return errSalt
	}
	*s = read
	return nil
}
