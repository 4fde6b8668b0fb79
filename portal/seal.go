package portal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"ubl"
)

// sealVersion is the first byte of everything sealed. Version 1: a nonce of 12
// bytes, then AES-256-GCM under HKDF-SHA256 of the node's key.
const sealVersion = 1

// Labels set these keys apart from others that are derived from the same one.
const (
	keyLabel = "ubl portal sealing v1"
	macLabel = "ubl portal secret mac v1"
)

// minKey is how long a node's key is at least.
const minKey = 32

// sealer keeps secrets from whoever reads the store, an export or a backup. All
// nodes of a cluster have the same keys, so each opens what another sealed.
type sealer struct {
	// keys are the node's, newest first: it seals with the first and opens with any.
	keys   func() [][]byte
	random io.Reader
}

func newSealer(keys func() [][]byte, random io.Reader) (*sealer, error) {
	for _, key := range keys() {
		if len(key) < minKey {
			return nil, errors.New("couldn't make the sealing key: the node's key is shorter than 32 bytes")
		}
	}
	return &sealer{keys, random}, nil
}

// aeadOf seals and opens under a key of the node.
func aeadOf(key []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, keyLabel, 32)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the sealing key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the sealing key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the sealing key: %w", err)
	}
	return aead, nil
}

// purpose is what a secret is for. It is bound to it: moved to another tenant,
// server, address or user, a sealed secret doesn't open.
type purpose struct {
	kind   string // secret, grant or state
	tenant ubl.TenantID
	server string
	// origin is the scheme and host that the secret may be shown to: an owner who
	// changes a server's address must not get the secret, or the users' grants, sent
	// there.
	origin string
	user   ubl.UserID
}

// bytes is the purpose without ambiguity.
func (p purpose) bytes() []byte {
	var b []byte
	for _, part := range []string{p.kind, string(p.tenant), p.server, p.origin, string(p.user)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return b
}

// seal encrypts; nothing stays nothing.
func (s *sealer) seal(p purpose, plain []byte) ([]byte, error) {
	if len(plain) == 0 {
		return nil, nil
	}
	aead, err := aeadOf(s.keys()[0])
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(plain)+aead.Overhead())
	out[0] = sealVersion
	nonce := out[1:]
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("couldn't seal: %w", err)
	}
	return aead.Seal(out, nonce, plain, p.bytes()), nil
}

// mac is the same for the same secret until the node's key is rotated, and says
// nothing about it to who lacks the key; nothing has none.
func (s *sealer) mac(p purpose, plain []byte) (string, error) {
	if len(plain) == 0 {
		return "", nil
	}
	key, err := hkdf.Key(sha256.New, s.keys()[0], nil, macLabel, 32)
	if err != nil {
		return "", fmt.Errorf("couldn't make the key of secrets' MACs: %w", err)
	}
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(p.bytes())
	_, _ = h.Write(plain)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// errSealed is all that is told about something that doesn't open.
var errSealed = errors.New("couldn't open what is sealed: it is for another purpose, or sealed under another key")

// open decrypts what was sealed for the purpose.
func (s *sealer) open(p purpose, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	for _, key := range s.keys() {
		aead, err := aeadOf(key)
		if err != nil {
			return nil, err
		}
		n := 1 + aead.NonceSize()
		if sealed[0] != sealVersion || len(sealed) < n {
			return nil, errSealed
		}
		if plain, err := aead.Open(nil, sealed[1:n], sealed[n:], p.bytes()); err == nil {
			return plain, nil
		}
	}
	return nil, errSealed
}
