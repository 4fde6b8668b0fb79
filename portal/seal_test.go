package portal

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"ubl"
)

// golden is "hunter2" sealed in version 1 under a key of 32 bytes 0x01 with a nonce
// of 12 bytes 0x02. What is stored today must open for ever.
const golden = "01020202020202020202020202c1e23427e8af2dcf8ab3b284ad4728a5a41db09c09bb96"

var goldenPurpose = purpose{kind: "secret", tenant: "t:example.com", server: "ev", origin: "https://ev.example"}

// oneKey is the node's key where it was never rotated.
func oneKey(key byte) func() [][]byte {
	return func() [][]byte { return [][]byte{bytes.Repeat([]byte{key}, 32)} }
}

func testSealer(t *testing.T, key byte) *sealer {
	t.Helper()
	s, err := newSealer(oneKey(key), strings.NewReader(strings.Repeat("\x02", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealGolden(t *testing.T) {
	s := testSealer(t, 1)
	sealed, err := s.seal(goldenPurpose, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(sealed); got != golden {
		t.Errorf("sealed it is %s", got)
	}
	old, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.open(goldenPurpose, old); err != nil || string(plain) != "hunter2" {
		t.Errorf("the golden secret opens as %q, %v", plain, err)
	}
}

// TestSealedForOnePurpose: no change of what a secret is for, of its bytes or of
// the key opens it.
func TestSealedForOnePurpose(t *testing.T) {
	s := testSealer(t, 1)
	sealed, err := s.seal(goldenPurpose, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]purpose{
		"another kind":     {"grant", "t:example.com", "ev", "https://ev.example", ""},
		"another tenant":   {"secret", "t:example.org", "ev", "https://ev.example", ""},
		"another server":   {"secret", "t:example.com", "ew", "https://ev.example", ""},
		"another origin":   {"secret", "t:example.com", "ev", "https://evil.example", ""},
		"another user":     {"secret", "t:example.com", "ev", "https://ev.example", "u:bob"},
		"shifted boundary": {"secret", "t:example.come", "v", "https://ev.example", ""},
	} {
		if _, err := s.open(p, sealed); err == nil {
			t.Errorf("it opens for %s", name)
		}
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := s.open(goldenPurpose, bad); err == nil {
			t.Errorf("it opens with byte %d changed", i)
		}
		if _, err := s.open(goldenPurpose, sealed[:i]); i > 0 && err == nil {
			t.Errorf("it opens cut off at %d", i)
		}
	}
	if _, err := testSealer(t, 3).open(goldenPurpose, sealed); err == nil {
		t.Error("it opens under another key")
	}
}

// TestSealAfterRotation: what was sealed before opens, what is sealed now doesn't
// open for who only has the old key.
func TestSealAfterRotation(t *testing.T) {
	keys := oneKey(1)()
	s := testSealer(t, 1)
	s.keys = func() [][]byte { return keys }
	before, err := s.seal(goldenPurpose, []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	keys = append(oneKey(2)(), keys...)
	if plain, err := s.open(goldenPurpose, before); err != nil || string(plain) != "hunter2" {
		t.Errorf("opened %q, %v", plain, err)
	}
	after, err := s.seal(goldenPurpose, []byte("hunter3"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.open(goldenPurpose, after); err != nil || string(plain) != "hunter3" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if _, err := testSealer(t, 1).open(goldenPurpose, after); err == nil {
		t.Error("the old key still opens what is sealed now")
	}
}

func TestSealNothing(t *testing.T) {
	s := testSealer(t, 1)
	if sealed, err := s.seal(goldenPurpose, nil); sealed != nil || err != nil {
		t.Errorf("nothing is sealed as %x, %v", sealed, err)
	}
	if plain, err := s.open(goldenPurpose, nil); plain != nil || err != nil {
		t.Errorf("nothing opens as %x, %v", plain, err)
	}
	if _, err := newSealer(func() [][]byte { return [][]byte{make([]byte, 31)} }, nil); err == nil {
		t.Error("a short key is taken")
	}
	if ubl.CodeOf(errSealed) != ubl.CodeInternal {
		t.Error("what doesn't open is the caller's fault")
	}
}
