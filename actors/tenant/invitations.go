package tenant

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// invitation is one as it is stored: with who will be the member, and what is
// kept of its secret.
type invitation struct {
	ubl.Invitation
	UserID     ubl.UserID `json:"user_id"`
	Voucher    voucher    `json:"voucher"`
	SecretHash string     `json:"secret_hash"`
}

// keptInvitations bounds those in memory: once there are more, the ones that
// have ended are forgotten.
const keptInvitations = 2 * ubl.MaxInvitations

// invite writes an invitation; the event that accepts one adds its member.
func (s *State) invite(e event) {
	at := slices.IndexFunc(s.Invitations, func(i invitation) bool { return i.ID == e.Invitation.ID })
	if at >= 0 {
		s.Invitations[at] = *e.Invitation
	} else {
		s.Invitations = append(s.Invitations, *e.Invitation)
	}
	if len(s.Invitations) > keptInvitations {
		s.Invitations = slices.DeleteFunc(s.Invitations, func(i invitation) bool { return !i.Open(e.At) })
	}
	if e.Member != nil {
		m := *e.Member
		m.InvitedBy = e.Invitation.CreatedBy // entries from before didn't say
		e.Member = &m
		s.Unproven[m.UserID] = true
		s.set(e)
	}
}

// withdraw ends what a member has invited to who is no owner any longer: a door
// left open would outlive their part in the tenant.
func (s *State) withdraw(e event) {
	if s.License.Members[e.Member.UserID].Role == ubl.RoleOwner {
		return
	}
	for n := range s.Invitations {
		if i := &s.Invitations[n]; i.CreatedBy == e.Member.UserID && i.Open(e.At) {
			i.RevokedAt = &e.At
		}
	}
}

// errNoInvitation looks the same for one that has ended and one that never was.
func errNoInvitation() *ubl.Error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such invitation")
}

// errTaken refuses to invite who is in: an invitation must not open the account
// of a member.
func errTaken() *ubl.Error {
	return ubl.Errorf(ubl.CodeConflict, "the address is a member's already; if they can't sign in any more, remove them and invite them again: they get a new id")
}

// taken reports whether a person of the address is a member, proven or not. An owner
// removes an entry that isn't theirs before inviting anew.
func (s *State) taken(email string) bool {
	for _, m := range s.License.Members {
		if !m.IsService && ubl.SameEmail(m.Email, email) {
			return true
		}
	}
	return false
}

// decideInvite records an invitation.
func (s *State) decideInvite(c ubl.CreateInvitation, at actors.Moment) (*plan, error) {
	if err := s.mayInvite(c, at.Now); err != nil {
		return nil, err
	}
	if s.mandateOf(c.Who.UserID) != nil {
		return nil, errMandated()
	}
	who := ubl.Invited(s.id(), c.InvitationID, c.Invitee.Email)
	i := invitation{
		Invitation: ubl.Invitation{
			ID: c.InvitationID, Email: c.Invitee.Email, Role: c.Role,
			CreatedBy: c.Who.UserID, CreatedAt: at.Now, ExpiresAt: at.Now.Add(c.TTL),
		},
		UserID: who.UserID, Voucher: *voucherOf(who), SecretHash: c.SecretHash,
	}
	return s.invitationPlan(i, ubl.DidInvitationCreate,
		ubl.Str("expires_at", i.ExpiresAt.String()), ubl.Str("invitation_id", i.ID), ubl.Str("role", i.Role)), nil
}

// invitationPlan says to the ledger whom an invitation is for by their id: the
// address of somebody who may never come has no place there.
func (s *State) invitationPlan(i invitation, op ubl.Did, this ...ubl.Field) *plan {
	return &plan{
		Act: act(append(this, ubl.Str("tenant_id", s.id()), ubl.Str("user_id", i.UserID)), ubl.Fields{
			ubl.Str("invitation_id", i.ID), ubl.Str("op", op), ubl.Str("tenant_id", s.id()), ubl.Str("user_id", i.UserID),
		}),
		Event: event{Invitation: &i},
	}
}

func (s *State) mayInvite(c ubl.CreateInvitation, now ubl.Time) error {
	if err := s.permits(ubl.DidInvitationCreate, c.Who); err != nil {
		return err
	}
	if err := s.License.May(ubl.OpCreate); err != nil {
		return err
	}
	switch {
	case c.Who.IsService:
		return ubl.Errorf(ubl.CodeForbidden, "a service can't invite people")
	case !c.Role.Valid():
		return ubl.Errorf(ubl.CodeValidation, "the role is neither owner nor member")
	case c.TTL < ubl.MinInvitationTTL || c.TTL > ubl.MaxInvitationTTL:
		return ubl.Errorf(ubl.CodeValidation, "an invitation holds for 1 to 720 hours")
	case !c.InvitationID.Valid(), c.Invitee.IsService, c.Invitee.Email == "", c.Invitee.TenantID != s.id():
		return ubl.Errorf(ubl.CodeValidation, "only a person of this tenant can be invited")
	case s.taken(c.Invitee.Email):
		return errTaken()
	}
	return s.roomForOneMore(c, now)
}

// roomForOneMore refuses a second invitation of one address, and more than there
// may be.
func (s *State) roomForOneMore(c ubl.CreateInvitation, now ubl.Time) error {
	open, next := 0, now.Add(ubl.MaxInvitationTTL)
	for _, i := range s.Invitations {
		switch {
		case i.ID == c.InvitationID:
			return ubl.Errorf(ubl.CodeConflict, "the id is taken")
		case !i.Open(now):
		case ubl.SameEmail(i.Email, c.Invitee.Email):
			return ubl.Errorf(ubl.CodeConflict, "the address has an invitation that is open; take it back before making another, in the app or with \"ubl invite revoke\"")
		default:
			open, next = open+1, min(next, i.ExpiresAt)
		}
	}
	if open < ubl.MaxInvitations {
		return nil
	}
	return ubl.Errorf(ubl.CodeRateLimited, "the tenant has as many open invitations as it may: %d", ubl.MaxInvitations).
		Later(time.Duration(next-now) * time.Millisecond)
}

func (s *State) decideUninvite(c ubl.RevokeInvitation, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidInvitationRevoke, c.Who); err != nil {
		return nil, err
	}
	found := slices.IndexFunc(s.Invitations, func(i invitation) bool { return i.ID == c.InvitationID })
	if found < 0 {
		return nil, errNoInvitation()
	}
	i := s.Invitations[found]
	if !i.Open(at.Now) {
		return nil, ubl.Errorf(ubl.CodeConflict, "the invitation was accepted, was revoked or has expired")
	}
	i.RevokedAt = &at.Now
	return s.invitationPlan(i, ubl.DidInvitationRevoke, ubl.Str("invitation_id", i.ID)), nil
}

func (s *State) invitations() []*ubl.Invitation {
	list := []*ubl.Invitation{}
	for _, i := range s.Invitations {
		list = append(list, &i.Invitation)
	}
	return list
}

// behind finds the invitation of a secret's hash, nil where there is none.
func (s *State) behind(hash string) *invitation {
	for _, i := range s.Invitations {
		if subtle.ConstantTimeCompare([]byte(i.SecretHash), []byte(hash)) == 1 {
			return s.apart(i)
		}
	}
	return nil
}

// apart has an open invitation lead to an id of its own, also one from when invitations
// led to the id of their address.
func (s *State) apart(i invitation) *invitation {
	if i.AcceptedAt == nil {
		who := ubl.Invited(s.id(), i.ID, i.Email)
		i.UserID, i.Voucher = who.UserID, *voucherOf(who)
	}
	return &i
}

// acceptable refuses an invitation that nobody can accept now.
func (s *State) acceptable(i *invitation, now ubl.Time) error {
	switch {
	case i == nil || !i.Open(now) || s.License.May(ubl.OpCreate) != nil:
		return errNoInvitation()
	case s.taken(i.Email):
		return errTaken()
	}
	return nil
}

func (x *Tenant) findInvitation(t *actors.Turn, c ubl.FindInvitation) {
	i := x.State.behind(c.SecretHash)
	if err := x.State.acceptable(i, t.Now()); err != nil {
		t.Fail(err)
		return
	}
	t.Reply(&i.Invitation)
}

// acceptInvitation makes the invitee a member, who is welcomed by the rooms as
// any newcomer: where that fails, their next request makes it good.
func (x *Tenant) acceptInvitation(t *actors.Turn, c ubl.AcceptInvitation) {
	i := x.State.behind(c.SecretHash)
	late := false // to have its acceptance answered again: then, or once the invitee was removed
	if i != nil && i.AcceptedAt != nil {
		_, in := x.State.License.Members[i.UserID]
		late = !in || t.Now() > i.AcceptedAt.Add(ubl.AcceptAgain)
	}
	switch {
	case !c.Who.IsPlatform():
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform accepts invitations for those who have one"))
		return
	case i == nil || late:
		t.Fail(errNoInvitation())
		return
	}
	c.Who = *i.invitee()
	c.Who.TenantID = x.id
	x.ChangeThen(t, accepting{c, i}, func(ctx context.Context, invitee any) (any, error) {
		m := ubl.Member{UserID: i.UserID, Role: i.Role}
		if err := x.greet(ctx, c.Request, m); err != nil {
			x.Log.Warn("couldn't welcome who was invited", "error", err)
		}
		return invitee, nil
	})
}

// accepting is an AcceptInvitation with the invitation behind its secret.
type accepting struct {
	ubl.AcceptInvitation
	by *invitation
}

func (s *State) decideAccept(c accepting, at actors.Moment) (*plan, error) {
	i := *c.by
	if err := s.acceptable(&i, at.Now); err != nil {
		return nil, err
	}
	i.AcceptedAt = &at.Now
	p := setting(s.id(), ubl.Member{UserID: i.UserID, Email: i.Email, Role: i.Role, Unproven: true, InvitedBy: i.CreatedBy, Since: at.Now})
	p.Event.Invitation, p.Event.Voucher = &i, &i.Voucher
	p.This = append(ubl.Fields{ubl.Str("invitation_id", i.ID)}, p.This...)
	return p, nil
}

// invitee is who accepts an invitation.
func (i *invitation) invitee() *ubl.Identity {
	return &ubl.Identity{
		UserID: i.UserID, Email: i.Email, EmailDomain: ubl.EmailDomain(i.Email), Groups: []string{}, Unproven: true,
		Issuer: i.Voucher.Issuer, Subject: i.Voucher.Subject,
	}
}
