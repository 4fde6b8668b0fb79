package tenant_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/tenant"
	"ubl/test/harness"
)

// TestStateIsDerived: over random histories, a Tenant loaded from what is
// stored knows exactly what the live one knows.
func TestStateIsDerived(t *testing.T) {
	h := harness.OpenLive(t, "tenant", func(local string) bool { return local == "" }, func(ctx context.Context, read ubl.Reader, env actors.Env) (*tenant.Tenant, error) {
		return tenant.OpenEvery(ctx, read, families.Places(), ubl.Kinds(), env, tenant.Saving{Every: 3, Each: -1, Piece: 200, Keep: 7})
	})
	n, restored, filled, looks := 0, int64(0), harness.Filled{}, looker{}
	defer func() {
		if n < 50 { // they may all be too short
			return
		}
		if restored == 0 {
			t.Error("no state was loaded from a snapshot")
		}
		if looks.kept == 0 {
			t.Error("no snapshot was kept for looks into the past")
		}
		filled.Want(t, "State.License.Agreement.NamedHeir", "State.License.Agreement.SealedAt", "State.License.Agreement.Mandate", "State.License.Agreement.Salt") // places have those, and agents
	}()
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := &world{h: h.House, tenant: ubl.CoreTenant}
		if rapid.IntRange(0, 5).Draw(rt, "ordinary") > 0 { // tenant 0 is one for all runs, and so has a long history
			w.tenant = ubl.TenantID(fmt.Sprintf("t:example%d.com", n))
		}
		for i := range 4 {
			u := harness.User(fmt.Sprintf("user%d@example%d.com", i, n))
			u.TenantID = w.tenant
			w.users = append(w.users, u)
		}
		w.enter(w.users[0])
		rt.Repeat(map[string]func(*rapid.T){
			"enter":    func(rt *rapid.T) { w.enter(w.user(rt)) },
			"room":     w.room,
			"defaults": w.defaults,
			"role":     w.role,
			"name":     w.name,
			"remove":   w.remove,
			"token":    w.token,
			"agent":    w.agent,
			"mandate":  w.mandate,
			"revoke":   w.revoke,
			"invite":   w.invite,
			"uninvite": w.uninvite,
			"accept":   w.accept,
			"prove":    w.prove,
			"claim":    w.claim,
			"admit":    w.admit,
			"session":  w.session,
			"unadmit":  w.unadmit,
			"sign out": w.everywhere,
			"register": w.register,
			"sign in":  w.signIn,
			"forget":   w.forget,
			"make":     w.make,
			"look":     w.look,
			"access":   w.access,
			"use":      w.use,
			"close":    w.close,
			"terms":    w.terms,
			"kind":     w.kind,
			"end":      w.end,
			"": func(rt *rapid.T) {
				name := ubl.TenantName(w.tenant)
				h.Alarms() // what follows from a removal meanwhile would be a difference
				live, loaded := h.Pair(rt, name)
				replayed, err := tenant.Replay(context.Background(), h.Engine, actors.Env{Name: name, Now: h.Clock.Now})
				if err != nil {
					rt.Fatalf("couldn't replay: %v", err)
				}
				got, want, all := fmt.Sprintf("%+v", loaded.Snapshot()), fmt.Sprintf("%+v", live.Snapshot()), fmt.Sprintf("%+v", replayed)
				if got != want {
					rt.Fatalf("loaded state differs\n got %s\nwant %s", got, want)
				}
				if all != want {
					rt.Fatalf("replayed state differs\n got %s\nwant %s", all, want)
				}
				looks.look(rt, h.House, name, loaded)
				filled.Look(live.State)
				restored = max(restored, harness.Saved(t, h.Engine, name, tenant.HeadKey()))
			},
		})
	})
}

// looker looks into the past of tenants: what a kept snapshot and the events after it lead to
// is what all events lead to. It draws nothing, so that histories stay as they are.
type looker struct{ looks, kept int64 }

func (l *looker) look(rt *rapid.T, h *harness.House, name ubl.Name, x *tenant.Tenant) {
	ctx := context.Background()
	if x.State.Events == 0 {
		return
	}
	slow, err := x.Forgetful(ctx, actors.Env{Name: name, Now: h.Clock.Now})
	if err != nil {
		rt.Fatalf("couldn't replay: %v", err)
	}
	l.looks++
	receipt, err := x.Moment(ctx, 1+l.looks*31%x.State.Events)
	if err != nil {
		rt.Fatal(err)
	}
	for _, at := range []ubl.AsOf{{Seq: receipt.Seq}, {Time: receipt.Time}, {Time: receipt.Time - 1}} {
		got, last, err := x.AsItWas(ctx, at)
		want, all, slowErr := slow.AsItWas(ctx, at)
		if got != want || last != all || fmt.Sprint(err) != fmt.Sprint(slowErr) {
			rt.Fatalf("as of %+v: event %d, %v\n got %s\nwant event %d, %v\n     %s", at, last, err, got, all, slowErr, want)
		}
	}
	err = x.EachStep(ctx, func(did ubl.Did, maybe bool) {
		if !maybe {
			rt.Fatalf("%s is a step of a record's history, and isn't looked at", did)
		}
	})
	if err != nil {
		rt.Fatal(err)
	}
	_ = h.Engine.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend(tenant.KeptKey(), append(tenant.KeptKey(), 0xff), func(_, _ []byte) bool {
			l.kept++
			return true
		})
	})
}

// world drives one tenant with random commands. Refusals are part of a history.
type world struct {
	h      *harness.House
	tenant ubl.TenantID
	users  []ubl.Identity
	tokens int
	// proposed are the newest terms that somebody proposed.
	proposed ubl.Terms
	// told asks in a test's own way, where it is set.
	told func(ubl.Command)
}

func (w *world) user(rt *rapid.T) ubl.Identity {
	if rapid.Bool().Draw(rt, "first") { // who owns the tenant, at first
		return w.users[0]
	}
	return rapid.SampledFrom(w.users).Draw(rt, "user")
}

func (w *world) ask(cmd ubl.Command) {
	if w.told != nil {
		w.told(cmd)
		return
	}
	_, _ = w.h.Ask(context.Background(), ubl.TenantName(w.tenant), cmd)
}

func (w *world) request(rt *rapid.T) ubl.Request { return w.h.Request(w.user(rt)) }

// later lets time pass, and what is due by then happen.
func (w *world) later(d time.Duration) {
	w.h.Clock.Add(d)
	w.h.Alarms()
}

func (w *world) enter(u ubl.Identity) {
	w.ask(ubl.Enter{Request: w.h.Request(u), Name: ubl.FitMemberName(u.Subject), Act: true})
}

func (w *world) room(rt *rapid.T) {
	c := ubl.CreateRoom{Request: w.request(rt), Name: rapid.SampledFrom([]string{"a", "b", "", "会議"}).Draw(rt, "name")}
	w.ask(c)
	if rapid.Bool().Draw(rt, "again") {
		w.ask(c)
	}
}

func (w *world) defaults(rt *rapid.T) {
	days := rapid.IntRange(-1, 30).Draw(rt, "days")
	w.ask(ubl.SetDefaults{Request: w.request(rt), Patch: ubl.TenantDefaultsPatch{RetentionDays: &days}})
}

func (w *world) role(rt *rapid.T) {
	role := rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleMember}).Draw(rt, "role")
	w.ask(ubl.SetTenantMember{Request: w.request(rt), UserID: w.user(rt).UserID, Role: role})
}

// name names somebody, who may be the one who asks.
func (w *world) name(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"Ana", "Scout", "", "a\nb"}).Draw(rt, "name")
	w.ask(ubl.SetTenantMember{Request: w.request(rt), UserID: w.user(rt).UserID, Name: &name})
}

func (w *world) remove(rt *rapid.T) {
	w.ask(ubl.RemoveTenantMember{Request: w.request(rt), UserID: w.user(rt).UserID})
}

func (w *world) token(rt *rapid.T) {
	w.tokens++
	w.ask(ubl.CreateServiceToken{Request: w.request(rt), Name: "bot", ClientID: fmt.Sprint("client", w.tokens), SecretHash: "00"})
}

// agent connects one, or shows its code or one of its tokens, also some that were used before.
func (w *world) agent(rt *rapid.T) {
	n := rapid.IntRange(0, 3).Draw(rt, "agent")
	id, shown := fmt.Sprint("agent", n), fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "shown"))
	switch rapid.IntRange(0, 2).Draw(rt, "step") {
	case 0:
		w.ask(ubl.ConnectAgent{Request: w.request(rt), ClientID: id, Name: "helper", Client: "client", CodeHash: "code", Mandate: w.bounds(rt)})
	case 1:
		w.ask(ubl.RedeemAgentCode{Request: w.h.Request(ubl.Platform()), ClientID: id, Client: "client", CodeHash: "code", FamilyHash: "f", RefreshHash: shown})
	case 2:
		w.ask(ubl.RefreshAgent{Request: w.h.Request(ubl.Platform()), ClientID: id, Client: "client", FamilyHash: "f", RefreshHash: shown, NewHash: fmt.Sprint(rapid.IntRange(0, 2).Draw(rt, "new"))})
	}
}

// mandate bounds an agent or a service token otherwise, or ends it with its Agreement.
func (w *world) mandate(rt *rapid.T) {
	id := fmt.Sprint(rapid.SampledFrom([]string{"agent", "client"}).Draw(rt, "of"), rapid.IntRange(0, 3).Draw(rt, "agent"))
	if rapid.IntRange(0, 3).Draw(rt, "end") == 0 {
		w.ask(ubl.EndAgreement{Request: w.request(rt), Agreement: ubl.AgentAgreement(id)})
		return
	}
	w.ask(ubl.SetMandate{Request: w.request(rt), ClientID: id, Mandate: w.bounds(rt)})
}

func (w *world) bounds(rt *rapid.T) ubl.Mandate {
	return ubl.Mandate{
		Tools: rapid.SampledFrom([][]string{nil, {"messenger.*"}}).Draw(rt, "tools"), Places: rapid.SampledFrom([][]string{nil, {"r:a"}}).Draw(rt, "places"),
		ReadOnly: rapid.Bool().Draw(rt, "read-only"), PerMinute: rapid.IntRange(0, 2).Draw(rt, "a minute"),
	}
}

func (w *world) revoke(rt *rapid.T) {
	w.ask(ubl.RevokeServiceToken{Request: w.request(rt), ClientID: fmt.Sprint("client", rapid.IntRange(0, 3).Draw(rt, "token"))})
}

func (w *world) guest(rt *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 3).Draw(rt, "guest")) }

func (w *world) invite(rt *rapid.T) {
	w.tokens++
	guest := ubl.Invited(w.tenant, ubl.InvitationID(fmt.Sprint("i:", w.tokens)), "guest"+w.guest(rt)+"@else.org")
	w.users = append(w.users, guest)
	w.ask(ubl.CreateInvitation{
		Request: w.request(rt), InvitationID: ubl.InvitationID(fmt.Sprint("i:", w.tokens)), Invitee: guest, SecretHash: guest.Email,
		Role: rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleMember}).Draw(rt, "role"),
		TTL:  time.Duration(rapid.IntRange(1, 3).Draw(rt, "hours")) * time.Hour,
	})
}

func (w *world) uninvite(rt *rapid.T) {
	id := fmt.Sprint("i:", rapid.IntRange(0, w.tokens).Draw(rt, "invitation"))
	w.ask(ubl.RevokeInvitation{Request: w.request(rt), InvitationID: ubl.InvitationID(id)})
}

func (w *world) accept(rt *rapid.T) {
	w.ask(ubl.AcceptInvitation{Request: w.h.Request(ubl.Platform()), SecretHash: "guest" + w.guest(rt) + "@else.org"})
}

// prove has somebody, who may have come by an invitation, be verified as a guest.
func (w *world) prove(rt *rapid.T) {
	verified := harness.User("guest" + w.guest(rt) + "@else.org")
	member := w.user(rt)
	w.ask(ubl.KeepHome{Request: w.h.Request(ubl.Platform()), Verified: verified, Home: ubl.Home{TenantID: w.tenant, UserID: member.UserID}})
	w.ask(ubl.ProveMember{Request: w.h.Request(ubl.Platform()), Member: member, Verified: verified})
}

// claim has tenant 0 decide about a domain, and what another is told by it follow.
func (w *world) claim(rt *rapid.T) {
	w.later(time.Duration(rapid.IntRange(0, 3).Draw(rt, "days")) * 24 * time.Hour)
	did := rapid.SampledFrom([]ubl.Did{ubl.DidDomainClaim, ubl.DidDomainVerify, ubl.DidDomainRelease}).Draw(rt, "act")
	domain := rapid.SampledFrom([]string{"a.example", "b.example"}).Draw(rt, "domain")
	by := w.user(rt)
	if w.tenant == ubl.CoreTenant {
		by.TenantID = rapid.SampledFrom([]ubl.TenantID{"t:a", "t:b"}).Draw(rt, "tenant")
		w.ask(ubl.KeepDomain{Request: w.h.Request(ubl.Platform()), By: by, Did: did, Domain: domain, Value: string(by.TenantID)})
		return
	}
	switch did {
	case ubl.DidDomainClaim:
		w.ask(ubl.ClaimDomain{Request: w.h.Request(by), Domain: domain, Value: string(w.tenant)})
	case ubl.DidDomainVerify:
		w.ask(ubl.VerifyDomain{Request: w.h.Request(by), Domain: domain, Value: string(w.tenant)})
	default:
		w.ask(ubl.ReleaseDomain{Request: w.h.Request(by), Domain: domain})
	}
}

func (w *world) admit(rt *rapid.T) {
	w.later(time.Duration(rapid.IntRange(0, 90).Draw(rt, "minutes")) * time.Minute)
	u := w.user(rt)
	w.ask(ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Token: ubl.PlatformToken{
		JTI: fmt.Sprint("jti", rapid.IntRange(0, 5).Draw(rt, "jti")), UserID: u.UserID, TenantID: w.tenant,
		ExpiresAt: ubl.TimeOf(w.h.Clock.Now()).Add(time.Hour),
	}})
}

// session begins one, makes its cookie anew, or skips turns; some by a link.
func (w *world) session(rt *rapid.T) {
	u := w.user(rt)
	hash := rapid.SampledFrom([]string{"", strings.Repeat("0", 64), strings.Repeat("1", 64)}).Draw(rt, "link")
	expires := ubl.TimeOf(w.h.Clock.Now()).Add(time.Hour)
	if rapid.Bool().Draw(rt, "offer") && hash != "" {
		w.ask(ubl.OfferLink{Request: w.h.Request(ubl.Platform()), Link: ubl.OneTimeLink{Hash: hash, UserID: u.UserID, TenantID: w.tenant, ExpiresAt: expires}})
	}
	w.ask(ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Link: hash, Token: ubl.PlatformToken{
		JTI: fmt.Sprint("session", rapid.IntRange(0, 5).Draw(rt, "jti")), UserID: u.UserID, TenantID: w.tenant, ExpiresAt: expires,
		Kind: ubl.TokenSession, Method: ubl.SignInLink, Turn: rapid.Int64Range(0, 3).Draw(rt, "turn"),
	}})
}

func (w *world) everywhere(rt *rapid.T) {
	w.ask(ubl.RevokeTokens{Request: w.request(rt), Passkeys: rapid.Bool().Draw(rt, "passkeys")})
}

func (w *world) unadmit(rt *rapid.T) {
	w.ask(ubl.RevokeToken{Request: w.request(rt), JTI: fmt.Sprint("jti", rapid.IntRange(0, 5).Draw(rt, "jti"))})
}

// credential is one of a few, so that passkeys are found again.
func (w *world) credential(rt *rapid.T) []byte {
	return []byte(fmt.Sprintf("credential-%05d", rapid.IntRange(0, 3).Draw(rt, "credential")))
}

func (w *world) register(rt *rapid.T) {
	c := ubl.RegisterPasskey{Request: w.request(rt), Name: "key", Handle: make([]byte, ubl.PasskeyHandle),
		Authenticator: ubl.Authenticator{CredentialID: w.credential(rt), PublicKey: []byte{1}}}
	w.ask(c)
	if rapid.Bool().Draw(rt, "again") {
		w.ask(c)
	}
}

func (w *world) signIn(rt *rapid.T) {
	w.ask(ubl.UsePasskey{Request: w.h.Request(ubl.Platform()), PasskeyID: ubl.PasskeyIDOf(w.credential(rt)),
		SignCount: int64(rapid.IntRange(0, 9).Draw(rt, "count")), BackedUp: rapid.Bool().Draw(rt, "backed up")})
}

func (w *world) forget(rt *rapid.T) {
	w.ask(ubl.RemovePasskey{Request: w.request(rt), PasskeyID: ubl.PasskeyIDOf(w.credential(rt))})
}

func (w *world) end(rt *rapid.T) {
	if w.tenant != ubl.CoreTenant && rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 {
		w.ask(ubl.EndAgreement{Request: w.request(rt)})
	}
}

func (w *world) make(rt *rapid.T) {
	physics := rapid.SampledFrom([]*ubl.Physics{nil, {}, {Fungibility: ubl.Transient, Topology: ubl.Objects, Permeability: ubl.Open, Execution: ubl.Disabled}}).Draw(rt, "physics")
	c := ubl.CreateContainer{
		Request: w.request(rt), Name: rapid.SampledFrom([]string{"a", "b", "", "general"}).Draw(rt, "name"),
		Kind: rapid.SampledFrom([]string{"workspace", "wallet", "container", "box"}).Draw(rt, "kind"), Physics: physics,
	}
	w.ask(c)
	if rapid.Bool().Draw(rt, "again") {
		w.ask(c)
	}
}

func (w *world) look(rt *rapid.T) {
	w.ask(ubl.ListContainers{Request: w.request(rt), Receipted: rapid.Bool().Draw(rt, "receipted")})
}

func (w *world) tool(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"messenger.send", "files.read", "messenger.rooms", "tool.access", ""}).Draw(rt, "tool")
}

func (w *world) access(rt *rapid.T) {
	var users []ubl.UserID
	for range rapid.IntRange(0, 2).Draw(rt, "users") {
		users = append(users, w.user(rt).UserID)
	}
	w.ask(ubl.SetToolAccess{Request: w.request(rt), Tool: w.tool(rt), Allowed: rapid.Bool().Draw(rt, "allowed"),
		Users: users, PerMinute: rapid.IntRange(-1, 2).Draw(rt, "per minute")})
}

func (w *world) use(rt *rapid.T) {
	w.ask(ubl.Enter{Request: w.request(rt), Tool: w.tool(rt), External: rapid.Bool().Draw(rt, "external")})
}

func (w *world) close(rt *rapid.T) {
	w.ask(ubl.EndAgreement{Request: w.request(rt), Agreement: ubl.ToolAgreement(w.tool(rt))})
}

// terms proposes some, answers a proposal, or takes it away.
func (w *world) terms(rt *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(rt, "terms") {
	case 0:
		w.ask(ubl.WithdrawTerms{Request: w.request(rt)})
	case 1, 2:
		w.ask(ubl.AcceptTerms{Request: w.request(rt), TermsHash: w.proposed.Hash()})
	default:
		w.proposed = harness.DrawTerms(rt, "room.create")
		for range 2 { // the second may have to be accepted
			w.ask(ubl.ProposeTerms{Request: w.h.Request(w.users[0]), Terms: w.proposed})
		}
	}
}

// kind writes one of the tenant's own, or forgets it.
func (w *world) kind(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"box", "case", "wallet"}).Draw(rt, "kind")
	if rapid.IntRange(0, 3).Draw(rt, "forget") == 0 {
		w.ask(ubl.RemoveKind{Request: w.request(rt), Name: name})
		return
	}
	w.ask(ubl.SetKind{Request: w.request(rt), Kind: ubl.Kind{
		Name: name, Agreement: name + "_agreement", Physics: ubl.WorkspaceKind().Physics, IDs: rapid.SampledFrom([]string{"", "x-", "X"}).Draw(rt, "ids"),
	}})
}
