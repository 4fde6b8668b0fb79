package mesh

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const (
	secretBytes = 32
	hidden      = "[secret]"
)

var (
	errNoSecret  = errors.New("there is no cluster secret")
	errBadSecret = errors.New("the cluster secret must be 32 bytes in standard base64 (44 characters)")
)

// Secret is the cluster's secret: who has it can be a node of the cluster. It
// shows itself nowhere, be it text, logs or JSON. The zero Secret is none.
type Secret struct {
	// A function, because fmt doesn't call our methods where the Secret is in an
	// unexported field, and prints what is behind a pointer for some verbs. Of a
	// function it never prints more than the address.
	key func() []byte
}

// ParseSecret reads a secret as NewSecret wrote it; white space around it is
// ignored. The error never shows what was read.
func ParseSecret(text string) (Secret, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != secretBytes || len(strings.TrimSpace(text)) != base64.StdEncoding.EncodedLen(secretBytes) {
		return Secret{}, errBadSecret
	}
	return Secret{key: func() []byte { return raw }}, nil
}

// NewSecret makes a secret, as text for a file or a variable.
func NewSecret(random io.Reader) (string, error) {
	var key [secretBytes]byte
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return "", fmt.Errorf("couldn't make a secret: %w", err)
	}
	return base64.StdEncoding.EncodeToString(key[:]), nil
}

// derive makes a key for one purpose. Nobody learns one purpose's key, or the
// secret, from another's.
func (s Secret) derive(purpose string) ([]byte, error) {
	if s.key == nil {
		return nil, errNoSecret
	}
	return hkdf.Key(sha256.New, s.key(), nil, "ubl cluster: "+purpose, 32)
}

// String, GoString, LogValue and MarshalText say that there is a secret, not which.
func (s Secret) String() string               { return hidden }
func (s Secret) GoString() string             { return hidden }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
