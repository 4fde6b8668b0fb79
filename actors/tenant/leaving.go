package tenant

import (
	"context"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
)

// What goes with a person who leaves. In the Tenant's own commit go their entry and
// those of the services that they keep or have made, with their tokens, and the open invitations that
// they made or that are for their address; from then on Enter refuses all of them. Rooms,
// containers, the Portal (what they signed in to servers with) and tenant 0 (sessions, bearer
// tokens, passkeys) are other actors: they are asked until they have let go, by this request, its retries and an alarm (finish.go).

// depart takes a member out, and the services that went along.
func (s *State) depart(e event) {
	for _, m := range append([]ubl.Member{*e.Member}, e.Along...) {
		s.License.Remove(m.UserID)
		s.Looks.remove(m.UserID)
		s.Removed[m.UserID] = s.marked(m)
	}
	for _, id := range e.Ended {
		token := s.Services[id]
		token.RevokedAt, token.EndsWith = &e.At, []ubl.UserID{e.Member.UserID}
		s.Services[id] = token
	}
	for n := range s.Invitations {
		if i := &s.Invitations[n]; slices.Contains(e.Closed, i.ID) {
			i.RevokedAt = &e.At
		}
	}
}

// openFor are the open invitations of a person's address: made before they came in by
// another way, they would let them in again.
func (s *State) openFor(m ubl.Member, now ubl.Time) (open []invitation) {
	for _, i := range s.Invitations {
		if i.Open(now) && !m.IsService && m.Email != "" && ubl.SameEmail(i.Email, m.Email) {
			open = append(open, i)
		}
	}
	return open
}

// addressLeft reports whether a person who had proved the address was shut out, and
// nobody who has proved it is in. Only owners change that: they let the entry in again,
// or invite the address.
func (s *State) addressLeft(email string) bool {
	proved := func(m ubl.Member) bool {
		return !m.IsService && !m.Unproven && m.Email != "" && ubl.SameEmail(m.Email, email)
	}
	left := false
	for _, m := range s.Removed {
		left = left || proved(m)
	}
	for _, m := range s.License.Members {
		if left && proved(m) {
			return false
		}
	}
	return left
}

// removing is the plan by which a member and their services leave.
func (s *State) removing(m ubl.Member, now ubl.Time) *plan {
	p := &plan{
		Act:   act(ubl.Fields{ubl.Str("tenant_id", s.id()), ubl.Str("user_id", m.UserID)}, s.removal(m)),
		Event: event{Member: &m, Along: s.wards(m)},
	}
	for _, service := range p.Event.Along {
		p.Effects = append(p.Effects, s.removal(service))
	}
	for _, gone := range append([]ubl.Member{m}, p.Event.Along...) {
		p.Alarms = append(p.Alarms, finish(gone.UserID))
		v := s.Vouched[gone.UserID]
		if t, ok := s.Services[v.Subject]; ok && v.Issuer == ServiceIssuer && t.RevokedAt == nil {
			p.Event.Ended = append(p.Event.Ended, t.ClientID)
			p.Effects = append(p.Effects, ubl.Fields{ubl.Str("op", ubl.DidTokenRevoke), ubl.Str("token_id", t.ClientID)})
		}
	}
	p.Effects = append(p.Effects, s.forsaken(m)...)
	for _, i := range s.openFor(m, now) {
		p.Event.Closed = append(p.Event.Closed, i.ID)
		p.Effects = append(p.Effects, ubl.Fields{
			ubl.Str("invitation_id", i.ID), ubl.Str("op", ubl.DidInvitationRevoke), ubl.Str("tenant_id", s.id()), ubl.Str("user_id", i.UserID)})
	}
	return p
}

func (s *State) removal(m ubl.Member) ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", s.License.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID)}
}

// letGo has everybody else let go of members who were shut out: their rooms and
// containers, the Portal and tenant 0. It goes on past a place that fails, and may be repeated.
func (x *Tenant) letGo(ctx context.Context, req ubl.Request, after heirs, users ...ubl.UserID) error {
	req.Who.Mandate = nil // what follows from the removal is no act of the agent's own
	err := errors.Join(x.endTheirSignIns(ctx, req, users), x.forgetTheirGrants(ctx, req, users))
	for _, user := range users {
		err = errors.Join(err, x.expel(ctx, req, user, after))
	}
	return err
}

// maxSignIns is how many people another actor is asked about at a time.
const maxSignIns = 500

// endTheirSignIns has tenant 0 end what signs people in here, one after the other:
// each is an act of its own there.
func (x *Tenant) endTheirSignIns(ctx context.Context, req ubl.Request, users []ubl.UserID) error {
	req.Who = ubl.Platform()
	for some := range slices.Chunk(users, maxSignIns) {
		for ended := -1; ended != 0; {
			var err error
			ended, err = ubl.Ask[int](ctx, x.Ask, ubl.TenantName(ubl.CoreTenant), ubl.EndSignIns{Request: req, Tenant: x.id, Users: some})
			if ubl.CodeOf(err) == ubl.CodeNotFound { // nobody has ever signed in
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetTheirGrants has the Portal forget what they signed in to servers with. Else that is
// theirs again when an owner lets them in again.
func (x *Tenant) forgetTheirGrants(ctx context.Context, req ubl.Request, users []ubl.UserID) error {
	req.Who = ubl.Platform()
	for some := range slices.Chunk(users, maxSignIns) {
		if _, err := x.Ask.Ask(ctx, ubl.PortalName(x.id), ubl.ForgetGrants{Request: req, Users: some}); err != nil {
			return err
		}
	}
	return nil
}

// endSignIns ends what one of the people has, the first of them who has anything.
func (x *Tenant) endSignIns(t *actors.Turn, c ubl.EndSignIns) {
	if x.id != ubl.CoreTenant || !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform ends others' sign-ins, in tenant 0"))
		return
	}
	for _, user := range c.Users {
		whose := person{c.Tenant, user}
		tokens, keys := x.State.own(whose, t.Now()), len(x.State.Rings[whose].Keys)
		if len(tokens)+keys == 0 {
			continue
		}
		if err := t.Reserve(ubl.ActCost); err != nil {
			t.Fail(err)
			return
		}
		c.Key += "\n" + string(c.Tenant) + "\n" + string(user)
		x.Enact(t, x.Following(ubl.DidPlatformTokenRevokeAll, c.Request, revokeAllPlan(whose, tokens, keys)), nil)
		t.Reply(len(tokens) + keys)
		return
	}
	t.Reply(0)
}
