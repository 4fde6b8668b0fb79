package tenant_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// porch is a tenant with an owner and a member, and what its owner invites with.
type porch struct {
	*harness.House
	t        *testing.T
	name     ubl.Name
	ana, bob ubl.Identity
	invited  int
}

func openPorch(t *testing.T) *porch {
	h := harness.Open(t, harness.Options{})
	p := &porch{House: h, t: t, ana: harness.User("ana@acme.com"), bob: harness.User("bob@acme.com")}
	p.name = ubl.TenantName(p.ana.TenantID)
	h.Enter(p.ana)
	h.Enter(p.bob)
	return p
}

// stranger is a person of another domain as they would be in the tenant if somebody
// vouched for them.
func (p *porch) stranger(email string) ubl.Identity {
	const issuer = "urn:ubl:local"
	return ubl.Identity{UserID: ubl.UserIDFor(issuer, email, false), Email: email, EmailDomain: ubl.EmailDomain(email),
		Groups: []string{}, TenantID: p.ana.TenantID, Issuer: issuer, Subject: email}
}

// draft is a good invitation of somebody new. Its secret's hash is its id.
func (p *porch) draft(email string) ubl.CreateInvitation {
	p.invited++
	id := fmt.Sprintf("i:%d", p.invited)
	return ubl.CreateInvitation{Request: p.Request(p.ana), InvitationID: ubl.InvitationID(id), Invitee: p.stranger(email),
		Role: ubl.RoleMember, TTL: 24 * time.Hour, SecretHash: "hash of " + id}
}

func (p *porch) invite(email string) (*ubl.Invitation, string) {
	p.t.Helper()
	c := p.draft(email)
	return harness.Must[*ubl.Invitation](p.House, p.name, c), c.SecretHash
}

// acceptedBy is who has accepted an invitation.
func (p *porch) acceptedBy(hash string) ubl.Identity {
	p.t.Helper()
	who := *harness.Must[*ubl.Identity](p.House, p.name, p.accept(hash))
	who.TenantID = p.ana.TenantID
	return who
}

func (p *porch) accept(hash string) ubl.AcceptInvitation {
	return ubl.AcceptInvitation{Request: p.Request(ubl.Platform()), SecretHash: hash}
}

func (p *porch) remove(who ubl.Identity, by ubl.Identity) {
	p.t.Helper()
	harness.Must[*ubl.Member](p.House, p.name, ubl.RemoveTenantMember{Request: p.Request(by), UserID: who.UserID})
}

func (p *porch) role(who ubl.Identity, role ubl.Role) {
	p.t.Helper()
	harness.Must[*ubl.Member](p.House, p.name, ubl.SetTenantMember{Request: p.Request(p.ana), UserID: who.UserID, Role: role})
}

// TestInvited: who accepts is a member in the role of the invitation, in the
// tenant and in r:general, and comes in from then on by the identity that the
// acceptance answered.
func TestInvited(t *testing.T) {
	p := openPorch(t)
	c := p.draft("eve@gmail.com")
	c.Role = ubl.RoleOwner
	made := harness.Must[*ubl.Invitation](p.House, p.name, c)
	if made.Email != "eve@gmail.com" || made.CreatedBy != p.ana.UserID || made.ExpiresAt != made.CreatedAt.Add(24*time.Hour) || !made.Open(made.CreatedAt) {
		t.Errorf("made %+v", made)
	}
	found := harness.Must[*ubl.Invitation](p.House, p.name, ubl.FindInvitation{SecretHash: c.SecretHash})
	if *found != *made {
		t.Errorf("found %+v", found)
	}
	eve := p.acceptedBy(c.SecretHash)
	if want := ubl.Invited(p.ana.TenantID, made.ID, "eve@gmail.com"); fmt.Sprint(eve) != fmt.Sprint(want) {
		t.Errorf("the acceptance made %+v, want %+v", eve, want)
	}
	if got := p.newestMessage(); got != string(eve.UserID)+" joined" {
		t.Errorf("the newest message in r:general is %q", got)
	}
	p.Reload()
	if entered := p.Enter(eve); entered.Role != ubl.RoleOwner {
		t.Errorf("who was invited as an owner is %q", entered.Role)
	}
	if list := p.list(p.ana); len(list) != 1 || list[0].AcceptedAt == nil {
		t.Errorf("listed as %+v", list)
	}
	history := harness.Must[*ubl.AgreementView](p.House, p.name, ubl.GetAgreement{Who: eve}).History
	if last := history[len(history)-1]; last.Did != ubl.DidInvitationAccept || last.By != eve.UserID || last.Role != ubl.RoleOwner {
		t.Errorf("the license's newest step is %+v", last)
	}
	p.VerifyLedger(p.ana.TenantID)
}

func (p *porch) newestMessage() string {
	p.t.Helper()
	page := harness.Must[*ubl.HistoryPage](p.House, ubl.RoomName(p.ana.TenantID, ubl.GeneralRoom), ubl.ReadHistory{Who: p.ana, Limit: 1})
	_, text, _ := strings.Cut(string(page.Messages[0]), `"text":"`)
	text, _, _ = strings.Cut(text, `"`)
	return text
}

func (p *porch) list(who ubl.Identity) []*ubl.Invitation {
	p.t.Helper()
	return harness.Must[[]*ubl.Invitation](p.House, p.name, ubl.ListInvitations{Who: who})
}

// TestNotInvited has who may not invite, and whom.
func TestNotInvited(t *testing.T) {
	p := openPorch(t)
	bot := harness.Must[*ubl.ServiceToken](p.House, p.name, ubl.CreateServiceToken{Request: p.Request(p.ana), Name: "bot", ClientID: "c1", SecretHash: "00"})
	service := ubl.Identity{UserID: bot.UserID, IsService: true, TenantID: p.ana.TenantID, Issuer: "urn:ubl:service", Subject: "c1"}
	p.role(service, ubl.RoleOwner)
	p.invite("open@else.org")
	for name, test := range map[string]struct {
		change func(*ubl.CreateInvitation)
		code   ubl.Code
	}{
		"by a member":               {func(c *ubl.CreateInvitation) { c.Who = p.bob }, ubl.CodeForbidden},
		"by a stranger":             {func(c *ubl.CreateInvitation) { c.Who = p.stranger("mal@else.org") }, ubl.CodeForbidden},
		"by a service that owns":    {func(c *ubl.CreateInvitation) { c.Who = service }, ubl.CodeForbidden},
		"in a third role":           {func(c *ubl.CreateInvitation) { c.Role = "guest" }, ubl.CodeValidation},
		"for less than an hour":     {func(c *ubl.CreateInvitation) { c.TTL = time.Hour - 1 }, ubl.CodeValidation},
		"for longer than a month":   {func(c *ubl.CreateInvitation) { c.TTL = 721 * time.Hour }, ubl.CodeValidation},
		"under no id":               {func(c *ubl.CreateInvitation) { c.InvitationID = "1" }, ubl.CodeValidation},
		"into another tenant":       {func(c *ubl.CreateInvitation) { c.Invitee.TenantID = "t:else.org" }, ubl.CodeValidation},
		"of a service":              {func(c *ubl.CreateInvitation) { c.Invitee.IsService = true }, ubl.CodeValidation},
		"of nobody":                 {func(c *ubl.CreateInvitation) { c.Invitee.Email = "" }, ubl.CodeValidation},
		"under an id that is taken": {func(c *ubl.CreateInvitation) { c.InvitationID = "i:1" }, ubl.CodeConflict},
		"of a member whom another issuer vouches for": {func(c *ubl.CreateInvitation) { c.Invitee = p.stranger("BOB@acme.com") }, ubl.CodeConflict},
		"of themselves":          {func(c *ubl.CreateInvitation) { c.Invitee = p.ana }, ubl.CodeConflict},
		"of who has one already": {func(c *ubl.CreateInvitation) { c.Invitee = p.stranger("open@else.org") }, ubl.CodeConflict},
	} {
		t.Run(name, func(t *testing.T) {
			c := p.draft("eve@else.org")
			test.change(&c)
			p.Refused(test.code, p.name, c)
		})
	}
	if list := p.list(p.ana); len(list) != 1 {
		t.Errorf("%d invitations were made", len(list))
	}
	p.Refused(ubl.CodeForbidden, p.name, ubl.ListInvitations{Who: p.bob})
	p.Refused(ubl.CodeForbidden, p.name, ubl.RevokeInvitation{Request: p.Request(p.bob), InvitationID: "i:1"})
}

// TestOver: an invitation that can't be accepted any more looks like one that
// never was, whatever ended it.
func TestOver(t *testing.T) {
	for name, end := range map[string]func(*porch, *ubl.Invitation, string){
		"accepted": func(p *porch, _ *ubl.Invitation, hash string) {
			harness.Must[*ubl.Identity](p.House, p.name, p.accept(hash))
		},
		"revoked": func(p *porch, i *ubl.Invitation, _ string) { p.revoke(i.ID) },
		"expired": func(p *porch, _ *ubl.Invitation, _ string) { p.Clock.Add(24 * time.Hour) },
		"its maker was shut out": func(p *porch, _ *ubl.Invitation, _ string) {
			p.role(p.bob, ubl.RoleOwner)
			p.remove(p.ana, p.bob)
			p.ana = p.bob
		},
		"its maker owns nothing any more, and then does again": func(p *porch, _ *ubl.Invitation, _ string) {
			p.role(p.bob, ubl.RoleOwner)
			p.role(p.ana, ubl.RoleMember)
			harness.Must[*ubl.Member](p.House, p.name, ubl.SetTenantMember{Request: p.Request(p.bob), UserID: p.ana.UserID, Role: ubl.RoleOwner})
		},
		"the license ended": func(p *porch, _ *ubl.Invitation, _ string) {
			harness.Must[*ubl.AgreementView](p.House, p.name, ubl.EndAgreement{Request: p.Request(p.ana)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := openPorch(t)
			i, hash := p.invite("eve@else.org")
			end(p, i, hash)
			p.Reload()
			p.Refused(ubl.CodeNotFound, p.name, ubl.FindInvitation{SecretHash: hash})
			p.Refused(ubl.CodeNotFound, p.name, p.accept(hash))
			if name != "the license ended" {
				p.Refused(ubl.CodeConflict, p.name, ubl.RevokeInvitation{Request: p.Request(p.ana), InvitationID: i.ID})
			}
			p.VerifyLedger(p.ana.TenantID)
		})
	}
	p := openPorch(t)
	p.Refused(ubl.CodeNotFound, p.name, ubl.FindInvitation{SecretHash: ""})
	p.Refused(ubl.CodeNotFound, p.name, p.accept("none"))
	p.Refused(ubl.CodeNotFound, p.name, ubl.RevokeInvitation{Request: p.Request(p.ana), InvitationID: "i:none"})
	p.Refused(ubl.CodeNotFound, "t:nowhere.org", ubl.FindInvitation{SecretHash: "none"})
	p.Refused(ubl.CodeNotFound, "t:nowhere.org", p.accept("none"))
}

func (p *porch) revoke(id ubl.InvitationID) {
	p.t.Helper()
	if i := harness.Must[*ubl.Invitation](p.House, p.name, ubl.RevokeInvitation{Request: p.Request(p.ana), InvitationID: id}); i.RevokedAt == nil {
		p.t.Errorf("revoked as %+v", i)
	}
}

// TestNoWayIntoAnAccount: an invitation that was open before its address became
// a member's makes nobody that member, and stays as it is.
func TestNoWayIntoAnAccount(t *testing.T) {
	for name, come := range map[string]func(*porch){
		"by the tenant's own door": func(p *porch) { p.Enter(p.stranger("eve@acme.com")) },
		"by another issuer":        func(p *porch) { p.Enter(harness.User("eve@acme.com")) },
	} {
		t.Run(name, func(t *testing.T) {
			p := openPorch(t)
			i, hash := p.invite("Eve@acme.com")
			come(p)
			p.Refused(ubl.CodeConflict, p.name, ubl.FindInvitation{SecretHash: hash})
			p.Refused(ubl.CodeConflict, p.name, p.accept(hash))
			p.revoke(i.ID)
		})
	}
}

// TestRace: of two who have the link one is let in; the same page sent twice is
// one acceptance, for a minute.
func TestRace(t *testing.T) {
	p := openPorch(t)
	_, hash := p.invite("eve@else.org")
	first, second := p.accept(hash), p.accept(hash)
	codes := make(chan ubl.Code)
	for _, c := range []ubl.AcceptInvitation{first, second} {
		go func() {
			_, err := p.Ask(context.Background(), p.name, c)
			codes <- ubl.CodeOf(err)
		}()
	}
	got := []ubl.Code{<-codes, <-codes}
	slices.Sort(got)
	if got[0] != "" || got[1] != ubl.CodeNotFound {
		t.Fatalf("two who accept are answered %q", got)
	}
	if _, err := p.Ask(context.Background(), p.name, first); err != nil {
		first, second = second, first
	}
	p.Clock.Add(ubl.AcceptAgain)
	p.Restart()
	harness.Must[*ubl.Identity](p.House, p.name, first)
	p.Refused(ubl.CodeNotFound, p.name, second)
	p.Clock.Add(time.Millisecond)
	p.Refused(ubl.CodeNotFound, p.name, first)
}

// TestOnlyThePlatformAccepts: a caller can't, even with the secret's hash.
func TestOnlyThePlatformAccepts(t *testing.T) {
	p := openPorch(t)
	_, hash := p.invite("eve@else.org")
	p.Refused(ubl.CodeForbidden, p.name, ubl.AcceptInvitation{Request: p.Request(p.ana), SecretHash: hash})
}

// TestInvitedAgain: an owner may invite whom the tenant has shut out.
func TestInvitedAgain(t *testing.T) {
	p := openPorch(t)
	for range 2 {
		_, hash := p.invite("eve@else.org")
		eve := p.acceptedBy(hash)
		p.Enter(eve)
		p.remove(eve, p.ana)
		p.Refused(ubl.CodeForbidden, p.name, ubl.Enter{Request: p.Request(eve)})
	}
}

// TestRepeatedInvitation: a repetition finds the first, though it has drawn
// another id; another content under the key is refused.
func TestRepeatedInvitation(t *testing.T) {
	p := openPorch(t)
	first, again := p.draft("eve@else.org"), p.draft("eve@else.org")
	again.Request = first.Request
	made := harness.Must[*ubl.Invitation](p.House, p.name, first)
	p.Restart()
	p.Clock.Add(time.Minute)
	if got := harness.Must[*ubl.Invitation](p.House, p.name, again); *got != *made {
		t.Errorf("repeated: %+v, want %+v", got, made)
	}
	again.TTL++
	p.Refused(ubl.CodeIdempotencyConflict, p.name, again)
}

// TestFull: a tenant has as many open invitations as it may, and says when the
// next ends; those that have ended make room, and are forgotten in the end.
func TestFull(t *testing.T) {
	p := openPorch(t)
	early := p.draft("early@else.org")
	early.TTL = 2 * time.Hour
	harness.Must[*ubl.Invitation](p.House, p.name, early)
	fill := func() {
		t.Helper()
		for p.invited%ubl.MaxInvitations != 0 {
			p.invite(fmt.Sprintf("guest%d@else.org", p.invited))
		}
	}
	fill()
	_, err := p.Ask(context.Background(), p.name, p.draft("late@else.org"))
	if e := ubl.AsError(err); e.Code != ubl.CodeRateLimited || e.RetryAfter() != 7200 {
		t.Errorf("one too many is answered %v, to be tried after %d s", err, e.RetryAfter())
	}
	p.invited--
	p.Clock.Add(24 * time.Hour)
	p.invite("again@else.org")
	fill()
	if got := len(p.list(p.ana)); got != 2*ubl.MaxInvitations {
		t.Errorf("%d are listed", got)
	}
	p.revoke(ubl.InvitationID(fmt.Sprintf("i:%d", p.invited)))
	p.invite("last@else.org")
	p.Reload()
	if got := p.list(p.ana); len(got) != ubl.MaxInvitations || got[0].Email != "again@else.org" {
		t.Errorf("%d are left", len(got))
	}
}

// TestOneAddressInTwoTenants: a person who is a member of two has one id in both. To
// tenant 0, which knows them from both, they are two: one's idempotency keys don't
// answer for the other's.
func TestOneAddressInTwoTenants(t *testing.T) {
	p := openPorch(t)
	here, there := p.stranger("eve@else.org"), p.stranger("eve@else.org")
	there.TenantID = "t:else.org"
	p.Enter(here)
	p.Enter(there)
	p.Enter(ubl.Platform())
	core, ends := ubl.TenantName(ubl.CoreTenant), ubl.TimeOf(p.Clock.Now()).Add(time.Hour)
	for _, who := range []ubl.Identity{here, there} {
		if _, err := p.Ask(context.Background(), core, ubl.AdmitToken{Request: p.Request(ubl.Platform()), Token: ubl.PlatformToken{
			JTI: string("of " + who.TenantID), UserID: who.UserID, TenantID: who.TenantID, ExpiresAt: ends}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []ubl.Identity{here, there} {
		req := p.Request(who)
		req.Key = "everywhere"
		if n := harness.Must[int](p.House, core, ubl.RevokeTokens{Request: req}); n != 1 {
			t.Errorf("in %s %d tokens are revoked, want 1", who.TenantID, n)
		}
		if left := harness.Must[[]ubl.PlatformToken](p.House, core, ubl.ListTokens{Who: who}); len(left) != 0 {
			t.Errorf("in %s are left %+v", who.TenantID, left)
		}
	}
}

// TestOperatorsAreInvited into tenant 0 by its owners, and see its rooms.
func TestOperatorsAreInvited(t *testing.T) {
	p := openPorch(t)
	op := harness.User("op@ops.example")
	op.TenantID = ubl.CoreTenant
	p.name, p.ana = ubl.TenantName(ubl.CoreTenant), op
	p.Enter(ubl.Platform())
	p.Enter(op)
	_, hash := p.invite("new@ops.example")
	rooms := harness.Must[[]ubl.RoomEntry](p.House, p.name, ubl.ListRooms{Who: p.acceptedBy(hash)})
	if len(rooms) != len(ubl.PlatformRooms()) {
		t.Errorf("who was invited sees %+v", rooms)
	}
}
