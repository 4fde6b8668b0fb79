package mesh

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const (
	secretBytes = 32
	hidden      = "[secret]"
	// maxKeys is far above what a rotation needs, which is two.
	maxKeys = 8
)

var (
	errNoSecret  = errors.New("there is no cluster secret")
	errBadSecret = errors.New("the cluster secret must be 32 bytes in standard base64 (44 characters); while it is rotated, the new one and the old one below it, a line each")
)

// Secret is the cluster's secret: who has it can be a node of the cluster. While
// it is rotated it has several keys: a node uses the first, and accepts others
// that use any of them. It shows itself nowhere, be it text, logs or JSON. The
// zero Secret is none.
type Secret struct {
	// A function, because fmt doesn't call our methods where the Secret is in an
	// unexported field, and prints what is behind a pointer for some verbs. Of a
	// function it never prints more than the address.
	keys func() [][]byte
}

func secretOf(keys [][]byte) Secret { return Secret{keys: func() [][]byte { return keys }} }

// ParseSecret reads a secret as NewSecret wrote it, or several, a line each.
// White space around them is ignored. The error never shows what was read.
func ParseSecret(text string) (Secret, error) {
	var keys [][]byte
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		raw, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(raw) != secretBytes || len(line) != base64.StdEncoding.EncodedLen(secretBytes) || len(keys) == maxKeys {
			return Secret{}, errBadSecret
		}
		keys = append(keys, raw)
	}
	if len(keys) == 0 {
		return Secret{}, errBadSecret
	}
	return secretOf(keys), nil
}

// IDs name the secret's keys, in order, without telling them: 8 hex digits each.
func (s Secret) IDs() []string {
	var ids []string
	for _, k := range s.all() {
		ids = append(ids, hex.EncodeToString(derive(k, "id")[:4]))
	}
	return ids
}

// Select is a secret of the named keys of this one and another, in that order.
// Names of neither's keys are left out.
func (s Secret) Select(other Secret, ids []string) Secret {
	known := map[string][]byte{}
	for _, from := range []Secret{other, s} {
		for i, id := range from.IDs() {
			known[id] = from.all()[i]
		}
	}
	var keys [][]byte
	for _, id := range ids {
		if k := known[id]; k != nil {
			keys = append(keys, k)
		}
	}
	return secretOf(keys)
}

func (s Secret) all() [][]byte {
	if s.keys == nil {
		return nil
	}
	return s.keys()
}

// NewSecret makes a secret, as text for a file or a variable.
func NewSecret(random io.Reader) (string, error) {
	var key [secretBytes]byte
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return "", fmt.Errorf("couldn't make a secret: %w", err)
	}
	return base64.StdEncoding.EncodeToString(key[:]), nil
}

// derived are the secret's keys for one purpose, in order. Nobody learns one
// purpose's key, or the secret, from another's.
func (s Secret) derived(purpose string) ([][]byte, error) {
	var keys [][]byte
	for _, k := range s.all() {
		keys = append(keys, derive(k, purpose))
	}
	if len(keys) == 0 {
		return nil, errNoSecret
	}
	return keys, nil
}

func derive(key []byte, purpose string) []byte {
	out, err := hkdf.Key(sha256.New, key, nil, "ubl cluster: "+purpose, 32)
	if err != nil { // only an absurd length is refused
		panic(fmt.Sprintf("mesh: couldn't derive a key: %v", err))
	}
	return out
}

// String, GoString, LogValue and MarshalText say that there is a secret, not which.
func (s Secret) String() string               { return hidden }
func (s Secret) GoString() string             { return hidden }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(hidden) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
