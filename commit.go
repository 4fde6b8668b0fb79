package ubl

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

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
