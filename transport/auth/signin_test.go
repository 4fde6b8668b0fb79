package auth

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
)

// register stands in for tenant 0's links: offered, found, and used up by the
// admission of a session.
type register struct {
	mu    sync.Mutex
	links map[string]ubl.OneTimeLink
}

func (r *register) offer(c ubl.OfferLink) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links[c.Link.Hash] = c.Link
	return nil
}

func (r *register) find(c ubl.FindLink) (*ubl.OneTimeLink, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.links[c.Hash]; ok {
		return &l, nil
	}
	return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such sign-in link")
}

func (r *register) admit(c ubl.AdmitToken) error {
	if c.Link == "" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.links[c.Link]; !ok {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such sign-in link")
	}
	delete(r.links, c.Link)
	return nil
}

// withLinks is a browser before a world whose tenant 0 keeps links, and the path
// of one for owner.
func withLinks(t *testing.T, owner string) (b *browser, path string) {
	t.Helper()
	b = &browser{world: newWorld(t)}
	r := &register{links: map[string]ubl.OneTimeLink{}}
	b.tenants.set(func(f *tenants) { f.offer, f.find, f.admit = r.offer, r.find, r.admit })
	path, err := b.OfferLink(t.Context(), owner, 10*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return b, path
}

// TestSignInByLink: looking changes nothing, confirming begins a session, once.
func TestSignInByLink(t *testing.T) {
	b, path := withLinks(t, "Ana@Corp.example")
	offered := all[ubl.OfferLink](b.tenants)[0]
	if l := offered.Link; !offered.Who.IsPlatform() || strings.Contains(path, l.Hash) || l.Email != "ana@corp.example" ||
		l.UserID != ubl.UserIDFor(LocalIssuer, "ana@corp.example", false) || l.TenantID != "t:corp.example" ||
		l.ExpiresAt != ubl.TimeOf(b.clock.Now().Add(10*time.Minute)) {
		t.Errorf("offered %+v", offered)
	}
	for range 2 {
		w := b.send("GET", path, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "ana@corp.example") || b.cookie != nil {
			t.Fatalf("a look is answered %d with cookie %v: %s", w.Code, b.cookie, w.Body)
		}
	}
	w := b.send("POST", path, "")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/" || b.cookie == nil {
		t.Fatalf("confirming is answered %d to %q with cookie %v: %s", w.Code, w.Header().Get("Location"), b.cookie, w.Body)
	}
	admitted := all[ubl.AdmitToken](b.tenants)
	if len(admitted) != 1 || admitted[0].Link != offered.Link.Hash || admitted[0].Token.Method != ubl.SignInLink {
		t.Errorf("admitted %+v", admitted)
	}
	if w := b.send("GET", "/api/whoami", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "t:corp.example") {
		t.Errorf("the session is answered %d %s", w.Code, w.Body)
	}
	for _, method := range []string{"GET", "POST"} {
		other := &browser{world: b.world}
		w := other.send(method, path, "")
		if w.Code != http.StatusNotFound || other.cookie != nil || strings.Contains(w.Body.String(), "corp.example") {
			t.Errorf("%s of a used link is answered %d with cookie %v: %s", method, w.Code, other.cookie, w.Body)
		}
	}
}

// TestPageOfALink works in a browser: its form is not sent as if from nowhere,
// which happens where the page lets itself not be told as referrer.
func TestPageOfALink(t *testing.T) {
	b, path := withLinks(t, "ana@corp.example")
	w := b.send("GET", path, "")
	for name, want := range map[string]string{
		"Referrer-Policy":         "same-origin",
		"Cache-Control":           "no-store",
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.Contains(w.Body.String(), strings.TrimPrefix(path, signInPath)) {
		t.Error("the page repeats the code")
	}
}

// TestBadLinks change nothing, and tenant 0 isn't asked about what can't be a code.
func TestBadLinks(t *testing.T) {
	b, path := withLinks(t, "ana@corp.example")
	b.tenants.set(func(f *tenants) { f.log = nil })
	for _, bad := range []string{"/signin/x", path + "0", strings.ToUpper(path), "/signin/" + strings.Repeat("g", 32)} {
		if w := b.send("POST", bad, ""); w.Code != http.StatusNotFound || b.cookie != nil {
			t.Errorf("%s is answered %d", bad, w.Code)
		}
	}
	b.tenants.silent(t)
	if w := b.send("POST", "/signin/"+strings.Repeat("0", 32), ""); w.Code != http.StatusNotFound || b.cookie != nil {
		t.Errorf("a guess is answered %d", w.Code)
	}
	elsewhere := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	if w := b.send("POST", path, "", elsewhere); w.Code != http.StatusForbidden || b.cookie != nil {
		t.Errorf("another site's page is answered %d", w.Code)
	}
	b.tenants.set(func(f *tenants) { f.down = ubl.Errorf(ubl.CodeUnavailable, "no leader") })
	if w := b.send("POST", path, ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || b.cookie != nil {
		t.Errorf("without tenant 0 a link is answered %d", w.Code)
	}
	b.tenants.set(func(f *tenants) { f.down = nil })
	if w := b.send("POST", path, ""); w.Code != http.StatusSeeOther || b.cookie == nil {
		t.Errorf("afterwards it is answered %d", w.Code)
	}
}

// TestLinkOfShutOut: who was removed from the tenant gets no session, and the link
// is good once they are in again.
func TestLinkOfShutOut(t *testing.T) {
	b, path := withLinks(t, "ana@corp.example")
	b.tenants.set(func(f *tenants) {
		f.enter = func(ubl.Enter) error { return ubl.Errorf(ubl.CodeForbidden, "not a member") }
	})
	if w := b.send("POST", path, ""); w.Code != http.StatusForbidden || b.cookie != nil {
		t.Errorf("removed: %d %s", w.Code, w.Body)
	}
	b.tenants.set(func(f *tenants) { f.enter = nil })
	if w := b.send("POST", path, ""); w.Code != http.StatusSeeOther || b.cookie == nil {
		t.Errorf("in again: %d %s", w.Code, w.Body)
	}
}

// TestNoLink for whom no session could begin.
func TestNoLink(t *testing.T) {
	w := newWorld(t)
	for _, email := range []string{"", "owner", "a b@corp.example"} {
		if path, err := w.OfferLink(t.Context(), email, time.Minute); err == nil {
			t.Errorf("%q has the link %s", email, path)
		}
	}
	w.tenants.silent(t)
}
