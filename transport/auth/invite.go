package auth

import (
	"encoding/hex"
	"net/http"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// invitePath is where links of invitations lead: the tenant's id, a dot and the
	// secret follow. No id ends where a secret begins: the last dot parts them.
	invitePath = "/invite/"
	// inviteBytes is how much of a secret is drawn, inviteKeyBytes of what tells one
	// page's form from another's.
	inviteBytes    = 32
	inviteKeyBytes = 16
	// maxInviteForm bounds the form that accepts, in bytes.
	maxInviteForm = 4 << 10
	// home is where a browser goes once it has a session.
	home = "/ui/"
)

// NewInvitation draws an invitation of an address into a tenant, whatever the
// address's domain, with the path of its link. Only the secret's hash is in the
// command; who asks, the role and the time to live are for the caller to add.
func (a *Authenticator) NewInvitation(tenant ubl.TenantID, email string) (c ubl.CreateInvitation, path string, err error) {
	email = lowerEmail(email)
	// What stands before the @ is shown as the member's name until they have one.
	if local, _, _ := strings.Cut(email, "@"); !validEmail(email) || ubl.CheckName(local) != nil {
		return c, "", ubl.Errorf(ubl.CodeValidation, "the email address is not one that can be used")
	}
	drawn, err := a.draw(clientIDBytes + inviteBytes)
	if err != nil {
		return c, "", err
	}
	secret := hex.EncodeToString(drawn[clientIDBytes:])
	c.InvitationID = ubl.InvitationID("i:" + hex.EncodeToString(drawn[:clientIDBytes]))
	c.Invitee = ubl.Invited(tenant, c.InvitationID, email)
	if err := a.mayHaveSession(c.Invitee); err != nil {
		return c, "", err
	}
	c.SecretHash = hashSecret(secret)
	return c, invitePath + string(tenant) + "." + secret, nil
}

// invitation is what a link says.
type invitation struct {
	tenant ubl.TenantID
	hash   string
}

// invitationOf reads a link's last element.
func invitationOf(link string) (i invitation, ok bool) {
	dot := strings.LastIndexByte(link, '.')
	if dot < 0 || !lowerHex(link[dot+1:], inviteBytes) {
		return i, false
	}
	i = invitation{ubl.TenantID(link[:dot]), hashSecret(link[dot+1:])}
	return i, i.tenant.Valid()
}

var errNoInvitation = ubl.Errorf(ubl.CodeNotFound, "there is no such invitation")

// invited reads an invitation's link. A look changes nothing, so that a mail scanner or
// the preview of a link doesn't use it up.
func invited(h func(http.ResponseWriter, *http.Request, invitation) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		i, ok := invitationOf(r.PathValue("link"))
		if !ok {
			return errNoInvitation
		}
		return h(w, r, i)
	}
}

// showInvitation tells whom it is for, and where to.
func (a *Authenticator) showInvitation(w http.ResponseWriter, r *http.Request, i invitation) error {
	found, err := ubl.Ask[*ubl.Invitation](r.Context(), a.asker, ubl.TenantName(i.tenant), ubl.FindInvitation{SecretHash: i.hash})
	if err != nil {
		return err
	}
	if err := a.acceptsHere(r, i, found); err != nil {
		return err
	}
	key, err := a.draw(inviteKeyBytes)
	if err != nil {
		return err
	}
	provable := ""
	if len(a.clients) > 0 {
		provable = a.clients[0].host()
	}
	page := invitePage{
		Provable: provable,
		Email:    found.Email, Tenant: shortTenant(i.tenant), Role: found.Role,
		Until: found.ExpiresAt.Std(), Key: hex.EncodeToString(key),
	}
	if s := a.sentSession(r); s != nil {
		page.Ends, page.EndsIn = s.Email, shortTenant(s.TenantID)
	}
	envelope.WritePage(w, http.StatusOK, inviteTemplate, page)
	return nil
}

// acceptInvitation makes the invitee an unproven member and begins their session: that
// somebody has the link says nothing about an address. The page's
// key has a form that was sent twice accept once, and both times lead inside.
func (a *Authenticator) acceptInvitation(w http.ResponseWriter, r *http.Request, i invitation) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxInviteForm)
	switch found, err := ubl.Ask[*ubl.Invitation](r.Context(), a.asker, ubl.TenantName(i.tenant), ubl.FindInvitation{SecretHash: i.hash}); {
	case err == nil:
		if err := a.acceptsHere(r, i, found); err != nil {
			return err
		}
		if err := a.charge(r, ubl.Invited(i.tenant, found.ID, found.Email)); err != nil {
			return err
		}
	case ubl.CodeOf(err) != ubl.CodeNotFound: // a form that was sent twice has accepted it already
		return err
	}
	req := a.request(r.Context(), ubl.Platform())
	if key := r.PostFormValue("key"); lowerHex(key, inviteKeyBytes) {
		req.Key = "invite:" + key
	}
	who, err := ubl.Ask[*ubl.Identity](r.Context(), a.asker, ubl.TenantName(i.tenant), ubl.AcceptInvitation{Request: req, SecretHash: i.hash})
	if err != nil {
		return err
	}
	invitee := *who
	invitee.TenantID = i.tenant // the tenant speaks for itself only
	if err := a.charge(r, invitee); err != nil {
		return err
	}
	if err := a.startSession(w, r, invitee, ubl.SignInInvitation); err != nil {
		return err
	}
	http.Redirect(w, r, home, http.StatusSeeOther)
	return nil
}

// acceptsHere refuses a member of the tenant who is signed in here: accepting an invitation
// for another address would make them a second member, and sign them out. Without a
// provider nobody can prove an address, so more can't be asked: who has the link may open
// it in another browser, and is shown as unproven, with who invited them.
func (a *Authenticator) acceptsHere(r *http.Request, i invitation, found *ubl.Invitation) error {
	e, err := a.sessionOf(r)
	switch code := ubl.CodeOf(err); {
	case code == ubl.CodeUnauthorized, code == ubl.CodeOriginNotAllowed:
		return nil
	case err != nil:
		return err
	case e.identity.TenantID != i.tenant || ubl.SameEmail(e.identity.Email, found.Email):
		return nil
	}
	refusal := ubl.Errorf(ubl.CodeConflict, "a member is signed in here")
	refusal.Details = map[string]string{"member": e.identity.Email, "invited": found.Email}
	return refusal
}

// noInvitation says why not: what has ended looks like what never was.
func (a *Authenticator) noInvitation(w http.ResponseWriter, r *http.Request, err error) {
	e := ubl.AsError(err)
	page := invitePage{Taken: e.Code == ubl.CodeConflict, Member: e.Details["member"], Email: e.Details["invited"]}
	if e.Code != ubl.CodeNotFound && !page.Taken {
		a.log.WarnContext(r.Context(), "couldn't answer for an invitation", "error", err)
		page.Problem = e.Message
	}
	envelope.SetHints(w.Header(), e.Code.Status(), e.RetryAfter())
	envelope.WritePage(w, e.Code.Status(), inviteTemplate, page)
}
