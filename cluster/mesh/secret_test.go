package mesh

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	if err != nil || string(s.all()[0]) != strings.Repeat("k", 32) {
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
		"one of two":  base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\nnone",
		"too many":    strings.Repeat(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n", 9),
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

// TestSecretWithTwoKeys: while a secret is rotated, its file has two lines.
func TestSecretWithTwoKeys(t *testing.T) {
	line := func(c string) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(c, 32))) }
	old, err := ParseSecret(line("o"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := ParseSecret(line("n") + "\r\n\n" + line("o") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	ids := both.IDs()
	if len(ids) != 2 || ids[0] == ids[1] || ids[1] != old.IDs()[0] {
		t.Fatalf("ids %v, the old secret's %v", ids, old.IDs())
	}
	for _, test := range []struct{ want []string }{{ids}, {[]string{ids[1], ids[0]}}, {ids[:1]}} {
		if got := old.Select(both, append(test.want, "unknown")).IDs(); !slices.Equal(got, test.want) {
			t.Errorf("selected %v, want %v", got, test.want)
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
		derived, err := s.derived(purpose)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, derived...)
	}
	keys = append(keys, s.all()[0], privateSeed(c))
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
