package tenant

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// nameHeir has a sealed room or container take an heir. Its own act puts it on
// record, and knows the key.
func (x *Tenant) nameHeir(t *actors.Turn, c ubl.NameHeir) {
	err := x.State.permits(ubl.DidAgreementHeir, c.Who)
	heir, ok := x.State.License.Members[c.UserID]
	at := x.State.governedBy(c.Agreement)
	switch {
	case err != nil:
	case c.Who.IsService:
		err = ubl.Errorf(ubl.CodeForbidden, "a service can't name an heir")
	case !ok:
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
	case at == "":
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	t.Read(err, func(ctx context.Context) (any, error) {
		return x.Ask.Ask(ctx, at, agreement.Inherit{Request: c.Request, Heir: heir})
	})
}

// governedBy is the room or container that an Agreement governs, "" for none.
func (s *State) governedBy(id ubl.AgreementID) ubl.Name {
	if container := ubl.ContainerOf(id); container != "" {
		if _, known := s.Containers[container]; known {
			return ubl.ContainerName(s.id(), container)
		}
	}
	for room, r := range s.Rooms {
		if r.Direct == nil && ubl.RoomAgreement(room) == id {
			return ubl.RoomName(s.id(), room)
		}
	}
	return ""
}

// heirs is who may have what was one user's alone.
type heirs struct {
	// oldest is the tenant's oldest owner but for the user, nil for nobody.
	oldest  *ubl.Member
	but     ubl.UserID
	license ubl.Agreement // as it was when the user went
}

func (s *State) heirs(but ubl.UserID) heirs {
	after := heirs{but: but, license: s.License.Share()}
	if m, ok := s.License.Heir(but); ok {
		after.oldest = &m
	}
	return after
}

// named is whom an owner of a place has named to follow them, if they are in the
// tenant.
func (x *Tenant) named(ctx context.Context, place ubl.Name, after heirs) (*ubl.Member, error) {
	s, err := ubl.Ask[*agreement.Succession](ctx, x.Ask, place, agreement.GetSuccession{})
	if err != nil {
		return nil, err
	}
	m, ok := after.license.Members[s.Heir]
	if !ok || m.IsService || m.UserID == after.but {
		return nil, nil
	}
	return &m, nil
}

// listSealed answers an owner, who learns no more than the ledger says.
func (x *Tenant) listSealed(t *actors.Turn, c ubl.ListSealed) {
	places := x.State.places()
	t.Read(x.State.shows("tenant.sealed.list", c.Who), func(ctx context.Context) (any, error) {
		if err := x.dropEntered(ctx, places); err != nil {
			return nil, err
		}
		list := []ubl.SealedPlace{}
		for name, place := range places {
			s, err := ubl.Ask[*agreement.Succession](ctx, x.Ask, name, agreement.GetSuccession{})
			if ubl.CodeOf(err) == ubl.CodeNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			if s.SealedAt != nil && !s.Ended {
				place.AgreementID, place.Type, place.SealedAt = s.Agreement, s.Type, *s.SealedAt
				list = append(list, place)
			}
		}
		slices.SortFunc(list, func(a, b ubl.SealedPlace) int { return cmp.Compare(a.AgreementID, b.AgreementID) })
		return list, nil
	})
}

// places are all that the tenant has.
func (s *State) places() map[ubl.Name]ubl.SealedPlace {
	all := make(map[ubl.Name]ubl.SealedPlace, len(s.Rooms)+len(s.Containers))
	for id, r := range s.Rooms {
		if r.Direct != nil { // nobody reads them whom they weren't between
			continue
		}
		all[ubl.RoomName(s.id(), id)] = ubl.SealedPlace{ID: string(id), Name: r.Name}
	}
	for id, c := range s.Containers {
		all[ubl.ContainerName(s.id(), id)] = ubl.SealedPlace{ID: string(id), Name: c.Name}
	}
	return all
}

// entriesPage is how many entries of an index one view reads.
const entriesPage = 10_000

// dropEntered takes out of the list what somebody belongs to: what is sealed has no
// entries. It goes through all entries, so that only the few places that are left have
// to be asked.
func (x *Tenant) dropEntered(ctx context.Context, places map[ubl.Name]ubl.SealedPlace) error {
	from, to := agreement.MemberIndexAll()
	err := x.eachKey(ctx, from, to, func(room string) { delete(places, ubl.RoomName(x.id, ubl.RoomID(room))) })
	if err == nil {
		from, to = agreement.ContainerMemberIndexAll()
		err = x.eachKey(ctx, from, to, func(container string) { delete(places, ubl.ContainerName(x.id, ubl.ContainerID(container))) })
	}
	return err
}

// eachKey calls fn with what stands behind the 0 of each key, in short views.
func (x *Tenant) eachKey(ctx context.Context, from, to []byte, fn func(string)) error {
	for n := entriesPage; n == entriesPage; {
		n = 0
		err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
			return snap.Ascend(from, to, func(k, _ []byte) bool {
				if _, id, ok := bytes.Cut(k, []byte{0}); ok {
					fn(string(id))
				}
				from = append(bytes.Clone(k), 0)
				n++
				return n < entriesPage
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
