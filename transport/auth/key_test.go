package auth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.key")
	made, created, err := LoadOrCreateKey(path, rand.Reader)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	found, created, err := LoadOrCreateKey(path, strings.NewReader(""))
	if err != nil || created {
		t.Fatalf("created again: %v, %v", created, err)
	}
	if made.ID() != found.ID() || !made.private.Equal(found.private) {
		t.Error("found another key than was made")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("the directory holds %v, want the key alone", left)
	}
}

func TestKeyFileOpenToOthers(t *testing.T) {
	for _, mode := range []os.FileMode{0o644, 0o640, 0o660, 0o604, 0o601, 0o777} {
		path := filepath.Join(t.TempDir(), "identity.key")
		if _, _, err := LoadOrCreateKey(path, rand.Reader); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, created, err := LoadOrCreateKey(path, rand.Reader)
		if err == nil || created || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: created %v, %v", mode, created, err)
		}
	}
}

func TestKeyFileNeverReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.key")
	for _, content := range []string{"", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, created, err := LoadOrCreateKey(path, rand.Reader); err == nil || created {
			t.Errorf("%q passed for a key", content)
		}
		if kept, _ := os.ReadFile(path); string(kept) != content {
			t.Errorf("%q was replaced", content)
		}
	}
}

func TestKeyFileRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.key")
	ids := make([]string, 8)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			if k, _, err := LoadOrCreateKey(path, rand.Reader); err == nil {
				ids[i] = k.ID()
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("racing processes have keys %v", ids)
		}
	}
}

func TestKeyNotWritten(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := LoadOrCreateKey(filepath.Join(dir, "identity.key"), strings.NewReader("too short")); err == nil {
		t.Error("made a key of nine bytes")
	}
	if _, _, err := LoadOrCreateKey(filepath.Join(dir, "missing", "identity.key"), rand.Reader); err == nil {
		t.Error("wrote a key into no directory")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left %v behind", left)
	}
}

func TestParseKey(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, 32)
	want, err := NewKey(bytes.NewReader(seed))
	if err != nil {
		t.Fatal(err)
	}
	inPEM, err := want.PEM()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"PEM":                   string(inPEM),
		"seed":                  base64.StdEncoding.EncodeToString(seed),
		"seed with a line end":  base64.StdEncoding.EncodeToString(seed) + "\n",
		"PEM after a comment":   "# the node's key\n" + string(inPEM),
		"seed between blanks  ": " " + base64.StdEncoding.EncodeToString(seed) + " ",
	} {
		if k, err := ParseKey([]byte(data)); err != nil || k.ID() != want.ID() {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}

	elliptic, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	der, _ := x509.MarshalPKCS8PrivateKey(elliptic)
	for name, data := range map[string]string{
		"short seed":   base64.StdEncoding.EncodeToString(seed[:31]),
		"long seed":    base64.StdEncoding.EncodeToString(append(seed, 1)),
		"another kind": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"hex":          strings.Repeat("07", 32),
	} {
		if _, err := ParseKey([]byte(data)); err == nil {
			t.Errorf("%s passed for a key", name)
		} else if strings.Contains(err.Error(), data) {
			t.Errorf("%s: the error tells the key", name)
		}
	}
}

// However a key is printed, the secret stays in.
func TestKeyPrintsItsID(t *testing.T) {
	k, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, k); got != "ed25519:"+k.ID() {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

// TestDerivedKeysStay: sessions and sealed secrets outlive a release, so what is
// derived from a key may never change. The vector is RFC 5869's HKDF with SHA-256
// over the seed 00 01 … 1f, without salt, info "ubl sessions".
func TestDerivedKeysStay(t *testing.T) {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(i)
	}
	k, err := ParseKey([]byte(base64.StdEncoding.EncodeToString(seed)))
	if err != nil {
		t.Fatal(err)
	}
	const want = "a0b7c1633af25285275fae0af8fad46b794cb47458336b6605a9a3f913b8e79a"
	if got := hex.EncodeToString(k.Derive("sessions")); got != want {
		t.Errorf("the key for sessions is %s, want %s", got, want)
	}
	if bytes.Equal(k.Derive("sessions"), k.Derive("secrets")) {
		t.Error("two purposes have one key")
	}
}
