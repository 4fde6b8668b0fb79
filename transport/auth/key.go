package auth

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"ubl/durable"
)

// maxKeyFile is far above any form a key comes in.
const maxKeyFile = 16 << 10

// Key is a node's Ed25519 key. All nodes of a cluster share one. It signs
// platform tokens and prints as its id, never as itself. After a rotation it
// brings the keys before it along: see rotate.go.
type Key struct {
	private ed25519.PrivateKey
	public  ed25519.PublicKey
	id      string
	// earlier are the keys before this one, newest first.
	earlier []earlierKey
}

// NewKey draws a key.
func NewKey(random io.Reader) (*Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("couldn't draw a key: %w", err)
	}
	return keyOf(ed25519.NewKeyFromSeed(seed)), nil
}

// ParseKey reads a key from PKCS#8 PEM (as "openssl genpkey -algorithm ed25519"
// writes it), with earlier ones below it, or from the base64 of its 32-byte seed.
func ParseKey(data []byte) (*Key, error) {
	if block, rest := pem.Decode(data); block != nil {
		return parsePEM(block, rest)
	}
	seed, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("not an Ed25519 key: neither PKCS#8 PEM nor the base64 of 32 bytes")
	}
	return keyOf(ed25519.NewKeyFromSeed(seed)), nil
}

func parseBlock(block *pem.Block) (*Key, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("the PEM holds no PKCS#8 private key")
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("the private key is not an Ed25519 key")
	}
	return keyOf(private), nil
}

func keyOf(private ed25519.PrivateKey) *Key {
	public := private.Public().(ed25519.PublicKey)
	return &Key{private: private, public: public, id: KeyID(public)}
}

// KeyID names a key without telling it: 16 hex digits of the public key's hash.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// ID is the key's [KeyID].
func (k *Key) ID() string { return k.id }

// Signer signs what isn't a token: backups. It shows the public key alone.
func (k *Key) Signer() crypto.Signer { return signer{k} }

type signer struct{ key *Key }

func (s signer) Public() crypto.PublicKey { return s.key.public }

func (s signer) Sign(random io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return s.key.private.Sign(random, message, opts)
}

func (s signer) String() string   { return s.key.String() }
func (s signer) GoString() string { return s.key.String() }

// Derive is a key of 32 bytes for another purpose, the same on every node: HKDF
// with SHA-256. Who has it learns nothing of the key or of other purposes.
func (k *Key) Derive(purpose string) []byte {
	out, err := hkdf.Key(sha256.New, k.private.Seed(), nil, "ubl "+purpose, 32)
	if err != nil { // only an absurd length is refused
		panic(fmt.Sprintf("auth: couldn't derive a key: %v", err))
	}
	return out
}

// String keeps the key out of logs.
func (k *Key) String() string { return "ed25519:" + k.id }

// GoString keeps the key out of logs.
func (k *Key) GoString() string { return k.String() }

// LoadKey reads the key file. A file that others than its owner can read is
// refused: whoever reads it can be anyone here.
func LoadKey(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("couldn't open the key: %w", err)
	}
	defer f.Close()
	if err := checkMode(f); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("couldn't read the key: %w", err)
	}
	k, err := ParseKey(data)
	if err != nil {
		return nil, &KeyFileError{path, err}
	}
	return k, nil
}

// KeyFileError is of a key file that holds no key.
type KeyFileError struct {
	Path string
	Err  error
}

func (e *KeyFileError) Error() string { return fmt.Sprintf("couldn't use %s: %v", e.Path, e.Err) }

func (e *KeyFileError) Unwrap() error { return e.Err }

// checkMode looks at the opened file, so that it cannot be swapped in between.
func checkMode(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("couldn't look at the key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%s is open to others (mode %04o): run chmod 600 on it, and make a new key if it may have been read", f.Name(), mode)
	}
	return nil
}

// LoadOrCreateKey reads the key file, or draws a key and writes it where there
// is none. Several processes may race: they end up with the same key.
func LoadOrCreateKey(path string, random io.Reader) (k *Key, created bool, err error) {
	k, err = LoadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, false, err
	}
	if k, err = NewKey(random); err != nil {
		return nil, false, err
	}
	switch err = k.writeNew(path); {
	case errors.Is(err, fs.ErrExist): // another process was first
		k, err = LoadKey(path)
		return k, false, err
	case err != nil:
		return nil, false, fmt.Errorf("couldn't write the key: %w", err)
	}
	return k, true, nil
}

// SaveKey writes a key that came from another node of the cluster. A key that
// is there already must be the same, or one before or after it.
func SaveKey(path string, data []byte) error {
	k, err := ParseKey(data)
	if err != nil {
		return err
	}
	err = k.writeNew(path)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	have, err := LoadKey(path)
	if err == nil && !slices.Contains(have.IDs(), k.ID()) && !slices.Contains(k.IDs(), have.ID()) {
		err = fmt.Errorf("%s holds another key than the cluster's", path)
	}
	return err
}

// FollowKey puts a key that came from another node in place of the one in the file, where
// it follows that: where it brings it along as an earlier one. It reports whether it did.
func FollowKey(path string, data []byte) (bool, error) {
	k, err := ParseKey(data)
	if err != nil {
		return false, err
	}
	have, err := LoadKey(path)
	if err != nil || have.ID() == k.ID() || !slices.Contains(k.IDs(), have.ID()) {
		return false, err
	}
	return true, ReplaceKey(path, k)
}

// writeNew makes the key's file: a crash leaves either no key or a whole one, and
// an existing key is never replaced.
func (k *Key) writeNew(path string) error {
	data, err := k.PEM()
	if err != nil {
		return err
	}
	return durable.Create(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// PEM is the key as its file has it, with those before it: a secret, for other
// nodes alone.
func (k *Key) PEM() ([]byte, error) {
	var out []byte
	for _, e := range k.all() {
		der, err := x509.MarshalPKCS8PrivateKey(e.key.private)
		if err != nil {
			return nil, err
		}
		block := &pem.Block{Type: "PRIVATE KEY", Bytes: der}
		if !e.until.IsZero() {
			block.Headers = map[string]string{acceptedUntil: e.until.UTC().Format(time.RFC3339)}
		}
		out = append(out, pem.EncodeToMemory(block)...)
	}
	return out, nil
}
