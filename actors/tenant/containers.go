package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// decideContainer plans a container.
func (with makers) decideContainer(s *State, c ubl.CreateContainer, at actors.Moment) (*plan, error) {
	name := strings.TrimSpace(c.Name)
	kind, err := with.kindOf(s, c.Kind)
	if err != nil {
		return nil, err
	}
	made := ubl.ContainerSummary{
		ContainerID: ubl.ContainerSlug(kind, name), Kind: kind.Name, Name: name, Physics: *physicsOf(c, kind), CreatedAt: at.Now,
	}
	if err := s.mayCreate(kind.Did, c.Who, name); err != nil {
		return nil, err
	}
	if err := with.quota.Within(ubl.QuotaContainers, len(s.Containers)); err != nil {
		return nil, err
	}
	if made.Physics == (ubl.Physics{}) {
		return nil, ubl.Errorf(ubl.CodeValidation, "a container of this kind needs physics")
	}
	if err := made.Physics.Check(); err != nil {
		return nil, err
	}
	if kind.Terms != nil {
		if kind.Terms.Until != 0 && kind.Terms.Until <= at.Now {
			return nil, ubl.Errorf(ubl.CodeConflict, "the time of the kind's terms is over")
		}
		if err := agreement.ContainerReach(made.Physics).Check(kind.Terms); err != nil {
			return nil, err
		}
	}
	if !made.ContainerID.Valid() {
		return nil, ubl.Errorf(ubl.CodeValidation, "the name is too long for an id of this kind")
	}
	if _, taken := s.Containers[made.ContainerID]; taken {
		return nil, ubl.Errorf(ubl.CodeConflict, "there is a container with that id: choose another name")
	}
	return with.container(s, c.Request, kind, made)
}

// physicsOf are those that are asked for, or the kind's.
func physicsOf(c ubl.CreateContainer, kind ubl.Kind) *ubl.Physics {
	return cmp.Or(c.Physics, &kind.Physics)
}

// container plans a container's entry in the directory, with its own first records.
func (with makers) container(s *State, req ubl.Request, kind ubl.Kind, c ubl.ContainerSummary) (*plan, error) {
	founding, err := with.found.Container(req, s.id(), kind, c)
	if err != nil {
		return nil, err
	}
	return &plan{Founding: founding, Event: event{Container: &c}}, nil
}

// workspace plans w:general, which every tenant has. Whoever causes it owns it, under
// the TenantLicense as for any other.
func (with makers) workspace(s *State, req ubl.Request, now ubl.Time) *plan {
	kind := ubl.WorkspaceKind()
	p, err := with.container(s, req, kind, ubl.ContainerSummary{
		ContainerID: ubl.GeneralWorkspace, Kind: kind.Name, Name: "general", Physics: kind.Physics, CreatedAt: now,
	})
	if err != nil {
		panic(err) // no random numbers: the actor is loaded anew, nothing was committed
	}
	p.Did = kind.Did
	return p
}

// listContainers answers the containers that the caller may look into: those
// that let every member of the tenant in, and those where they are an entry.
func (x *Tenant) listContainers(t *actors.Turn, c ubl.ListContainers) {
	_, err := x.State.member(c.Who)
	list, directory, mandate := x.State.shared(), maps.Clone(x.State.Containers), x.State.mandateOf(c.Who.UserID)
	receipt := func() *ubl.Receipt { return nil }
	if err == nil && c.Receipted {
		err = x.State.License.InForce()
	}
	if err == nil && c.Receipted {
		var looked *actors.Act
		looked, err = x.Look(t, ubl.DidWorkspaceList, c.Request, x.looking(c))
		receipt = func() *ubl.Receipt { return &looked.Receipt }
	}
	t.Read(err, func(ctx context.Context) (any, error) {
		roles, err := x.containersOf(ctx, c.Who.UserID)
		if err != nil {
			return nil, err
		}
		for id, role := range roles {
			if role == "" {
				list = slices.DeleteFunc(list, func(in ubl.ContainerSummary) bool { return in.ContainerID == id })
			} else {
				list = append(list, directory[id])
			}
		}
		list = slices.DeleteFunc(list, func(in ubl.ContainerSummary) bool { return !mandate.Includes(string(in.ContainerID)) })
		list = sorted(list, c.Kind)
		markNames(list, func(c *ubl.ContainerSummary) (string, *bool) { return c.Name, &c.Alike })
		return &ubl.ContainerList{Containers: list, Receipt: receipt()}, nil
	})
}

// looking is the act of looking at the directory.
func (x *Tenant) looking(c ubl.ListContainers) actors.Act {
	this := ubl.Fields{ubl.Str("tenant_id", x.id)}
	if _, err := x.kindOf(&x.State, c.Kind); err == nil {
		this = append(this, ubl.Str("kind", c.Kind))
	}
	return act(this, ubl.Fields{ubl.Str("op", ubl.DidWorkspaceList), ubl.Str("tenant_id", x.id)})
}

// shared are the containers that every member of the tenant may look into, or joins
// by doing so.
func (s *State) shared() []ubl.ContainerSummary {
	list := []ubl.ContainerSummary{}
	for _, c := range s.Containers {
		if c.Physics.Permeability == ubl.Open || c.Physics.Permeability == ubl.Public || c.ContainerID == ubl.GeneralWorkspace {
			list = append(list, c)
		}
	}
	return list
}

// sorted is a list by id, each container once, of one kind unless that is "".
func sorted(list []ubl.ContainerSummary, kind string) []ubl.ContainerSummary {
	list = slices.DeleteFunc(list, func(c ubl.ContainerSummary) bool { return kind != "" && c.Kind != kind })
	slices.SortFunc(list, func(a, b ubl.ContainerSummary) int { return cmp.Compare(a.ContainerID, b.ContainerID) })
	return slices.CompactFunc(list, func(a, b ubl.ContainerSummary) bool { return a.ContainerID == b.ContainerID })
}

// containersOf reads which containers a user is an entry of, and as what: "" says
// that they stay out of one that everyone joins.
func (x *Tenant) containersOf(ctx context.Context, user ubl.UserID) (map[ubl.ContainerID]ubl.Role, error) {
	roles := map[ubl.ContainerID]ubl.Role{}
	var bad error
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		from, to := agreement.ContainerMemberIndexOf(user)
		return snap.Ascend(from, to, func(_, v []byte) bool {
			var entry agreement.ContainerIndex
			bad = json.Unmarshal(v, &entry)
			roles[entry.Container.ContainerID] = entry.Role
			return bad == nil
		})
	})
	return roles, errors.Join(err, bad)
}

// issueCredits has a container of values take in new credits, under the
// TenantLicense. The container puts the act on record, and knows the key.
func (x *Tenant) issueCredits(t *actors.Turn, c ubl.IssueCredits) {
	t.Read(x.State.mayIssue(c), func(ctx context.Context) (any, error) {
		return x.Ask.Ask(ctx, ubl.ContainerName(x.id, c.To), x.found.Credit(c.Request, c.Amount))
	})
}

func (s *State) mayIssue(c ubl.IssueCredits) error {
	if err := s.permits(ubl.DidCreditsIssue, c.Who); err != nil {
		return err
	}
	if c.Amount < 1 || c.Amount > ubl.MaxCredits {
		return ubl.Errorf(ubl.CodeValidation, "the amount is not between 1 and %d", int64(ubl.MaxCredits))
	}
	to, ok := s.Containers[c.To]
	if !ok || to.Physics.Topology != ubl.Values {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such container of credits")
	}
	return to.Physics.May(ubl.OpDeposit)
}
