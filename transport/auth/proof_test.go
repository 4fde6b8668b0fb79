package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// proves asks for a proof at an address of the server.
func (d *desk) proves(t testing.TB, nonce, address string) (answer ProofAnswer) {
	t.Helper()
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, d.origin+ProofPath, strings.NewReader(`{"nonce":"`+nonce+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	d.Browsers().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(at))))
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return answer
}

// TestServerProvesThatItHoldsTheKey: whoever has the key, or one that follows it, reads who
// answers where; no other key opens it, and no other question has that answer.
func TestServerProvesThatItHoldsTheKey(t *testing.T) {
	d := openDesk(t, func(o *Options) { o.Owner = "ann@corp.example" })
	answer := d.proves(t, secretOf("a"), "127.0.0.1:8080")
	said, err := d.key.Proven(answer, secretOf("a"))
	if want := (Statement{secretOf("a"), "127.0.0.1:8080", d.origin, "ann@corp.example"}); err != nil || *said != want {
		t.Fatalf("%+v, %v, want %+v", said, err, want)
	}
	next, err := d.key.Rotate(rand.Reader, time.Now(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Proven(answer, secretOf("a")); err != nil {
		t.Errorf("to a key that follows it: %v", err)
	}
	stranger, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]func() (*Statement, error){
		"another key":      func() (*Statement, error) { return stranger.Proven(answer, secretOf("a")) },
		"another question": func() (*Statement, error) { return d.key.Proven(answer, secretOf("b")) },
		"nothing":          func() (*Statement, error) { return d.key.Proven(ProofAnswer{}, secretOf("a")) },
	} {
		if said, err := wrong(); err == nil {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
