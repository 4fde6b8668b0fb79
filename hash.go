package ubl

import (
	"crypto/sha256"
	"encoding/hex"
)

// Genesis is the head of an empty ledger.
const Genesis = "h:genesis"

// Hashes are lower-case hex SHA-256 behind a prefix that says of what: "b:" a
// body, "c:" an atom, "h:" a head. The prefix is part of what later hashes
// cover.

// BodyHash is the hash of a body given as canonical JSON.
func BodyHash(canonical []byte) string { return prefixedHash("b:", canonical) }

// TextHash is the [BodyHash] of {name: text}, as atoms quote what they don't show:
// a document's "content" and "title", a "query". The text is valid UTF-8, and the
// name plain.
func TextHash(name, text string) string { return BodyHash(namedText(name, text)) }

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
