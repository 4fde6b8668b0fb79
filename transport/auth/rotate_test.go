package auth

import (
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
)

func rotated(t *testing.T, k *Key, now time.Time, keep time.Duration) *Key {
	t.Helper()
	next, err := k.Rotate(rand.Reader, now, keep)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestTokensAfterRotation: what a key signed is accepted until its end, and not a
// moment longer, remembered or not; what the new one signs is accepted.
func TestTokensAfterRotation(t *testing.T) {
	w := newWorld(t)
	old, _ := w.token(t, "ann@corp.example")
	seldom, _ := w.token(t, "bob@corp.example")
	w.get(bearer(old)...).let(t) // it is in the cache
	first := w.key
	w.key = rotated(t, first, w.clock.Now(), 10*time.Minute)
	w.SetKey(w.key)

	caller := w.get(bearer(old)...).let(t)
	if want := ubl.TimeOf(w.clock.Now().Add(10 * time.Minute)); caller.ExpiresAt != want {
		t.Errorf("the token's caller ends at %v, its key at %v", caller.ExpiresAt, want)
	}
	fresh, _ := w.token(t, "ann@corp.example")
	w.get(bearer(fresh)...).let(t)

	w.clock.pass(10*time.Minute - time.Second)
	w.get(bearer(old)...).let(t)
	w.clock.pass(time.Second)
	for name, token := range map[string]string{"remembered": old, "never seen": seldom} {
		t.Run(name, func(t *testing.T) {
			w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
		})
	}
	w.get(bearer(fresh)...).let(t)
}

// TestLeakedKey: a rotation that keeps nothing ends at once what the key signed,
// streams too, and nobody signs with it any more.
func TestLeakedKey(t *testing.T) {
	w := newWorld(t)
	token, _ := w.token(t, "ann@corp.example")
	caller := w.get(bearer(token)...).let(t)
	leaked := w.key
	w.key = rotated(t, leaked, w.clock.Now(), 0)
	w.SetKey(w.key)
	select {
	case <-caller.Revoked:
	default:
		t.Error("a stream of the leaked key's token goes on")
	}
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	forged, _, err := leaked.Sign(TokenSpec{Email: "root@ops.example", TTL: time.Hour, Now: w.clock.Now(), Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	w.get(bearer(forged)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
}

// TestWaitingForOthers: a node that still signs with the key before accepts what
// others sign with the new one.
func TestWaitingForOthers(t *testing.T) {
	w := newWorld(t)
	next := rotated(t, w.key, w.clock.Now(), time.Hour)
	w.SetKey(next.Using(w.key.ID()))
	signed, _, err := next.Sign(TokenSpec{Email: "ann@corp.example", TTL: time.Hour, Now: w.clock.Now(), Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	w.get(bearer(signed)...).let(t)
	if got := w.Authenticator.key().ID(); got != w.key.ID() {
		t.Errorf("it signs with %s", got)
	}
}

// TestSealedBeforeRotation: a sign-in that began before ends after.
func TestSealedBeforeRotation(t *testing.T) {
	w := newWorld(t)
	sealed, err := w.seal("ubl-test-1", []byte("state"))
	if err != nil {
		t.Fatal(err)
	}
	w.SetKey(rotated(t, w.key, w.clock.Now(), time.Hour))
	if plain, err := w.unseal("ubl-test-1", sealed); err != nil || string(plain) != "state" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if _, err := w.unseal("ubl-test-2", sealed); err == nil {
		t.Error("another cookie's seal opened")
	}
}

// TestKeysOfAFile: a file brings all keys back, with their ends.
func TestKeysOfAFile(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	third := rotated(t, rotated(t, first, now, time.Hour), now.Add(time.Minute), 2*time.Hour)
	path := filepath.Join(t.TempDir(), "identity.key")
	if err := ReplaceKey(path, third); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info, err)
	}
	read, err := LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if !read.Equal(third) {
		t.Errorf("wrote %v, read %v", third.Uses(), read.Uses())
	}
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{
		{0, third.IDs()}, {time.Hour - 1, third.IDs()}, {time.Hour, third.IDs()[:2]}, {2*time.Hour + time.Minute, third.IDs()[:1]},
	} {
		if got := read.AcceptedIDs(now.Add(test.after)); !slices.Equal(got, test.want) {
			t.Errorf("after %v it accepts %v, want %v", test.after, got, test.want)
		}
	}
	// A shorter end holds, however long the next rotation keeps.
	fourth := rotated(t, third, now, 100*time.Hour)
	if got := fourth.AcceptedIDs(now.Add(3 * time.Hour)); len(got) != 2 {
		t.Errorf("a key that had ended is accepted: %v", got)
	}
	for range 2 * maxKeys {
		fourth = rotated(t, fourth, now, time.Hour)
	}
	if n := len(fourth.IDs()); n != maxKeys {
		t.Errorf("the file would have %d keys", n)
	}
	if data, err := fourth.PEM(); err != nil || len(data) > maxKeyFile {
		t.Errorf("the longest file has %d bytes, %v", len(data), err)
	}
}

func TestBadEarlierKeys(t *testing.T) {
	k, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pem, err := k.PEM()
	if err != nil {
		t.Fatal(err)
	}
	other, err := rotated(t, k, time.Unix(0, 0), time.Hour).PEM()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"twice":         string(pem) + string(pem),
		"no time":       strings.Replace(string(other), "1970-01-01", "yesterday", 1),
		"no key below":  string(pem) + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"another's cut": string(other[:len(other)-40]) + "\n-----END PRIVATE KEY-----\n",
	} {
		if _, err := ParseKey([]byte(text)); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}
