package auth

import (
	"net/http"
	"strings"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// sealedPerson is somebody as a ceremony's cookie holds them, while a provider or they
// themselves are asked: the session's cookie needn't come back.
type sealedPerson struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
	Email    string       `json:"email"`
	Issuer   string       `json:"issuer"`
	Subject  string       `json:"subject"`
	Unproven bool         `json:"unproven,omitempty"`
	Groups   []string     `json:"groups,omitempty"`
}

func sealPerson(who ubl.Identity) *sealedPerson {
	return &sealedPerson{who.TenantID, who.UserID, who.Email, who.Issuer, who.Subject, who.Unproven, fewGroups(who.Groups)}
}

func (p *sealedPerson) identity() ubl.Identity {
	return ubl.Identity{
		UserID: p.UserID, Email: p.Email, EmailDomain: ubl.EmailDomain(p.Email), Groups: append([]string{}, p.Groups...), Unproven: p.Unproven,
		TenantID: p.TenantID, Issuer: p.Issuer, Subject: p.Subject,
	}
}

// proving is who is signed in and wants to prove the address of their invitation.
func (a *Authenticator) proving(r *http.Request) (*sealedPerson, error) {
	who, err := a.whose(r)
	switch {
	case err != nil:
		return nil, err
	case !who.Unproven:
		return nil, ubl.Errorf(ubl.CodeConflict, "your address is proven already")
	}
	who.Groups = nil // a link's session has none
	return sealPerson(who), nil
}

// proof is what a provider has verified for an unproven member. Key is of this one
// ceremony; From is where the person belonged when they were asked.
type proof struct {
	Member   sealedPerson `json:"member"`
	Verified sealedPerson `json:"verified"`
	Name     string       `json:"name,omitempty"`
	Proved   time.Time    `json:"proved,omitzero"`
	Return   string       `json:"return"`
	Key      string       `json:"key"`
	From     ubl.TenantID `json:"from,omitempty"`
}

// finishProof makes the member the person whom the provider has verified. An invitation
// draws nobody away: whose domain another tenant has claimed stays unproven here, and a
// member of another tenant is asked first.
func (a *Authenticator) finishProof(w http.ResponseWriter, r *http.Request, p *provider, flow *oidcFlow, c *claims) error {
	if err := a.charge(r, flow.Member.identity()); err != nil {
		return err
	}
	verified, err := a.verified(p, c)
	if err != nil {
		return err
	}
	home, err := a.homeOf(r.Context(), verified)
	if err != nil {
		return err
	}
	found := proof{
		Member: *flow.Member, Verified: *sealPerson(verified), Name: c.called(), Proved: c.provedAt(), Return: flow.Return, Key: flow.Nonce,
	}
	switch here := flow.Member.TenantID; {
	case home.Claimed != "" && home.Claimed != here:
		return ubl.Errorf(ubl.CodeConflict, "another tenant here has claimed the domain of your address, so it can't be proven for this one: you stay unproven here, and sign in there with the address")
	case !ubl.SameEmail(verified.Email, flow.Member.Email):
		return ubl.Errorf(ubl.CodeConflict, "the provider knows you by another address than the invitation's: ask an owner to invite that one")
	case home.Member && home.TenantID != here:
		found.From = home.TenantID
		return a.askToMove(w, r, &found)
	}
	return a.prove(w, r, &found)
}

// prove makes the member the verified person, and begins their session. Tenant 0 hears
// of it first: where the tenant refuses, what it keeps leads nowhere. Others who had the
// link's session or made a passkey in it are out: the id is the provider's, and what is
// left of theirs is revoked.
func (a *Authenticator) prove(w http.ResponseWriter, r *http.Request, f *proof) error {
	ctx, member, verified := r.Context(), f.Member.identity(), f.Verified.identity()
	keep, prove := a.request(ctx, ubl.Platform()), a.request(ctx, ubl.Platform())
	keep.Key, prove.Key = "home:"+f.Key, "prove:"+f.Key
	for _, ask := range []struct {
		of  ubl.TenantID
		cmd ubl.Command
	}{
		{ubl.CoreTenant, ubl.KeepHome{Request: keep, Verified: verified, Home: ubl.Home{TenantID: member.TenantID, UserID: member.UserID}}},
		{member.TenantID, ubl.ProveMember{Request: prove, Member: member, Verified: verified}},
		{ubl.CoreTenant, ubl.RevokeTokens{Request: a.request(ctx, member), Passkeys: true}},
	} {
		if _, err := a.asker.Ask(ctx, ubl.TenantName(ask.of), ask.cmd); err != nil {
			return err
		}
	}
	proven := verified
	proven.TenantID, proven.UserID = member.TenantID, member.UserID
	return a.enterByOIDC(w, r, proven, f.Name, f.Proved, f.Return)
}

const (
	// moveCeremony is asking a member of one tenant whether they move to another.
	moveCeremony ceremony = "move"
	movePath              = "/auth/move"
	moveTime              = 10 * time.Minute
)

// askToMove shows what the proof would change. What was verified waits in a cookie.
func (a *Authenticator) askToMove(w http.ResponseWriter, r *http.Request, f *proof) error {
	key, err := DrawText(a.random)
	if err != nil {
		return err
	}
	if err := a.beginCeremony(w, r, moveCeremony, moveTime, key, f); err != nil {
		return err
	}
	envelope.WritePage(w, http.StatusOK, moveTemplate, movePage{Email: f.Member.Email, From: shortTenant(f.From), To: shortTenant(f.Member.TenantID), Key: key})
	return nil
}

// takeMove proves the address of who has said that they move, if they belong where they
// did when they were asked.
func (a *Authenticator) takeMove(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxInviteForm)
	var f proof
	if err := a.endCeremony(w, r, moveCeremony, r.PostFormValue("key"), &f); err != nil {
		return err
	}
	if err := a.charge(r, f.Member.identity()); err != nil {
		return err
	}
	home, err := a.homeOf(r.Context(), f.Verified.identity())
	if err != nil {
		return err
	}
	if home.TenantID != f.From || home.Claimed != "" && home.Claimed != f.Member.TenantID {
		return errCeremony()
	}
	return a.prove(w, r, &f)
}

func shortTenant(t ubl.TenantID) string { return strings.TrimPrefix(string(t), "t:") }

type movePage struct{ Email, From, To, Key string }

var moveTemplate = envelope.NewPage("Move to another tenant?", `<h1>Move to another tenant?</h1>
<p>You are signing in to <b>{{.To}}</b> as {{.Email}}. So far this sign-in leads to <b>{{.From}}</b>. If you move, it leads to <b>{{.To}}</b> from then on, in your programs too.</p>
<p>You stay a member of <b>{{.From}}</b>, and are back there once you leave <b>{{.To}}</b> (More, Settings).</p>
<form method="post" action="/auth/move"><input type="hidden" name="key" value="{{.Key}}"><button>Move to {{.To}}</button></form>
<a class="button plain" href="/ui/">Don’t move, stay unproven</a>
`)
