package mesh

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSecretIsRead(t *testing.T) {
	text, err := NewSecret(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSecret("\n " + text + "\r\n")
	if err != nil || string(s.key()) != strings.Repeat("k", 32) {
		t.Fatalf("couldn't read %q: %v", text, err)
	}
}

func TestBadSecretsAreRefusedUnshown(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"too short":   base64.StdEncoding.EncodeToString(make([]byte, 31)),
		"too long":    base64.StdEncoding.EncodeToString(make([]byte, 33)),
		"not base64":  strings.Repeat("!secret!", 5) + "!!!=",
		"URL base64":  strings.Repeat("-_aa", 10) + "aaa=",
		"space in it": strings.Repeat("a", 20) + "\n" + strings.Repeat("a", 23) + "=",
		"loose bits":  strings.Repeat("a", 42) + "b=",
	} {
		_, err := ParseSecret(text)
		if err == nil {
			t.Errorf("%s: it was accepted", name)
		} else if text != "" && strings.Contains(err.Error(), text[:4]) {
			t.Errorf("%s: the error shows it: %v", name, err)
		}
	}
}

func TestNoRandomnessNoSecret(t *testing.T) {
	if text, err := NewSecret(iotest.ErrReader(errors.New("no entropy"))); err == nil || text != "" {
		t.Fatalf("got %q, %v", text, err)
	}
}

func TestNoSecretDerivesNothing(t *testing.T) {
	if _, err := FromSecret(Secret{}, "n1@a"); !errors.Is(err, errNoSecret) {
		t.Fatalf("got %v", err)
	}
}

// TestSecretsAreNeverPrinted looks for the secret's and the private key's bytes
// in everything that could print them.
func TestSecretsAreNeverPrinted(t *testing.T) {
	s := newSecret(t)
	c := credentials(t, s, "n1@a")
	d := &directory{}
	m, _ := listen(t, s, d, "n1@a")
	type inner struct{ kept any }
	var out bytes.Buffer
	for _, v := range []any{s, &s, c, *c, m.o, &m.o, m, inner{s}, inner{c}, struct{ s Secret }{s}, struct{ c *Credentials }{c}, []Secret{s}, map[string]Secret{"a": s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
	}
	if !strings.Contains(out.String(), hidden) {
		t.Fatal("nothing was printed")
	}
	var keys [][]byte
	for _, purpose := range []string{"certificate authority", "gossip key"} {
		key, err := s.derive(purpose)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	keys = append(keys, s.key(), privateSeed(c))
	for i, key := range keys {
		for _, shown := range shapes(key) {
			if strings.Contains(strings.ToLower(out.String()), strings.ToLower(shown)) {
				t.Errorf("key %d was printed as %.12s…", i, shown)
			}
		}
	}
}

// shapes are the ways in which bytes get printed; eight of them give them away.
func shapes(key []byte) []string {
	return []string{
		strings.Trim(fmt.Sprintf("%v", key[:8]), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", key[:8]), "[]byte{"), "}"),
		hex.EncodeToString(key[:8]),
		base64.StdEncoding.EncodeToString(key[:9]),
		string(key[:8]),
	}
}
