package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/oauth2-proxy/mockoidc"

	"ubl"
	"ubl/test/harness"
)

// booth is a doorway that notes by which rates requests are counted, and refuses all of
// them where it is full.
type booth struct {
	*doorway
	counted []ubl.Rate
	full    bool
	links   []string // that were printed
}

func openBooth(t *testing.T) *booth {
	b := &booth{doorway: openDoorway(t)}
	b.count = func(_ ubl.Identity, rate ubl.Rate) error {
		if b.counted = append(b.counted, rate); b.full {
			return ubl.Errorf(ubl.CodeRateLimited, "too many")
		}
		return nil
	}
	b.printLink = func(_, path string) { b.links = append(b.links, path) }
	return b
}

// ann is a browser with a session of hers.
func (b *booth) ann(t *testing.T) *visitor {
	return b.visitor(t).signedIn(b.person("ann@corp.example"))
}

// annWith is the same with a passkey.
func (b *booth) annWith(t *testing.T) (*visitor, *device) {
	v, phone := b.ann(t), newDevice(virtualwebauthn.KeyTypeEC2)
	v.register(phone, "My phone")
	return v, phone
}

// invite is the path of an invitation's link.
func (b *booth) invite(t *testing.T) string {
	c, path, err := b.NewInvitation("t:corp.example", "eve@gmail.com")
	if err != nil {
		t.Fatal(err)
	}
	c.Request, c.Role, c.TTL = b.house.Request(b.boss), ubl.RoleMember, time.Hour
	harness.Must[*ubl.Invitation](b.house, "t:corp.example", c)
	return path
}

// back is where the provider sends a browser, to prove its address where that is said.
func (b *booth) back(t *testing.T, v *visitor, prove string) string {
	w := v.send(http.MethodGet, "/auth/oidc/"+idOf(b.p)+"/start?prove="+prove, "", fromSite("same-origin"))
	way := must(url.Parse(w.Header().Get("Location")))
	return b.p.at(t, way, &mockoidc.MockUser{Subject: "eve", Email: "eve@gmail.com", EmailVerified: true}).RequestURI()
}

// heads are how far the ledgers are that a sign-in may write to.
func (b *booth) heads() [2]int64 {
	return [2]int64{b.head(), harness.Must[ubl.LedgerHead](b.house, ubl.LedgerName("t:corp.example"), ubl.GetLedgerHead{}).Seq}
}

// arrivals gets ready for a request of each route, and gives what sends it.
var arrivals = map[string][]func(*testing.T, *booth) func() *httptest.ResponseRecorder{
	"GET /auth/ways": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).getting("/auth/ways")
	}},
	"POST /auth/signout": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).posting("/auth/signout", "")
	}},
	"GET /signin/{code}": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).getting(must(b.OfferLink(t.Context(), "ann@corp.example", time.Minute)))
	}},
	"POST /signin/{code}": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).posting(must(b.OfferLink(t.Context(), "bob@corp.example", time.Minute)), "")
	}},
	"GET /invite/{link}": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).getting(b.invite(t))
	}},
	"POST /invite/{link}": {
		func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
			v, path := b.visitor(t), b.invite(t)
			return func() *httptest.ResponseRecorder { return v.post(path, "", asForm) }
		},
		func(t *testing.T, b *booth) func() *httptest.ResponseRecorder { // a form that is sent twice
			v, path := b.visitor(t), b.invite(t)
			const form = "key=00112233445566778899aabbccddeeff"
			v.post(path, form, asForm)
			return func() *httptest.ResponseRecorder { return v.post(path, form, asForm) }
		},
	},
	"POST /auth/passkeys/login/begin": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).posting("/auth/passkeys/login/begin", "")
	}},
	"POST /auth/passkeys/login/finish": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		_, phone := b.annWith(t)
		v := b.visitor(t)
		return v.posting("/auth/passkeys/login/finish", phone.sign(t, v.beginLogin()))
	}},
	"POST /auth/passkeys/register/begin": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).posting("/auth/passkeys/register/begin", "")
	}},
	"POST /auth/passkeys/register/finish": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		v := b.ann(t)
		begun := v.post("/auth/passkeys/register/begin", "").Body.String()
		return v.posting("/auth/passkeys/register/finish", made("My laptop", newDevice(virtualwebauthn.KeyTypeEC2).make(t, begun)))
	}},
	"GET /auth/confirm": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).getting("/auth/confirm")
	}},
	"POST /auth/confirm/passkey/begin": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		v, _ := b.annWith(t)
		return v.posting("/auth/confirm/passkey/begin", "")
	}},
	"POST /auth/confirm/passkey/finish": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		v, phone := b.annWith(t)
		return v.posting("/auth/confirm/passkey/finish", phone.sign(t, v.post("/auth/confirm/passkey/begin", "").Body.String()))
	}},
	"POST /auth/confirm/link": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).posting("/auth/confirm/link", "")
	}},
	"GET /auth/confirm/link/{code}": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		v := b.ann(t)
		v.post("/auth/confirm/link", "")
		return v.getting(b.links[0])
	}},
	"POST /auth/confirm/link/{code}": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		v := b.ann(t)
		v.post("/auth/confirm/link", "")
		return v.posting(b.links[0], "")
	}},
	"POST " + CLIBeginPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).posting(CLIBeginPath, beginBody("ubl", secretOf("a"), b.origin))
	}},
	"POST " + CLITokenPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		c := b.terminal(t, "a")
		b.ann(t).agree(c.path())
		return c.take
	}},
	"GET " + cliPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.ann(t).getting(b.terminal(t, "a").path())
	}},
	"POST " + cliPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		_, request, _ := strings.Cut(b.terminal(t, "a").path(), "?")
		v := b.ann(t)
		return func() *httptest.ResponseRecorder { return v.post(cliPath, request, asForm) }
	}},
	"POST " + ProofPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).posting(ProofPath, `{"nonce":"`+secretOf("a")+`"}`)
	}},
	"GET " + HomePath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			return b.ask(http.MethodGet, HomePath, b.voucher(t, HomePath, "ann@corp.example"))
		}
	}},
	"POST " + LinkPath: {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			return b.ask(http.MethodPost, LinkPath, b.voucher(t, LinkPath, "ann@corp.example"))
		}
	}},
	"GET /auth/oidc/{id}/start": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).getting("/auth/oidc/" + idOf(b.p) + "/start")
	}},
	"GET /auth/oidc/callback": {
		func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
			v := b.visitor(t)
			back := b.back(t, v, "")
			return func() *httptest.ResponseRecorder { return v.open(back) }
		},
		func(t *testing.T, b *booth) func() *httptest.ResponseRecorder { // who proves their address
			v := b.guest(t, "eve@gmail.com")
			back := b.back(t, v, "1")
			return func() *httptest.ResponseRecorder { return v.open(back) }
		},
	},
	"POST /auth/move": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		own := b.visitor(t)
		own.open(b.back(t, own, ""))
		v := b.guest(t, "eve@gmail.com")
		key := keyOn(v.open(b.back(t, v, "1")).Body.String())
		return func() *httptest.ResponseRecorder { return v.post("/auth/move", "key="+key, asForm) }
	}},
	"/": {func(t *testing.T, b *booth) func() *httptest.ResponseRecorder {
		return b.visitor(t).posting("/auth/nothing", "")
	}},
}

func (v *visitor) posting(path, body string) func() *httptest.ResponseRecorder {
	return func() *httptest.ResponseRecorder { return v.post(path, body) }
}

func (v *visitor) getting(path string) func() *httptest.ResponseRecorder {
	return func() *httptest.ResponseRecorder { return v.send(http.MethodGet, path, "", fromSite("same-origin")) }
}

// TestWritesAreCounted: each route that puts something on record counts the request once,
// by its rate, and before; one too many leaves nothing. No other route writes.
func TestWritesAreCounted(t *testing.T) {
	for _, rt := range openBooth(t).routes() {
		ways := arrivals[rt.pattern]
		if len(ways) == 0 {
			t.Errorf("%s isn't tried", rt.pattern)
		}
		want := []ubl.Rate{rt.counts}
		if rt.counts == "" {
			want = nil
		}
		for _, way := range ways {
			t.Run(rt.pattern, func(t *testing.T) {
				b := openBooth(t)
				send := way(t, b)
				before := b.heads()
				b.counted = nil
				w := send()
				if wrote := b.heads() != before; wrote != (rt.counts != "") || w.Code >= http.StatusBadRequest && rt.pattern != "/" {
					t.Errorf("answered %d %s, on record: %v", w.Code, w.Body, wrote)
				}
				if !slices.Equal(b.counted, want) {
					t.Errorf("counted as %q, want %q", b.counted, want)
				}
				if rt.counts == "" {
					return
				}
				b = openBooth(t)
				send = way(t, b)
				before, b.full = b.heads(), true
				if w := send(); w.Code != http.StatusTooManyRequests || b.heads() != before {
					t.Errorf("one too many is answered %d %s, on record: %v", w.Code, w.Body, b.heads() != before)
				}
			})
		}
	}
}
