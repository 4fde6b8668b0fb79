package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// kindOf is a kind of containers that the tenant knows: one of the node's, or its own.
func (with makers) kindOf(s *State, name string) (ubl.Kind, error) {
	if k, ok := with.nodeKind(name); ok {
		return k, nil
	}
	if k, ok := s.Kinds[name]; ok {
		return k, nil
	}
	return ubl.Kind{}, ubl.Errorf(ubl.CodeValidation, "there is no such kind of container")
}

// nodeKind is one that every tenant has.
func (with makers) nodeKind(name string) (ubl.Kind, bool) {
	if i := slices.IndexFunc(with.kinds, func(k ubl.Kind) bool { return k.Name == name }); i >= 0 {
		return with.kinds[i], true
	}
	return ubl.Kind{}, false
}

// allKinds are the node's in their order, and the tenant's by name.
func (with makers) allKinds(s *State) []*ubl.Kind {
	list := make([]*ubl.Kind, 0, len(with.kinds)+len(s.Kinds))
	for _, k := range with.kinds {
		list = append(list, &k)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Kinds)) {
		if _, node := with.nodeKind(name); node { // configured since
			continue
		}
		k := s.Kinds[name]
		k.Own = true
		list = append(list, &k)
	}
	return list
}

// decideKind writes a kind of the tenant's own. Containers of it that there are stay as they
// were made.
func (with makers) decideKind(s *State, c ubl.SetKind, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidKindSet, c.Who); err != nil {
		return nil, err
	}
	k := c.Kind
	k.Did, k.Own = ubl.DidContainerCreate, false
	if err := agreement.CheckKind(k, actors.Named(at.Acts)...); err != nil {
		return nil, err
	}
	if _, node := with.nodeKind(k.Name); node {
		return nil, ubl.Errorf(ubl.CodeConflict, "the server's operator has configured a kind of that name")
	}
	if _, known := s.Kinds[k.Name]; !known && len(s.Kinds) >= agreement.MaxKinds {
		return nil, ubl.Errorf(ubl.CodeConflict, "the tenant has %d kinds already", agreement.MaxKinds)
	}
	return kindPlan(s.id(), ubl.DidKindSet, k)
}

// decideNoKind forgets one.
func (s *State) decideNoKind(c ubl.RemoveKind, _ actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidKindRemove, c.Who); err != nil {
		return nil, err
	}
	k, known := s.Kinds[c.Name]
	if !known {
		return nil, ubl.Errorf(ubl.CodeNotFound, "the tenant has no kind of that name of its own")
	}
	return kindPlan(s.id(), ubl.DidKindRemove, k)
}

// kindPlan is the act about a kind, which names it by the hash of what it says.
func kindPlan(id ubl.TenantID, did ubl.Did, k ubl.Kind) (*plan, error) {
	canonical, err := ubl.Canonical(kindText(k))
	if err != nil {
		return nil, err
	}
	about := ubl.Fields{ubl.Str("kind", k.Name), ubl.Str("kind_hash", ubl.BodyHash(canonical)), ubl.Str("tenant_id", id)}
	return &plan{Act: act(about, append(ubl.Fields{ubl.Str("op", did)}, about...)), Event: event{Kind: &k}}, nil
}

// kindText is the JSON form.
func kindText(k ubl.Kind) []byte {
	b, err := json.Marshal(k)
	if err != nil { // strings, numbers and times
		panic(fmt.Sprintf("tenant: couldn't encode a kind: %v", err))
	}
	return b
}

// keepKind follows an act about a kind.
func (s *State) keepKind(e event) {
	if e.Did == ubl.DidKindRemove {
		delete(s.Kinds, e.Kind.Name)
		return
	}
	s.Kinds[e.Kind.Name] = *e.Kind
}

// getContainer answers members with the tenant as a container of people and rooms, as it is or
// was.
func (x *Tenant) getContainer(t *actors.Turn, c ubl.GetContainer) {
	_, err := x.State.member(c.Who)
	if err = cmp.Or(err, x.State.beyond(c.Who)); err == nil {
		err = t.Past(c.AsOf)
	}
	if err != nil || c.AsOf.IsNow() {
		t.Answer(err, func() any { return x.State.container(c.Who, nil) })
		return
	}
	t.Read(nil, func(ctx context.Context) (any, error) {
		s, newest, err := x.Then(ctx, c.AsOf)
		if err != nil {
			return nil, err
		}
		return s.container(c.Who, &newest.Receipt), nil
	})
}

// container is the tenant as one.
func (s *State) container(who ubl.Identity, asOf *ubl.Receipt) *ubl.Container {
	return &ubl.Container{
		ContainerSummary: ubl.ContainerSummary{
			ContainerID: ubl.ContainerID(s.id()), Kind: ubl.TenantKind, Name: string(s.id()), Physics: *s.License.Physics, CreatedAt: s.Tenant.CreatedAt,
		},
		TenantID: s.id(), AgreementID: s.License.ID, Members: int64(len(s.License.Members)), Member: s.stance(who).Role != "", AsOf: asOf,
	}
}
