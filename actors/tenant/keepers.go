package tenant

import (
	"context"
	"errors"
	"maps"
	"slices"

	"ubl"
)

// Who answers for a service. That is always a person, its keeper: who made its token, or
// the person who renewed it last; for a service of a token of the nodes' key, who has
// proved the address in it. Its maker still has the secret when another keeps it. So:
//
//   - the service ends when either of them leaves the tenant (leaving.go);
//   - it is an owner only while both are owners;
//   - what it makes itself, its keeper keeps too.
//
// Tokens from before may name a service as their keeper, even each other or themselves.
// The keeper is derived from what is stored, so that these have one as well.

// keeper is the person who answers for a service now, false where nobody in the tenant
// does. A service on record as keeper stands for the person who keeps it. Where services
// keep each other in a circle, the makers of their tokens count, who never do.
func (s *State) keeper(of ubl.UserID) (ubl.Member, bool) {
	at, ok := s.follow(of, (*ubl.ServiceToken).Keeper)
	if !ok {
		at = s.maker(of)
	}
	return s.person(at)
}

// maker is who drew a service's secret. Who holds the secret of the service that made it
// may have seen it too, so the line of makers is followed to its end.
func (s *State) maker(of ubl.UserID) ubl.UserID {
	at, _ := s.follow(of, func(t *ubl.ServiceToken) ubl.UserID { return t.CreatedBy })
	return at
}

// follow goes from a service to whom its token names, and on while that is a service with
// a token; false for a circle.
func (s *State) follow(at ubl.UserID, named func(*ubl.ServiceToken) ubl.UserID) (ubl.UserID, bool) {
	for range len(s.Services) + 1 {
		token, ok := s.tokenOf(at)
		if !ok {
			return at, true
		}
		at = named(&token)
	}
	return at, false
}

// tokenOf is the service token that a user came with, if it is one's.
func (s *State) tokenOf(user ubl.UserID) (ubl.ServiceToken, bool) {
	v := s.Vouched[user]
	if v.Issuer != ServiceIssuer {
		return ubl.ServiceToken{}, false
	}
	t, ok := s.Services[v.Subject]
	return t.ServiceToken, ok
}

// person is the user, or the member who has proved the address of a service of the nodes'
// key: an owner, if several have.
func (s *State) person(user ubl.UserID) (found ubl.Member, ok bool) {
	v := s.Vouched[user]
	if _, _, local := ubl.LocalService(v.Subject); !local || v.Issuer != ubl.LocalIssuer {
		found, ok = s.License.Members[user]
		return found, ok && !found.IsService
	}
	for _, m := range s.License.Members {
		if !madeBy(v, m) {
			continue
		}
		first := m.Role == found.Role && m.UserID < found.UserID
		if !ok || first || m.Role == ubl.RoleOwner && found.Role != ubl.RoleOwner {
			found, ok = m, true
		}
	}
	return found, ok
}

// keptByOwner reports whether the keeper of a service is an owner, and its maker where they
// are still here: else it can't be one.
func (s *State) keptByOwner(service ubl.UserID) bool {
	keeper, kept := s.keeper(service)
	maker, here := s.person(s.maker(service))
	return kept && keeper.Role == ubl.RoleOwner && (!here || maker.Role == ubl.RoleOwner)
}

// endsWith are the people whose leaving ends a service.
func (s *State) endsWith(service ubl.UserID) (people []ubl.UserID) {
	if keeper, ok := s.keeper(service); ok {
		people = append(people, keeper.UserID)
	}
	if maker, ok := s.person(s.maker(service)); ok && !slices.Contains(people, maker.UserID) {
		people = append(people, maker.UserID)
	}
	return people
}

// capped is an entry with the role that counts: before services followed their keepers,
// some stayed owners after them. The sweep puts that on record.
func (s *State) capped(m ubl.Member) ubl.Member {
	if m.IsService && m.Role == ubl.RoleOwner && !s.keptByOwner(m.UserID) {
		m.Role = ubl.RoleMember
	}
	return m
}

// orphan reports whether a member is the service of a token whose keeper has left.
// Before services left with their keepers, they stayed.
func (s *State) orphan(m ubl.Member) bool {
	if _, ok := s.tokenOf(m.UserID); !ok || !m.IsService {
		return false
	}
	_, kept := s.keeper(m.UserID)
	return !kept
}

// madeBy reports whether a member made a service of a token of the nodes' key. Its
// subject names the maker's address and nothing else, so that a member counts who has
// proved that address.
func madeBy(v voucher, m ubl.Member) bool {
	_, maker, ok := ubl.LocalService(v.Subject)
	return ok && v.Issuer == ubl.LocalIssuer && !m.IsService && !m.Unproven && m.Email != "" && ubl.SameEmail(maker, m.Email)
}

// makerLeft reports whether the maker of such a service was shut out, and nobody of
// their address is in.
func (s *State) makerLeft(v voucher) bool {
	left := false
	for _, m := range s.Removed {
		left = left || madeBy(v, m)
	}
	for _, m := range s.License.Members {
		if left && madeBy(v, m) {
			return false
		}
	}
	return left
}

// answeredFor refuses a newcomer of a token of the nodes' key for whom nobody in the tenant
// would answer.
func (s *State) answeredFor(v voucher) error {
	if s.makerLeft(v) {
		return ubl.Errorf(ubl.CodeForbidden, "who made this service has left the tenant")
	}
	if _, _, local := ubl.LocalService(v.Subject); !local || v.Issuer != ubl.LocalIssuer {
		return nil
	}
	for _, m := range s.License.Members {
		if madeBy(v, m) {
			return nil
		}
	}
	return ubl.Errorf(ubl.CodeForbidden, "nobody in the tenant has proved the address that this service's token was made for: make it for the address of a member, or sign in once as that person")
}

// unkept reports whether who answered for a service has left, whatever it came with.
func (s *State) unkept(m ubl.Member) bool {
	return m.IsService && (s.orphan(m) || s.makerLeft(s.Vouched[m.UserID]))
}

// wards are the services that this person keeps or has made, by user id.
func (s *State) wards(of ubl.Member) (out []ubl.Member) {
	for _, id := range slices.Sorted(maps.Keys(s.License.Members)) {
		m := s.License.Members[id]
		if !m.IsService || of.IsService {
			continue
		}
		maker := s.maker(id)
		if keeper, ok := s.keeper(id); ok && keeper.UserID == of.UserID || maker == of.UserID || madeBy(s.Vouched[maker], of) {
			out = append(out, m)
		}
	}
	return out
}

// settling is what the sweep makes good.
type settling struct {
	orphans []ubl.UserID // services whose keeper has left
	above   []ubl.UserID // services that are owners, and their keepers aren't
	endless []string     // service tokens without an end, by client id
}

// unsettled are the services from before they left with their keepers, followed their
// roles and had an end.
func (s *State) unsettled() (out settling) {
	if s.License.InForce() != nil {
		return out
	}
	for _, id := range slices.Sorted(maps.Keys(s.License.Members)) {
		switch m := s.License.Members[id]; {
		case !m.IsService:
		case s.unkept(m):
			out.orphans = append(out.orphans, id)
		case s.capped(m).Role != m.Role:
			out.above = append(out.above, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Services)) {
		t := s.Services[id]
		if m, in := s.License.Members[t.UserID]; in && t.ExpiresAt == nil && t.RevokedAt == nil && !s.orphan(m) {
			out.endless = append(out.endless, id)
		}
	}
	return out
}

// settleServices makes them good. Each is an act of the platform.
func (x *Tenant) settleServices(ctx context.Context, req ubl.Request, what settling) (err error) {
	ask := func(about string, cmd func(ubl.Request) ubl.Command) {
		again := req
		again.Key += "\n" + about
		_, failed := x.Ask.Ask(ctx, x.Name, cmd(again))
		err = errors.Join(err, failed)
	}
	for _, user := range what.orphans {
		ask(string(user), func(r ubl.Request) ubl.Command { return ubl.RemoveTenantMember{Request: r, UserID: user} })
	}
	for _, user := range what.above {
		ask(string(user), func(r ubl.Request) ubl.Command {
			return ubl.SetTenantMember{Request: r, UserID: user, Role: ubl.RoleMember}
		})
	}
	for _, id := range what.endless {
		ask(id, func(r ubl.Request) ubl.Command { return ubl.RenewServiceToken{Request: r, ClientID: id} })
	}
	return err
}
