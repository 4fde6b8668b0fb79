package actors_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// party is a tenant with two owners, and what the second of them, bob, has: agents by
// both ways there are, a session, a bearer token and an agent of an agent.
type party struct {
	*harness.House
	t                     *testing.T
	ana, bob              ubl.Identity
	tenant, core, general ubl.Name
}

func openParty(t *testing.T, h *harness.House) *party {
	t.Helper()
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	p := &party{House: h, t: t, ana: ana, bob: bob, tenant: ubl.TenantName(ana.TenantID),
		core: ubl.TenantName(ubl.CoreTenant), general: ubl.RoomName(ana.TenantID, ubl.GeneralRoom)}
	h.Enter(ubl.Platform())
	h.Enter(ana)
	h.Enter(bob)
	p.role(bob, ubl.RoleOwner)
	return p
}

func (p *party) role(who ubl.Identity, role ubl.Role) {
	p.t.Helper()
	harness.Must[*ubl.Member](p.House, p.tenant, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: who.UserID, Role: role})
}

// token makes a service token of the id, whose secret's hash is the id too.
func (p *party) token(by ubl.Identity, id string) *ubl.ServiceToken {
	p.t.Helper()
	return harness.Must[*ubl.ServiceToken](p.House, p.tenant, ubl.CreateServiceToken{Request: p.Request(by), Name: id, ClientID: id, SecretHash: id})
}

// endsWith are the people that the list names for a token, by their addresses.
func (p *party) endsWith(id string) (people []string) {
	p.t.Helper()
	for _, token := range harness.Must[[]ubl.ServiceToken](p.House, p.tenant, ubl.ListServiceTokens{Who: p.ana}) {
		for _, user := range token.EndsWith {
			if token.ClientID == id {
				people = append(people, map[ubl.UserID]string{p.ana.UserID: "ana", p.bob.UserID: "bob"}[user])
			}
		}
	}
	return people
}

// agent is the service behind a token, let into the tenant.
func (p *party) agent(id string) ubl.Identity {
	p.t.Helper()
	who := harness.Must[*ubl.ServiceCaller](p.House, p.tenant, ubl.CheckServiceToken{ClientID: id, SecretHash: id}).Identity
	p.Enter(who)
	return who
}

// local is a service of a token of the nodes' key.
func (p *party) local(name, maker string) ubl.Identity {
	subject := ubl.LocalSubject(name, maker)
	return ubl.Identity{UserID: ubl.UserIDFor(ubl.LocalIssuer, subject, false), IsService: true, TenantID: p.ana.TenantID, Issuer: ubl.LocalIssuer, Subject: subject}
}

func (p *party) admit(jti string, who ubl.Identity, kind ubl.TokenKind) ubl.AdmitToken {
	now := ubl.TimeOf(p.Clock.Now())
	return ubl.AdmitToken{Request: p.Request(ubl.Platform()), Token: ubl.PlatformToken{
		JTI: jti, UserID: who.UserID, TenantID: who.TenantID, ExpiresAt: now.Add(time.Hour), CreatedAt: now, Kind: kind, Method: ubl.SignInLink}}
}

// tells subscribes to the tenant's ledger.
func (p *party) tells() func() string {
	var said []string
	cancel := p.Subscribe(ubl.LedgerName(p.ana.TenantID), func(pub ubl.Publication) {
		for _, e := range pub.Events {
			if e.Kind == ubl.EventMemberLeft && e.RoomID == "" || e.Kind == ubl.EventTokenRevoked {
				said = append(said, e.Kind+" "+string(e.UserID)+e.TokenID)
			}
		}
	})
	return func() string {
		cancel()
		slices.Sort(said)
		return strings.Join(said, "\n")
	}
}

// TestLeavingTakesEverythingAlong: with an owner go, in one commit, the services
// that they keep, and the agents of those; what others keep and have made stays.
func TestLeavingTakesEverythingAlong(t *testing.T) {
	for _, by := range []string{"removed", "left"} {
		t.Run(by, func(t *testing.T) {
			p := openParty(t, harness.Open(t, harness.Options{}))
			p.token(p.bob, "scout")
			scout := p.agent("scout")
			p.role(scout, ubl.RoleOwner)
			p.token(scout, "scouts-own")
			p.token(p.ana, "taken-over")
			p.token(p.ana, "anas")
			own, others, anas := p.agent("scouts-own"), p.agent("taken-over"), p.agent("anas")
			cli := p.local("cli", p.bob.Email)
			p.Enter(cli)
			p.token(p.bob, "handed-over")
			given := p.agent("handed-over")
			harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, p.renew(p.ana, "handed-over"))
			harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, p.renew(p.ana, "taken-over"))
			for jti, who := range map[string]ubl.Identity{"session": p.bob, "bearer": p.bob, "service": cli, "anas": p.ana} {
				kind := ubl.TokenBearer
				if jti == "session" {
					kind = ubl.TokenSession
				}
				if _, err := p.Ask(t.Context(), p.core, p.admit(jti, who, kind)); err != nil {
					t.Fatal(err)
				}
			}
			before := harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetLedgerHead{}).Seq
			said, who := p.tells(), p.ana
			if by == "left" {
				who = p.bob
			}
			harness.Must[*ubl.Member](p.House, p.tenant, ubl.RemoveTenantMember{Request: p.Request(who), UserID: p.bob.UserID})
			want := []string{"token.revoked handed-over", "token.revoked scout", "token.revoked scouts-own"}
			for _, gone := range []ubl.Identity{p.bob, scout, own, given, cli} {
				want = append(want, "room.member_left "+string(gone.UserID))
			}
			slices.Sort(want)
			if got := said(); got != strings.Join(want, "\n") {
				t.Errorf("told:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
			}
			act := harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(p.ana.TenantID), ubl.ReadAtoms{From: before + 2, Limit: 1}).Atoms[0]
			if n := strings.Count(string(act), `"op":"agreement.remove"`); n != 5 {
				t.Errorf("one act removes %d entries, want 5: %s", n, act)
			}
			for range 2 {
				for _, gone := range []ubl.Identity{p.bob, scout, own, given, cli} {
					p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(gone)})
					p.Refused(ubl.CodeNotAMember, p.general, ubl.ReadHistory{Who: gone, Limit: 1})
				}
				for _, id := range []string{"scout", "scouts-own", "handed-over"} {
					p.Refused(ubl.CodeUnauthorized, p.tenant, ubl.CheckServiceToken{ClientID: id, SecretHash: id})
					p.Refused(ubl.CodeConflict, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: id})
				}
				for jti, who := range map[string]ubl.Identity{"bearer": p.bob, "service": cli} {
					p.Refused(ubl.CodeUnauthorized, p.core, p.admit(jti, who, ubl.TokenBearer))
				}
				p.Refused(ubl.CodeUnauthorized, p.core, p.admit("session", p.bob, ubl.TokenSession))
				if _, err := p.Ask(t.Context(), p.core, p.admit("anas", p.ana, ubl.TokenBearer)); err != nil {
					t.Errorf("another's token: %v", err)
				}
				for _, stays := range []ubl.Identity{others, anas} {
					p.Enter(stays)
				}
				p.Reload()
			}
			// One made under his address is refused even where nobody has seen it yet.
			p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(p.local("later", p.bob.Email))})
			p.VerifyLedger(p.ana.TenantID)
			p.VerifyLedger(ubl.CoreTenant)
		})
	}
}

// TestLeavingIsFinished: where tenant 0 could not be reached, the tenant refuses who
// has left all the same, and an alarm ends the rest.
func TestLeavingIsFinished(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	p := openParty(t, h)
	if _, err := p.Ask(t.Context(), p.core, p.admit("bearer", p.bob, ubl.TokenBearer)); err != nil {
		t.Fatal(err)
	}
	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if !holds(b, `"did":"platform.token.revoke_all"`) {
			return false
		}
		go settled(errors.New("the power went"))
		return true
	})
	remove := ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID}
	p.Refused(ubl.CodeUnavailable, p.tenant, remove)
	v.setFault(nil)
	h.Restart()
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.Enter{Request: p.Request(p.bob)})
	if _, err := p.Ask(t.Context(), p.core, p.admit("bearer", p.bob, ubl.TokenBearer)); err != nil {
		t.Fatalf("the token ended in spite of the fault: %v", err)
	}
	finished(h)
	p.Refused(ubl.CodeUnauthorized, p.core, p.admit("bearer", p.bob, ubl.TokenBearer))
	head := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{})
	harness.Must[int](h, p.tenant, ubl.SweepRooms{Request: p.Request(ubl.Platform())})
	if now := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}); now != head {
		t.Error("a sweep with nothing to do writes to tenant 0")
	}
	if m := harness.Must[*ubl.Member](h, p.tenant, remove); m.UserID != p.bob.UserID {
		t.Errorf("a retry is answered %+v", m)
	}
}

// TestServiceTokensEnd: after 90 days unless their maker says, which may be a year.
// Renewal gives them another end, and another secret that may overlap with the one
// before.
func TestServiceTokensEnd(t *testing.T) {
	const day = 24 * time.Hour
	p := openParty(t, harness.Open(t, harness.Options{}))
	now := ubl.TimeOf(p.Clock.Now())
	if made := p.token(p.bob, "a"); made.ExpiresAt == nil || *made.ExpiresAt != now.Add(90*day) || made.Keeper() != p.bob.UserID {
		t.Errorf("made as %+v", made)
	}
	for after, want := range map[time.Duration]ubl.Code{-day: ubl.CodeValidation, 400 * day: ubl.CodeValidation, 366 * day: ""} {
		ends := now.Add(after)
		_, err := p.Ask(t.Context(), p.tenant, ubl.CreateServiceToken{Request: p.Request(p.bob), Name: "b", ClientID: after.String(), SecretHash: "b", ExpiresAt: &ends})
		if ubl.CodeOf(err) != want {
			t.Errorf("an end in %s is answered %v", after, err)
		}
	}
	check := func(hash string) ubl.Time {
		answer, err := p.Ask(t.Context(), p.tenant, ubl.CheckServiceToken{ClientID: "a", SecretHash: hash})
		if err != nil {
			return 0
		}
		return answer.(*ubl.ServiceCaller).ExpiresAt
	}
	if got := check("a"); got != now.Add(90*day) {
		t.Errorf("the token ends at %s", got)
	}
	renew := ubl.RenewServiceToken{Request: p.Request(p.bob), ClientID: "a", SecretHash: "next", Grace: day}
	p.Refused(ubl.CodeForbidden, p.tenant, ubl.RenewServiceToken{Request: p.Request(ubl.Platform()), ClientID: "a"})
	p.Refused(ubl.CodeNotFound, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: "z"})
	for _, hash := range []string{"next", "next"} { // a repetition, too
		renew.SecretHash = hash
		if got := harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, renew); got.SecretHash != "next" || got.Token.Keeper() != p.bob.UserID || got.Token.CreatedBy != p.bob.UserID {
			t.Errorf("renewed as %+v", got)
		}
	}
	if a, next := check("a"), check("next"); a != now.Add(day) || next != now.Add(90*day) {
		t.Errorf("the former secret ends at %s, the next at %s", a, next)
	}
	p.Reload()
	p.Clock.Add(day)
	if a, next := check("a"), check("next"); a != 0 || next == 0 {
		t.Errorf("after the grace: %s and %s", a, next)
	}
	p.Clock.Add(89 * day)
	if next := check("next"); next != 0 {
		t.Errorf("after 90 days it still ends at %s", next)
	}
	harness.Must[*ubl.ServiceRenewed](p.House, p.tenant, ubl.RenewServiceToken{Request: p.Request(p.ana), ClientID: "a"})
	if next := check("next"); next != now.Add(180*day) {
		t.Errorf("renewed after its end, it ends at %s", next)
	}
}

// TestGrantsLeave: what a person and their agents signed in to a tool server with goes when
// they leave the tenant, by receipted acts of the platform, so that it isn't there when they
// are let in again. So does what an earlier version has left, or what came in while they left.
func TestGrantsLeave(t *testing.T) {
	p := openParty(t, harness.Open(t, harness.Options{}))
	portal := ubl.PortalName(p.ana.TenantID)
	for _, id := range []string{"files", "mail"} {
		harness.Must[*ubl.Server](p.House, portal, ubl.AddServer{Request: p.Request(p.ana), Owner: true, Server: ubl.Server{
			ServerID: id, Name: id, URL: "https://" + id + ".example", Auth: ubl.AuthUser}})
	}
	p.token(p.bob, "scout")
	scout := p.agent("scout")
	signIn := func(who ubl.Identity, server string) {
		t.Helper()
		if _, err := p.Ask(t.Context(), portal, ubl.SaveGrant{Request: p.Request(who), ServerID: server, Sealed: []byte("sealed")}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(when string, who ubl.Identity, want bool) {
		t.Helper()
		if a := harness.Must[*ubl.ServerAccess](p.House, portal, ubl.OpenServer{Who: who, ServerID: "files"}); (len(a.Grant) > 0) != want {
			t.Errorf("%s, the grant is %q", when, a.Grant)
		}
		for _, s := range harness.Must[[]*ubl.Server](p.House, portal, ubl.ListServers{Who: who}) {
			if s.ServerID == "files" && *s.Connected != want {
				t.Errorf("%s, the list says connected: %v", when, *s.Connected)
			}
		}
	}
	signIn(p.ana, "files")
	signIn(p.bob, "files")
	signIn(p.bob, "mail")
	signIn(scout, "files")
	remove := ubl.RemoveTenantMember{Request: p.Request(p.ana), UserID: p.bob.UserID}
	harness.Must[*ubl.Member](p.House, p.tenant, remove)
	if n := p.acts(p.ana.TenantID, ubl.DidServerConnect); n != 4+3 {
		t.Errorf("%d sign-ins began or ended", n)
	}
	signIn(p.bob, "files") // had begun before
	finished(p.House)
	harness.Must[*ubl.Member](p.House, p.tenant, remove)
	has("removed", p.bob, false)
	has("removed", scout, false)
	signIn(p.bob, "files") // an earlier version left it
	harness.Must[int](p.House, p.tenant, ubl.SweepRooms{Request: p.Request(ubl.Platform())})
	p.role(p.bob, ubl.RoleMember)
	for _, when := range []string{"in again", "loaded anew"} {
		has(when, p.bob, false)
		has(when, p.ana, true)
		p.Reload()
	}
	p.Refused(ubl.CodeForbidden, portal, ubl.ForgetGrants{Request: p.Request(p.ana), Users: []ubl.UserID{p.ana.UserID}})
	p.VerifyLedger(p.ana.TenantID)
}
