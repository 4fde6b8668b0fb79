// Package webpush is a browser with its push service, for tests: it hands out subscriptions, takes
// pushes over HTTPS as RFC 8030 says, checks who sent them (RFC 8292), and decrypts them (RFC 8291)
// by code of its own.
package webpush

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"ubl"
)

// Pushed is a push that came.
type Pushed struct {
	Path, Topic, TTL, Urgency string
	Payload                   []byte
}

// Service is a push service with its browsers.
type Service struct {
	*httptest.Server

	mu       sync.Mutex
	browsers map[string]browser // by path
	got      []Pushed
	refuse   func(path string) int
	failed   []error
}

// browser is a subscription, with the keys that only the browser has.
type browser struct {
	private *ecdh.PrivateKey
	auth    []byte
	sender  string // the public key that may push
}

// New starts one.
func New(t testing.TB) *Service {
	s := &Service{browsers: map[string]browser{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.take))
	t.Cleanup(func() {
		s.Close()
		for _, err := range s.failed {
			t.Errorf("the push service got something that isn't by the RFCs: %v", err)
		}
	})
	return s
}

// Subscribe is a new browser that takes pushes of one sender.
func (s *Service) Subscribe(t testing.TB, path, sender string) ubl.Subscription {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	auth := make([]byte, 16)
	if _, bad := rand.Read(auth); err != nil || bad != nil {
		t.Fatal(errors.Join(err, bad))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers["/"+path] = browser{private, auth, sender}
	b64 := base64.RawURLEncoding.EncodeToString
	return ubl.Subscription{Endpoint: s.URL + "/" + path, P256dh: b64(private.PublicKey().Bytes()), Auth: b64(auth)}
}

// Refuse has it answer what a function says, which may block; 0 takes the push.
func (s *Service) Refuse(with func(path string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = with
}

// Take is what came since the last call.
func (s *Service) Take() []Pushed {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

func (s *Service) take(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, known := s.browsers[r.URL.Path]
	refuse := s.refuse
	s.mu.Unlock()
	if refuse != nil {
		if code := refuse(r.URL.Path); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 4097))
	if err == nil && len(body) > 4096 {
		err = errors.New("longer than 4,096 bytes")
	}
	if err == nil {
		err = signedBy(r.Header.Get("Authorization"), b.sender, s.URL)
	}
	var plain []byte
	if err == nil {
		plain, err = b.decrypt(r.Header.Get("Content-Encoding"), body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed = append(s.failed, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.got = append(s.got, Pushed{r.URL.Path, r.Header.Get("Topic"), r.Header.Get("TTL"), r.Header.Get("Urgency"), plain})
	w.WriteHeader(http.StatusCreated)
}

// signedBy holds a VAPID header against the sender that the browser has subscribed with.
func signedBy(header, sender, audience string) error {
	var token, key string
	if n, err := fmt.Sscanf(strings.ReplaceAll(header, ",", " "), "vapid t=%s k=%s", &token, &key); n != 2 || err != nil {
		return fmt.Errorf("no vapid header: %q", header)
	}
	if key != sender {
		return errors.New("signed by another key than the browser subscribed with")
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(point) != 65 {
		return errors.New("the key is no point")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("no token")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return errors.New("no signature")
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature isn't of the key")
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	var c struct{ Aud, Sub string }
	if err == nil {
		err = json.Unmarshal(claims, &c)
	}
	if err != nil || c.Aud != audience || !strings.Contains(c.Sub, ":") {
		return fmt.Errorf("the claims are %s, %v", claims, err)
	}
	return nil
}

// decrypt is RFC 8188 with the keys of RFC 8291, for one record.
func (b browser) decrypt(encoding string, body []byte) ([]byte, error) {
	if encoding != "aes128gcm" || len(body) < 86 || body[20] != 65 {
		return nil, errors.New("not aes128gcm with a key of 65 bytes")
	}
	salt, sender, sealed := body[:16], body[21:86], body[86:]
	if size := binary.BigEndian.Uint32(body[16:20]); int(size) < len(sealed) {
		return nil, errors.New("more than one record")
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := append(append([]byte("WebPush: info\x00"), b.private.PublicKey().Bytes()...), sender...)
	ikm, err := hkdf.Key(sha256.New, shared, b.auth, string(info), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, bad := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil || bad != nil {
		return nil, errors.Join(err, bad)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err != nil {
		return nil, err
	}
	plain = bytes.TrimRight(plain, "\x00")
	if len(plain) == 0 || plain[len(plain)-1] != 2 {
		return nil, errors.New("the last record isn't marked as the last")
	}
	return plain[:len(plain)-1], nil
}
