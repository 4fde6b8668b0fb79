package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ubl"
)

// ceremony is something that begins with one request of a browser and ends with
// another: what the second must know of the first waits in a sealed cookie, so
// that any node may end what another began. Each has a cookie of its own, called by
// what comes back with the second request: two tabs don't get in each other's way.
// The text is a part of its cookies' names.
type ceremony string

// maxCeremonies is how many a browser may have begun of one kind. They are seldom
// more than two; without a bound, somebody who reloads a page fills the headers.
const maxCeremonies = 8

// drawnBytes is how much is drawn of what nobody may guess: a challenge, a nonce.
const drawnBytes = 32

// errCeremony looks the same whatever was wrong with the cookie.
func errCeremony() *ubl.Error {
	return ubl.Errorf(ubl.CodeValidation, "this took too long, or began in another browser: begin again")
}

// sealed is what a cookie holds.
type sealed struct {
	Ends ubl.Time        `json:"ends"`
	Of   json.RawMessage `json:"of"`
}

// cookieName is that of the ceremony that something secret comes back with. A hash
// tells nothing of the secret, and has the characters that a name may have.
func (a *Authenticator) cookieName(c ceremony, secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return a.cookiePrefix(c) + hex.EncodeToString(sum[:16])
}

func (a *Authenticator) cookiePrefix(c ceremony) string {
	return a.cookies.name() + "-" + string(c) + "-"
}

// beginCeremony seals state, as JSON, into the cookie of the ceremony that ends with
// the secret, within the time that it may last.
func (a *Authenticator) beginCeremony(w http.ResponseWriter, r *http.Request, c ceremony, lasts time.Duration, secret string, state any) error {
	of, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("couldn't write the state of a ceremony: %w", err)
	}
	name := a.cookieName(c, secret)
	plain, err := json.Marshal(sealed{ubl.TimeOf(a.now().Add(lasts)), of})
	if err != nil {
		return fmt.Errorf("couldn't write the state of a ceremony: %w", err)
	}
	value, err := a.seal(name, plain)
	if err != nil {
		return err
	}
	a.forgetOld(w, r, c)
	a.ceremonyCookie(w, name, value, int(lasts/time.Second))
	return nil
}

// endCeremony opens the cookie of the ceremony that the secret came back with into state,
// and has the browser forget it.
func (a *Authenticator) endCeremony(w http.ResponseWriter, r *http.Request, c ceremony, secret string, state any) error {
	if len(r.CookiesNamed(a.cookieName(c, secret))) == 1 {
		a.ceremonyCookie(w, a.cookieName(c, secret), "", -1)
	}
	return a.lookAt(r, c, secret, state)
}

// lookAt opens the cookie of a ceremony that may still end.
func (a *Authenticator) lookAt(r *http.Request, c ceremony, secret string, state any) error {
	name := a.cookieName(c, secret)
	sent := r.CookiesNamed(name)
	if len(sent) != 1 {
		return errCeremony()
	}
	plain, err := a.unseal(name, sent[0].Value)
	if err != nil {
		return errCeremony().Because(err)
	}
	var s sealed
	if err := json.Unmarshal(plain, &s); err != nil {
		return errCeremony().Because(err)
	}
	if ubl.TimeOf(a.now()) >= s.Ends {
		return errCeremony().Because(errors.New("the ceremony took too long"))
	}
	if err := json.Unmarshal(s.Of, state); err != nil {
		return errCeremony().Because(err)
	}
	return nil
}

// forgetOld has the browser forget what it began and never ended, once that is too
// much. Which of them are the oldest can't be seen: all go.
func (a *Authenticator) forgetOld(w http.ResponseWriter, r *http.Request, c ceremony) {
	var old []string
	for _, cookie := range r.Cookies() {
		if strings.HasPrefix(cookie.Name, a.cookiePrefix(c)) {
			old = append(old, cookie.Name)
		}
	}
	if len(old) < maxCeremonies {
		return
	}
	for _, name := range old {
		a.ceremonyCookie(w, name, "", -1)
	}
}

// ceremonyCookie must come back with a provider's redirect, which Lax lets pass.
func (a *Authenticator) ceremonyCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: a.cookies.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// draw is n bytes that nobody can guess: a challenge, a code, a user's handle.
func (a *Authenticator) draw(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(a.random, b); err != nil {
		return nil, fmt.Errorf("couldn't draw something secret: %w", err)
	}
	return b, nil
}

// DrawText is drawnBytes of that as 43 characters: a state, a nonce, a verifier, the secret of
// a command that signs in.
func DrawText(random io.Reader) (string, error) {
	var b [drawnBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("couldn't draw something secret: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// seal encrypts for what has that name: a cookie, or what goes another way. Each has a key, so
// that no number of cookies wears one out, and none passes for another.
func (a *Authenticator) seal(name string, plain []byte) (string, error) {
	aead, err := sealerOf(a.key().Derive(cookiePurpose(name)))
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(a.random, nonce); err != nil {
		return "", fmt.Errorf("couldn't seal a value: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, plain, nil)), nil
}

// unseal opens what seal has made under the name, with this key or one before it.
func (a *Authenticator) unseal(name, value string) ([]byte, error) {
	return a.key().unseal(name, value)
}

func (k *Key) unseal(name, value string) ([]byte, error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil {
		return nil, errors.New("the sealed value is not base64url")
	}
	for _, key := range k.Derived(cookiePurpose(name)) {
		var plain []byte
		if plain, err = unsealWith(key, data); err == nil {
			return plain, nil
		}
	}
	return nil, err
}

func cookiePurpose(name string) string { return "sealed cookie v1 " + name }

func unsealWith(key, data []byte) ([]byte, error) {
	aead, err := sealerOf(key)
	if err != nil {
		return nil, err
	}
	n := aead.NonceSize()
	if len(data) < n {
		return nil, errors.New("the sealed value is too short")
	}
	return aead.Open(nil, data[:n], data[n:], nil)
}

func sealerOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("couldn't make a sealing key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("couldn't make a sealing key: %w", err)
	}
	return aead, nil
}
