package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// kind is what a stamped value is. Each has a key of its own, so that none passes for another.
type kind string

const (
	clientKind  kind = "client id v1"
	secretKind  kind = "client secret v1"
	formKind    kind = "form v1"
	codeKind    kind = "code v1"
	refreshKind kind = "refresh token v1"
)

// secretBytes is how much is drawn of what nobody may guess.
const secretBytes = 32

// maxStamped bounds a value that somebody brings, in bytes: a form has a whole request in it.
const maxStamped = 32 << 10

// errStamp looks the same whatever is wrong.
var errStamp = errors.New("the value is not one that this server has stamped")

// stamp writes a value that nobody but a node can have made: JSON and its MAC, both base64url.
func (s *Server) stamp(k kind, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("couldn't write a %s: %w", k, err)
	}
	text := base64.RawURLEncoding.EncodeToString(data)
	return text + "." + base64.RawURLEncoding.EncodeToString(mac(s.Keys(string(k))[0], text)), nil
}

// read opens what stamp has made of the same kind, by this key or one before it.
func (s *Server) read(k kind, value string, v any) error {
	if len(value) > maxStamped {
		return errStamp
	}
	text, sum, _ := strings.Cut(value, ".")
	sent, err := base64.RawURLEncoding.Strict().DecodeString(sum)
	if err != nil || !s.made(k, text, sent) {
		return errStamp
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || json.Unmarshal(data, v) != nil {
		return errStamp
	}
	return nil
}

// made reports whether a MAC is that of a text, by any of the keys.
func (s *Server) made(k kind, text string, sum []byte) bool {
	ok := false
	for _, key := range s.Keys(string(k)) {
		ok = hmac.Equal(mac(key, text), sum) || ok
	}
	return ok
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// draw is a secret as base64url.
func (s *Server) draw() (string, error) {
	var b [secretBytes]byte
	if _, err := io.ReadFull(s.Random, b[:]); err != nil {
		return "", fmt.Errorf("couldn't draw something secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// hashOf needs no salt: what it hashes has 256 random bits, or is no secret.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
