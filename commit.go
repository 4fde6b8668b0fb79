package ubl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Salt makes the hash of something private say nothing to who guesses at it. It is stored and
// served with the record that it belongs to, and stands in no atom. As JSON it is 32 lower-case
// hex digits.
type Salt [16]byte

// NewSalt draws one.
func NewSalt(random io.Reader) (s Salt, err error) {
	if _, err := io.ReadFull(random, s[:]); err != nil {
		return s, fmt.Errorf("couldn't draw a salt: %w", err)
	}
	return s, nil
}

// Commit is "b:" and the hex SHA-256 of the salt followed by the content: who has both can
// check it, nobody else can tell what it stands for.
func (s Salt) Commit(content []byte) string {
	h := sha256.New()
	h.Write(s[:])
	h.Write(content)
	return "b:" + hex.EncodeToString(h.Sum(nil))
}

// String is its form in JSON.
func (s Salt) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (s Salt) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote, and nothing else.
func (s *Salt) UnmarshalText(text []byte) error {
	var read Salt
	data, err := hex.DecodeString(string(text))
	if err != nil || copy(read[:], data) != len(data) || read.String() != string(text) {
		return fmt.Errorf("a salt is not %d lower-case hex digits", 2*len(read))
	}
	*s = read
	return nil
}
