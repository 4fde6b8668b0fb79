package auth

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"ubl"
	"ubl/test/harness"
)

// host is a world whose tenant t:corp.example has invited eve, by the link at
// path. It keeps what its tenants are asked.
type host struct {
	*browser
	path     string
	made     ubl.CreateInvitation
	refuse   error // every question about the invitation, where set
	accepted []ubl.AcceptInvitation
}

func newHost(t testing.TB, change ...func(*Options)) *host {
	t.Helper()
	h := &host{}
	h.browser = &browser{agent: safariOnIPhone}
	h.world = newWorld(t, append(change, func(o *Options) { o.Asker = inviting{o.Asker, h} })...)
	var err error
	if h.made, h.path, err = h.NewInvitation("t:corp.example", "Eve@gmail.com"); err != nil {
		t.Fatal(err)
	}
	return h
}

// inviting answers for the invitation as a Tenant does, and leaves the rest to
// another.
type inviting struct {
	ubl.Asker
	h *host
}

func (i inviting) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	hash := ""
	switch c := cmd.(type) {
	case ubl.FindInvitation:
		hash = c.SecretHash
	case ubl.AcceptInvitation:
		hash = c.SecretHash
		i.h.accepted = append(i.h.accepted, c)
	default:
		return i.Asker.Ask(ctx, to, cmd)
	}
	if i.h.refuse != nil {
		return nil, i.h.refuse
	}
	if to != "t:corp.example" || hash != i.h.made.SecretHash {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such invitation")
	}
	if _, accepts := cmd.(ubl.AcceptInvitation); accepts {
		who := i.h.made.Invitee
		who.TenantID = ""
		return &who, nil
	}
	return &ubl.Invitation{ID: "i:1", Email: i.h.made.Invitee.Email, Role: ubl.RoleOwner, ExpiresAt: ubl.TimeOf(i.h.clock.Now().Add(time.Hour))}, nil
}

// TestNewInvitation draws a secret, and keeps its hash alone.
func TestNewInvitation(t *testing.T) {
	h := newHost(t)
	who := h.made.Invitee
	if who.Email != "eve@gmail.com" || who.TenantID != "t:corp.example" || !who.Unproven ||
		who.UserID == ubl.UserIDFor(LocalIssuer, "eve@gmail.com", false) || who.UserID != ubl.Invited("t:corp.example", h.made.InvitationID, "").UserID {
		t.Errorf("the invitee is %+v", who)
	}
	secret, ok := strings.CutPrefix(h.path, "/invite/t:corp.example.")
	if !ok || !lowerHex(secret, 32) || h.made.SecretHash != hashSecret(secret) || !h.made.InvitationID.Valid() {
		t.Errorf("the link is %q, the invitation %+v", h.path, h.made)
	}
	if again, path, err := h.NewInvitation("t:corp.example", "eve@gmail.com"); err != nil || again.InvitationID == h.made.InvitationID || path == h.path {
		t.Errorf("another is %+v at %q: %v", again, path, err)
	}
	for email, code := range map[string]ubl.Code{
		"": ubl.CodeValidation, "eve": ubl.CodeValidation, "eve@": ubl.CodeValidation, "Eve <eve@gmail.com>": ubl.CodeValidation,
		"alice\ufe0f@gmail.com": ubl.CodeValidation, "alice\u3164@gmail.com": ubl.CodeValidation, "ali\u0441e@gmail.com": ubl.CodeValidation,
		"first.last+tag_1-2@gmail.com": "", "иван@gmail.com": "",
		"eve@gmail.com ": ubl.CodeValidation, strings.Repeat("e", 250) + "@gmail.com": ubl.CodeValidation,
	} {
		if _, _, err := h.NewInvitation("t:corp.example", email); ubl.CodeOf(err) != code {
			t.Errorf("%q is answered %v", email, err)
		}
	}
	if _, _, err := h.NewInvitation(ubl.CoreTenant, "eve@gmail.com"); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("who is no operator is invited into tenant 0: %v", err)
	}
	if c, _, err := h.NewInvitation(ubl.CoreTenant, "root@ops.example"); err != nil || c.Invitee.TenantID != ubl.CoreTenant {
		t.Errorf("an operator isn't invited: %+v, %v", c, err)
	}
}

// TestInvitationAccepted: looks change nothing; the form makes a member, begins a
// session in the tenant that invited, and leads to the app. A form that is sent
// twice is one acceptance.
func TestInvitationAccepted(t *testing.T) {
	h := newHost(t)
	for range 2 {
		w := h.send("GET", h.path, "")
		for _, want := range []string{"eve@gmail.com", "<b>corp.example</b>", "as an owner"} {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
				t.Fatalf("the page is %d %s, without %q", w.Code, w.Body, want)
			}
		}
	}
	if w := h.send("HEAD", h.path, ""); w.Code != http.StatusOK {
		t.Errorf("a look at the head is answered %d", w.Code)
	}
	if len(h.accepted) > 0 || h.cookie != nil {
		t.Fatalf("a look has accepted: %+v", h.accepted)
	}
	form := h.form(t)
	for range 2 {
		h.cookie = nil
		w := h.send("POST", h.path, form, asForm)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/" || h.cookie == nil {
			t.Fatalf("accepting is answered %d %v %s", w.Code, w.Header(), w.Body)
		}
		if w := h.send("GET", "/api/whoami", ""); !strings.Contains(w.Body.String(), `"tenant":"t:corp.example"`) {
			t.Errorf("the session is %s", w.Body)
		}
	}
	for _, c := range h.accepted {
		if !c.Who.IsPlatform() || c.Key != "invite:"+strings.TrimPrefix(form, "key=") {
			t.Errorf("asked %+v", c.Request)
		}
	}
	if h.form(t) == form {
		t.Error("two pages have one key")
	}
	if got := all[ubl.AdmitToken](h.tenants)[0].Token; got.Method != ubl.SignInInvitation || got.Kind != ubl.TokenSession || got.TenantID != "t:corp.example" {
		t.Errorf("admitted %+v", got)
	}
}

// form is what the page's form would send.
func (h *host) form(t *testing.T) string {
	t.Helper()
	_, rest, _ := strings.Cut(h.send("GET", h.path, "").Body.String(), `name="key" value="`)
	key, _, ok := strings.Cut(rest, `"`)
	if !ok || key == "" {
		t.Fatal("the page has no key")
	}
	return url.Values{"key": {key}}.Encode()
}

func asForm(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }

// TestMemberDoesNotAcceptForAnother: a member who is signed in here is told so, and accepts
// nothing for another address; people of other tenants do, and who has signed out.
func TestMemberDoesNotAcceptForAnother(t *testing.T) {
	for tenant, refused := range map[ubl.TenantID]bool{"t:corp.example": true, "t:else.example": false} {
		h := newHost(t)
		who := ann()
		who.TenantID = tenant
		form := h.form(t)
		if err := h.signIn(t, who, ubl.SignInLink); err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"GET", "POST"} {
			if method == "GET" && !refused {
				continue
			}
			w := h.send(method, h.path, form, asForm)
			says := strings.Contains(w.Body.String(), "signed in here as "+who.Email) && strings.Contains(w.Body.String(), "eve@gmail.com")
			if says != refused || refused != (w.Code == http.StatusConflict) || refused != (len(h.accepted) == 0) {
				t.Errorf("%s by %s of %s is answered %d %s, with %d acceptances", method, who.Email, tenant, w.Code, w.Body, len(h.accepted))
			}
		}
		h.cookie = nil
		if w := h.send("POST", h.path, form, asForm); w.Code != http.StatusSeeOther {
			t.Errorf("who has signed out is answered %d", w.Code)
		}
	}
}

// TestInvitationRefused: whatever is wrong with a link looks the same, and gives
// no session.
func TestInvitationRefused(t *testing.T) {
	h := newHost(t)
	secret := h.path[strings.LastIndexByte(h.path, '.')+1:]
	never := h.send("GET", "/invite/t:corp.example."+strings.Repeat("0", 64), "").Body.String()
	for name, path := range map[string]string{
		"another secret":        "/invite/t:corp.example." + strings.Repeat("1", 64),
		"another tenant":        "/invite/t:else.example." + secret,
		"a tenant that is none": "/invite/corp.example." + secret,
		"no tenant":             "/invite/" + secret,
		"nothing but a tenant":  "/invite/t:corp.example",
		"a secret cut short":    h.path[:len(h.path)-1],
		"a secret in capitals":  "/invite/t:corp.example." + strings.ToUpper(secret),
	} {
		for _, method := range []string{"GET", "POST"} {
			w := h.send(method, path, "", asForm)
			if w.Code != http.StatusNotFound || w.Body.String() != never || h.cookie != nil {
				t.Errorf("%s: %s is answered %d %s", name, method, w.Code, w.Body)
			}
		}
	}
	for code, want := range map[ubl.Code]string{
		ubl.CodeNotFound:    "not valid",
		ubl.CodeConflict:    "a member already",
		ubl.CodeUnavailable: "the reason. Reload",
		ubl.CodeOverloaded:  "the reason. Reload",
	} {
		h.refuse = ubl.Errorf(code, "the reason")
		for _, method := range []string{"GET", "POST"} {
			w := h.send(method, h.path, "", asForm)
			if w.Code != code.Status() || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "eve@") || h.cookie != nil {
				t.Errorf("%s is told for %s: %d %s", code, method, w.Code, w.Body)
			}
			if again := w.Header().Get("Retry-After") != ""; again != (code.Status() == http.StatusServiceUnavailable) {
				t.Errorf("%s has Retry-After %q", code, w.Header().Get("Retry-After"))
			}
		}
	}
}

// TestAddressOfAFormerMember: who is invited by an address that was another's once
// isn't joined by them, and isn't them. The former one's passkeys lead nowhere.
func TestAddressOfAFormerMember(t *testing.T) {
	d := openDesk(t)
	boss := d.person("boss@corp.example")
	accept := func(v *visitor, path string) {
		t.Helper()
		if w := v.post(path, "", asForm); w.Code != http.StatusSeeOther {
			t.Fatalf("accepting is answered %d %s", w.Code, w.Body)
		}
	}
	invite := func() string {
		c, path, err := d.NewInvitation("t:corp.example", "ann@gmail.com")
		if err != nil {
			t.Fatal(err)
		}
		c.Request, c.Role, c.TTL = d.house.Request(boss), ubl.RoleMember, time.Hour
		harness.Must[*ubl.Invitation](d.house, "t:corp.example", c)
		return path
	}
	former, phone := d.visitor(t), newDevice(virtualwebauthn.KeyTypeEC2)
	accept(former, invite())
	former.register(phone, "phone")
	who := former.session()
	harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.RemoveTenantMember{Request: d.house.Request(boss), UserID: who.UserID})

	fresh := d.visitor(t)
	accept(fresh, invite())
	if got := fresh.session(); got.UserID == who.UserID || !got.Unproven {
		t.Fatalf("the new one is %+v", got)
	}
	v := d.visitor(t)
	if w := v.finishLogin(phone.sign(t, v.beginLogin())); w.Code != http.StatusUnauthorized {
		t.Errorf("the former passkey is answered %d %s", w.Code, w.Body)
	}
}

// TestInvitationPage can't be framed or kept, runs nothing, and is told to nobody
// else as referrer: its address is the secret.
func TestInvitationPage(t *testing.T) {
	h := newHost(t)
	for _, path := range []string{h.path, "/invite/x"} {
		w := h.send("GET", path, "")
		for name, want := range map[string]string{
			"Content-Type":            "text/html; charset=utf-8",
			"Cache-Control":           "no-store",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"Referrer-Policy":         "same-origin",
			"X-Content-Type-Options":  "nosniff",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

// TestInvitationFromElsewhere: no other site's page can accept one in its
// visitor's browser.
func TestInvitationFromElsewhere(t *testing.T) {
	h := newHost(t)
	w := h.send("POST", h.path, "", asForm, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	if w.Code != http.StatusForbidden || len(h.accepted) > 0 || h.cookie != nil {
		t.Errorf("another site's page is answered %d %s", w.Code, w.Body)
	}
}

// TestInvitationWithoutSession: where tenant 0 can't receipt the session, the
// browser gets none, and may send the form again.
func TestInvitationWithoutSession(t *testing.T) {
	h := newHost(t)
	form := h.form(t)
	h.tenants.set(func(s *tenants) {
		s.admit = func(ubl.AdmitToken) error { return ubl.Errorf(ubl.CodeUnavailable, "no leader") }
	})
	if w := h.send("POST", h.path, form, asForm); w.Code != http.StatusServiceUnavailable || h.cookie != nil {
		t.Errorf("without tenant 0 it is answered %d %s", w.Code, w.Body)
	}
	h.tenants.set(func(s *tenants) { s.admit = nil })
	if w := h.send("POST", h.path, form, asForm); w.Code != http.StatusSeeOther || h.cookie == nil {
		t.Errorf("sent again it is answered %d %s", w.Code, w.Body)
	}
}
