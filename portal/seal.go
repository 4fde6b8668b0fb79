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

// sealer keeps secrets from whoever reads the store, an export or a backup. All
// nodes of a cluster have the same key, so each opens what another sealed.
type sealer struct {
	aead   cipher.AEAD
	macKey []byte
	random io.Reader
}

func newSealer(key []byte, random io.Reader) (*sealer, error) {
	if len(key) < 32 {
		return nil, errors.New("couldn't make the sealing key: the node's key is shorter than 32 bytes")
	}
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
	macKey, err := hkdf.Key(sha256.New, key, nil, macLabel, 32)
	if err != nil {
		return nil, fmt.Errorf("couldn't make the key of secrets' MACs: %w", err)
	}
	return &sealer{aead, macKey, random}, nil
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
	out := make([]byte, 1+s.aead.NonceSize(), 1+s.aead.NonceSize()+len(plain)+s.aead.Overhead())
	out[0] = sealVersion
	nonce := out[1:]
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return nil, fmt.Errorf("couldn't seal: %w", err)
	}
	return s.aead.Seal(out, nonce, plain, p.bytes()), nil
}

// mac is the same for the same secret, and says nothing about it to who lacks the
// key; nothing has none.
func (s *sealer) mac(p purpose, plain []byte) string {
	if len(plain) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, s.macKey)
	_, _ = h.Write(p.bytes())
	_, _ = h.Write(plain)
	return hex.EncodeToString(h.Sum(nil))
}

// errSealed is all that is told about something that doesn't open.
var errSealed = errors.New("couldn't open what is sealed: it is for another purpose, or sealed under another key")

// open decrypts what was sealed for the purpose.
func (s *sealer) open(p purpose, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	n := 1 + s.aead.NonceSize()
	if sealed[0] != sealVersion || len(sealed) < n {
		return nil, errSealed
	}
	plain, err := s.aead.Open(nil, sealed[1:n], sealed[n:], p.bytes())
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}
