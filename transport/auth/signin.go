package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"sync"
	"time"

	"ubl"
)

// Link is a way in that works once: whoever opens it in time and confirms gets
// a token for one address. Opening it changes nothing, so that a mail scanner
// or a link preview doesn't use it up; confirming is a write in tenant 0, which
// receipts the token before anybody sees it.
type Link struct {
	auth    *Authenticator
	email   string
	random  io.Reader
	hash    [sha256.Size]byte // of the code; the code itself is only in the link
	expires time.Time

	mu   sync.Mutex
	used bool
}

// linkToken is how long the token behind a link holds.
const linkToken = 12 * time.Hour

// NewLink makes a link for an address that holds for ttl. The code is the last
// element of its path.
func (a *Authenticator) NewLink(email string, ttl time.Duration, random io.Reader) (l *Link, code string, err error) {
	var secret [16]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return nil, "", fmt.Errorf("couldn't draw a sign-in link: %w", err)
	}
	code = hex.EncodeToString(secret[:])
	return &Link{
		auth: a, email: email, random: random,
		hash: sha256.Sum256([]byte(code)), expires: a.now().Add(ttl),
	}, code, nil
}

// ServeHTTP shows the page that confirms (GET), or confirms (POST).
func (l *Link) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := sha256.Sum256([]byte(path.Base(r.URL.Path)))
	if subtle.ConstantTimeCompare(hash[:], l.hash[:]) != 1 || l.used || !l.auth.now().Before(l.expires) {
		l.page(w, http.StatusNotFound, linkPage{})
		return
	}
	if r.Method != http.MethodPost {
		l.page(w, http.StatusOK, linkPage{Email: l.email})
		return
	}
	token, err := l.token(r)
	if err != nil {
		e := ubl.AsError(err)
		l.auth.log.Error("couldn't sign in by link", "error", err)
		l.page(w, e.Code.Status(), linkPage{Email: l.email, Problem: e.Message})
		return
	}
	l.used = true
	l.page(w, http.StatusOK, linkPage{Email: l.email, Token: token})
}

// token makes a token and has tenant 0 receipt it.
func (l *Link) token(r *http.Request) (string, error) {
	token, known, err := l.auth.key.Sign(TokenSpec{
		Email: l.email, TTL: linkToken, Operators: l.auth.operators, Now: l.auth.now(), Random: l.random,
	})
	if err != nil {
		return "", err
	}
	ctx := r.Context()
	_, err = l.auth.asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.AdmitToken{Request: l.auth.request(ctx, ubl.Platform()), Token: known})
	return token, err
}

// linkPage is what the page shows: neither address nor token where the link is
// over.
type linkPage struct{ Email, Problem, Token string }

// page writes it; a browser that has gone is no error of ours.
func (l *Link) page(w http.ResponseWriter, status int, p linkPage) {
	w.WriteHeader(status)
	_ = linkTemplate.Execute(w, p)
}

var linkTemplate = template.Must(template.New("link").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in to UBL</title>
<h1>UBL</h1>
{{if .Token}}<p>You are {{.Email}}. This is your token for twelve hours; it is shown once:</p>
<pre>export UBL_TOKEN={{.Token}}</pre>
<p>With it, <code>ubl rooms</code> and <code>ubl send r:general hello</code> work in a terminal, and programs send it as
<code>Authorization: Bearer …</code>. The API is described at <a href="/api/docs">/api/docs</a>.</p>
{{else if .Email}}{{with .Problem}}<p>That didn't work: {{.}}.</p>{{end}}<p>Sign in as {{.Email}}? The link works once.</p>
<form method="post"><button>Sign in</button></form>
{{else}}<p>This sign-in link is not valid, was used already, or is too old. The server prints a new one when it starts.</p>
{{end}}</html>
`))
