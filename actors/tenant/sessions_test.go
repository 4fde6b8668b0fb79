package tenant_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// gatehouse is tenant 0 with the platform, and people of other tenants.
type gatehouse struct {
	*harness.House
	t        *testing.T
	ana, bob ubl.Identity
}

var core = ubl.TenantName(ubl.CoreTenant)

func openGatehouse(t *testing.T) *gatehouse {
	g := &gatehouse{House: harness.Open(t, harness.Options{}), t: t, ana: harness.User("ana@acme.com"), bob: harness.User("bob@acme.com")}
	g.Enter(ubl.Platform())
	return g
}

func (g *gatehouse) now() ubl.Time { return ubl.TimeOf(g.Clock.Now()) }

// session is one of ana's, at a turn of its cookie.
func (g *gatehouse) session(jti string, turn int64) ubl.PlatformToken {
	return ubl.PlatformToken{
		JTI: jti, UserID: g.ana.UserID, TenantID: g.ana.TenantID, CreatedAt: g.now(), ExpiresAt: g.now().Add(12 * time.Hour),
		Kind: ubl.TokenSession, Label: "Safari on iPhone", Method: ubl.SignInPasskey, Turn: turn,
	}
}

func (g *gatehouse) admit(p ubl.PlatformToken) ubl.AdmitToken {
	return ubl.AdmitToken{Request: g.Request(ubl.Platform()), Token: p}
}

func (g *gatehouse) ask(cmd ubl.Command) any {
	g.t.Helper()
	v, err := g.Ask(context.Background(), core, cmd)
	if err != nil {
		g.t.Fatalf("%T: %v", cmd, err)
	}
	return v
}

// lists are the ids of who's living tokens, the newest first.
func (g *gatehouse) lists(who ubl.Identity) string {
	g.t.Helper()
	var ids []string
	for _, p := range g.ask(ubl.ListTokens{Who: who}).([]ubl.PlatformToken) {
		ids = append(ids, p.JTI)
	}
	return strings.Join(ids, " ")
}

// wrote is how many atoms tenant 0 has written since the last time.
func (g *gatehouse) wrote(since *int64) int64 {
	g.t.Helper()
	head := harness.Must[ubl.LedgerHead](g.House, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}).Seq
	n := head - *since
	*since = head
	return n
}

// TestTurnsOfASession: each cookie is receipted at its first use. The one before
// goes on for a minute, older ones and those of an ended session don't, whether
// the Tenant was loaded anew in between or not.
func TestTurnsOfASession(t *testing.T) {
	g := openGatehouse(t)
	var seen int64
	g.ask(g.admit(g.session("s", 0)))
	g.wrote(&seen)
	g.Clock.Add(time.Hour)
	for _, step := range []struct {
		after  time.Duration
		turn   int64
		refuse bool
		writes int64
	}{
		{0, 0, false, 0},
		{0, 1, false, 2},
		{0, 1, false, 0},
		{59 * time.Second, 0, false, 0},
		{time.Second, 0, true, 0},
		{0, 1, false, 0},
		{time.Hour, 2, false, 2},
		{0, 0, true, 0},
		{30 * time.Second, 1, false, 0},
		{12*time.Hour - time.Minute, 3, false, 2}, // a cookie given late, used when the one before has expired
		{13 * time.Hour, 4, false, 2},
	} {
		g.Clock.Add(step.after)
		g.Reload()
		if c := g.admit(g.session("s", step.turn)); step.refuse {
			g.Refused(ubl.CodeUnauthorized, core, c)
		} else {
			g.ask(c)
		}
		if n := g.wrote(&seen); n != step.writes {
			t.Errorf("turn %d wrote %d atoms, want %d", step.turn, n, step.writes)
		}
	}
	g.ask(ubl.RevokeToken{Request: g.Request(g.ana), JTI: "s"})
	for turn := range int64(7) {
		g.Refused(ubl.CodeUnauthorized, core, g.admit(g.session("s", turn)))
	}
	g.Refused(ubl.CodeUnauthorized, core, g.admit(g.session("never begun", 1)))
}

// TestListOfTokens is of the caller's own that live: nobody sees, counts or ends
// another's, and one act ends all.
func TestListOfTokens(t *testing.T) {
	g := openGatehouse(t)
	g.ask(g.admit(g.session("s1", 0)))
	g.Clock.Add(time.Second)
	bearer := ubl.PlatformToken{JTI: "b1", UserID: g.ana.UserID, TenantID: g.ana.TenantID, ExpiresAt: g.now().Add(time.Hour)}
	g.ask(g.admit(bearer))
	g.Clock.Add(time.Second)
	g.ask(g.admit(g.session("s2", 0)))
	theirs := g.session("s3", 0)
	theirs.UserID = g.bob.UserID
	g.ask(g.admit(theirs))
	namesake := g.ana // the same id in another tenant is somebody else
	namesake.TenantID = "t:elsewhere.org"

	for range 2 {
		if got := g.lists(g.ana); got != "s2 b1 s1" {
			t.Errorf("ana has %q", got)
		}
		if got := g.lists(g.bob) + g.lists(namesake); got != "s3" {
			t.Errorf("bob and a namesake have %q", got)
		}
		g.Reload()
	}
	if got := g.ask(ubl.ListTokens{Who: g.ana}).([]ubl.PlatformToken)[1]; got.CreatedAt == 0 {
		t.Errorf("the bearer token has no beginning: %+v", got)
	}
	g.Refused(ubl.CodeNotFound, core, ubl.RevokeToken{Request: g.Request(g.bob), JTI: "s1"})
	g.Refused(ubl.CodeNotFound, core, ubl.RevokeToken{Request: g.Request(namesake), JTI: "s1"})

	var seen int64
	g.wrote(&seen)
	if n := g.ask(ubl.RevokeTokens{Request: g.Request(namesake)}); n != 0 || g.wrote(&seen) != 0 {
		t.Errorf("a namesake ended %v tokens", n)
	}
	all := ubl.RevokeTokens{Request: g.Request(g.ana)}
	for range 2 {
		if n := g.ask(all); n != 3 {
			t.Errorf("ana ended %v tokens", n)
		}
		g.Reload()
	}
	if n := g.wrote(&seen); n != 2 {
		t.Errorf("ending all wrote %d atoms", n)
	}
	if g.lists(g.ana) != "" || g.lists(g.bob) != "s3" {
		t.Errorf("left are %q of ana, %q of bob", g.lists(g.ana), g.lists(g.bob))
	}
	for _, revoked := range []ubl.PlatformToken{bearer, g.session("s2", 1)} {
		_, err := g.Ask(context.Background(), core, g.admit(revoked))
		if e := ubl.AsError(err); e.Code != ubl.CodeUnauthorized || e.Details["credential"] != "revoked" {
			t.Errorf("a revoked token is told %v, %v", err, e.Details)
		}
	}
	_, err := g.Ask(context.Background(), core, g.admit(g.session("never begun", 1)))
	if e := ubl.AsError(err); e.Code != ubl.CodeUnauthorized || len(e.Details) > 0 {
		t.Errorf("a session that nobody ended is told %v, %v", err, e.Details)
	}
}

// TestTokensEndOnEveryNode: each ended token is told to those who listen to tenant 0.
func TestTokensEndOnEveryNode(t *testing.T) {
	g := openGatehouse(t)
	g.ask(g.admit(g.session("s1", 0)))
	g.ask(g.admit(g.session("s2", 0)))
	told := make(chan string, 10)
	defer g.Subscribe(ubl.LedgerName(ubl.CoreTenant), func(p ubl.Publication) {
		for _, e := range p.Events {
			if e.Kind == ubl.EventTokenRevoked {
				told <- e.TokenID
			}
		}
	})()
	g.ask(ubl.RevokeTokens{Request: g.Request(g.ana)})
	if a, b := <-told, <-told; a+b != "s1s2" && a+b != "s2s1" {
		t.Errorf("told of %s and %s", a, b)
	}
}

// TestTooManySessions: a person has a hundred at most, other people none the fewer.
func TestTooManySessions(t *testing.T) {
	g := openGatehouse(t)
	for i := range 100 {
		g.Clock.Add(6 * time.Second)
		g.ask(g.admit(g.session(fmt.Sprint("s", i), 0)))
	}
	g.Clock.Add(time.Minute)
	g.Refused(ubl.CodeRateLimited, core, g.admit(g.session("one more", 0)))
	theirs := g.session("bob's", 0)
	theirs.UserID = g.bob.UserID
	g.ask(g.admit(theirs))
	g.ask(ubl.RevokeToken{Request: g.Request(g.ana), JTI: "s7"})
	g.ask(g.admit(g.session("one more", 0)))
}

// TestIdleSessionIsListed and ended with the others, though the newest cookie that
// was used has expired: one given since may be on its way.
func TestIdleSessionIsListed(t *testing.T) {
	for name, turns := range map[string]func(g *gatehouse) ubl.PlatformToken{
		"the next cookie": func(g *gatehouse) ubl.PlatformToken {
			g.ask(g.admit(g.session("s", 0)))
			g.Clock.Add(11 * time.Hour)
			late := g.session("s", 1)
			g.Clock.Add(2 * time.Hour)
			return late
		},
		"another of the same turn": func(g *gatehouse) ubl.PlatformToken {
			g.ask(g.admit(g.session("s", 0)))
			g.Clock.Add(time.Hour)
			early := g.session("s", 1)
			g.Clock.Add(10 * time.Hour)
			late := g.session("s", 1)
			g.ask(g.admit(early))
			g.Clock.Add(3 * time.Hour)
			return late
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := openGatehouse(t)
			late := turns(g)
			if got := g.lists(g.ana); got != "s" {
				t.Errorf("listed are %q", got)
			}
			if n := g.ask(ubl.RevokeTokens{Request: g.Request(g.ana)}); n != 1 {
				t.Errorf("ended %v", n)
			}
			g.Refused(ubl.CodeUnauthorized, core, g.admit(late))
		})
	}
}

// TestPasskeysEndWithTokens where that is asked for, in one act, and nobody else's.
func TestPasskeysEndWithTokens(t *testing.T) {
	g := openGatehouse(t)
	credential := func(who ubl.Identity) []byte { return []byte("credential of " + who.UserID) }
	for _, who := range []ubl.Identity{g.ana, g.bob} {
		g.ask(ubl.RegisterPasskey{Request: g.Request(who), Name: "phone", Handle: make([]byte, ubl.PasskeyHandle),
			Authenticator: ubl.Authenticator{CredentialID: credential(who), PublicKey: []byte{1}}})
	}
	has := func(who ubl.Identity) int { return len(g.ask(ubl.ListPasskeys{Who: who}).(*ubl.Passkeys).List) }
	g.ask(g.admit(g.session("s", 0)))
	g.ask(ubl.RevokeTokens{Request: g.Request(g.ana)})
	if has(g.ana) != 1 {
		t.Error("signing out everywhere removed a passkey")
	}
	var seen int64
	g.wrote(&seen)
	for range 2 {
		g.ask(ubl.RevokeTokens{Request: g.Request(g.ana), Passkeys: true})
		g.Reload()
		if own := g.ask(ubl.ListPasskeys{Who: g.ana}).(*ubl.Passkeys); len(own.List) > 0 || own.Handle != nil || has(g.bob) != 1 {
			t.Errorf("left are %+v of ana, %d of bob", own, has(g.bob))
		}
	}
	g.Refused(ubl.CodeNotFound, core, ubl.FindPasskey{CredentialID: credential(g.ana)})
	if n := g.wrote(&seen); n != 2 {
		t.Errorf("removing them wrote %d atoms, want 2", n)
	}
}

// TestPace: what anybody signed in may do again and again fills no disk. Somebody
// else isn't held up, and after a while it goes on.
func TestPace(t *testing.T) {
	g := openGatehouse(t)
	n := 0
	registers := func(who ubl.Identity) ubl.RegisterPasskey {
		n++
		return ubl.RegisterPasskey{Request: g.Request(who), Name: "phone", Handle: make([]byte, ubl.PasskeyHandle),
			Authenticator: ubl.Authenticator{CredentialID: fmt.Appendf(nil, "credential %06d", n), PublicKey: []byte{1}}}
	}
	key := g.ask(registers(g.ana)).(*ubl.Passkey)
	for name, does := range map[string]func(ubl.Identity) (ubl.Command, func()){
		"signs in": func(who ubl.Identity) (ubl.Command, func()) {
			n++
			s := g.session(fmt.Sprint("s", n), 0)
			s.UserID = who.UserID
			return g.admit(s), func() { g.ask(ubl.RevokeToken{Request: g.Request(who), JTI: s.JTI}) }
		},
		"uses a passkey": func(ubl.Identity) (ubl.Command, func()) {
			return ubl.UsePasskey{Request: g.Request(ubl.Platform()), PasskeyID: key.ID}, func() {}
		},
		"registers passkeys": func(who ubl.Identity) (ubl.Command, func()) {
			c := registers(who)
			return c, func() {
				g.ask(ubl.RemovePasskey{Request: g.Request(who), PasskeyID: ubl.PasskeyIDOf(c.Authenticator.CredentialID)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g.Clock.Add(time.Minute)
			refused := 0
			for range 12 {
				command, after := does(g.ana)
				_, err := g.Ask(t.Context(), core, command)
				switch {
				case ubl.CodeOf(err) == ubl.CodeRateLimited:
					refused++
				case err != nil:
					t.Fatal(err)
				default:
					after()
				}
			}
			if refused != 2 {
				t.Errorf("of 12 times %d were refused", refused)
			}
			if name != "uses a passkey" {
				command, _ := does(g.bob)
				g.ask(command)
			}
			g.Clock.Add(time.Minute)
			command, _ := does(g.ana)
			g.ask(command)
		})
	}
}

// link is one for ana that holds for ten minutes.
func (g *gatehouse) link(hash string) ubl.OneTimeLink {
	return ubl.OneTimeLink{Hash: strings.Repeat(hash, 64), UserID: g.ana.UserID, TenantID: g.ana.TenantID, Email: g.ana.Email, ExpiresAt: g.now().Add(10 * time.Minute)}
}

func (g *gatehouse) offer(hash string) ubl.OneTimeLink {
	g.t.Helper()
	l := g.link(hash)
	g.ask(ubl.OfferLink{Request: g.Request(ubl.Platform()), Link: l})
	return l
}

// TestLinkIsOfferedOnce: one that is there isn't offered anew before it expires, used or not.
func TestLinkIsOfferedOnce(t *testing.T) {
	g := openGatehouse(t)
	g.offer("a")
	g.Refused(ubl.CodeConflict, ubl.TenantName(ubl.CoreTenant), ubl.OfferLink{Request: g.Request(ubl.Platform()), Link: g.link("a")})
	g.Clock.Add(10 * time.Minute)
	g.offer("a")
}

// TestLinkIsUsedOnce: by whom it is for, in time, together with the session that
// it begins.
func TestLinkIsUsedOnce(t *testing.T) {
	g := openGatehouse(t)
	l := g.offer("a")
	find := ubl.FindLink{Who: ubl.Platform(), Hash: l.Hash}
	for range 2 { // looking doesn't use it up
		if got := *g.ask(find).(*ubl.OneTimeLink); got != l {
			t.Errorf("found %+v, want %+v", got, l)
		}
		g.Reload()
	}
	by := func(jti, hash string, change func(*ubl.PlatformToken)) ubl.AdmitToken {
		c := g.admit(g.session(jti, 0))
		c.Link, c.Token.Method = hash, ubl.SignInLink
		if change != nil {
			change(&c.Token)
		}
		return c
	}
	g.Refused(ubl.CodeNotFound, core, by("s", strings.Repeat("b", 64), nil))
	g.Refused(ubl.CodeNotFound, core, by("s", l.Hash, func(p *ubl.PlatformToken) { p.UserID = g.bob.UserID }))
	g.Refused(ubl.CodeNotFound, core, by("s", l.Hash, func(p *ubl.PlatformToken) { p.TenantID = ubl.CoreTenant }))
	if got := g.lists(g.ana) + g.lists(g.bob); got != "" {
		t.Errorf("a refused link began %q", got)
	}
	g.ask(by("s", l.Hash, nil))
	g.Reload()
	g.Refused(ubl.CodeNotFound, core, find)
	g.Refused(ubl.CodeNotFound, core, by("s2", l.Hash, nil))
	if got := g.lists(g.ana); got != "s" {
		t.Errorf("the link began %q", got)
	}

	old := g.offer("c")
	g.Clock.Add(10 * time.Minute)
	g.Refused(ubl.CodeNotFound, core, ubl.FindLink{Who: ubl.Platform(), Hash: old.Hash})
	g.Refused(ubl.CodeNotFound, core, by("s3", old.Hash, nil))
}

// TestLinksAreThePlatforms: nobody else offers or finds one, and no other tenant
// has any.
func TestLinksAreThePlatforms(t *testing.T) {
	g := openGatehouse(t)
	op := harness.User("op@example.com")
	op.TenantID = ubl.CoreTenant
	g.Enter(op)
	g.Enter(g.ana)
	l := g.offer("a")
	for _, who := range []ubl.Identity{op, g.ana} {
		g.Refused(ubl.CodeForbidden, core, ubl.OfferLink{Request: g.Request(who), Link: g.link("b")})
		g.Refused(ubl.CodeNotFound, core, ubl.FindLink{Who: who, Hash: l.Hash})
	}
	home := ubl.TenantName(g.ana.TenantID)
	g.Refused(ubl.CodeForbidden, home, ubl.OfferLink{Request: g.Request(ubl.Platform()), Link: g.link("b")})
	g.Refused(ubl.CodeNotFound, home, ubl.FindLink{Who: ubl.Platform(), Hash: l.Hash})
}
