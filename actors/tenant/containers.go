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
)

// createContainer makes a container, or answers a retry with the one it made.
func (x *Tenant) createContainer(t *actors.Turn, c ubl.CreateContainer) {
	c.Name = strings.TrimSpace(c.Name)
	kind, err := x.kind(c.Kind)
	if err != nil {
		t.Fail(err)
		return
	}
	physics := cmp.Or(c.Physics, &kind.Physics)
	key, ok := x.fresh(t, c.Request, kind.Did, []string{kind.Name, c.Name, physics.String()})
	if !ok {
		return
	}
	summary := ubl.ContainerSummary{
		ContainerID: ubl.ContainerSlug(kind, c.Name), Kind: kind.Name, Name: c.Name, Physics: *physics, CreatedAt: t.Now(),
	}
	if err := x.mayMake(c, summary); err != nil {
		t.Fail(err)
		return
	}
	a := &actors.Append{}
	made, err := x.addContainer(a, c.Request, kind, summary)
	if err != nil {
		t.Fail(err)
		return
	}
	x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refEvent, N: x.state.Events})
	t.Commit(a)
	t.Later(func() (any, error) { return &ubl.ContainerMade{Container: summary, Receipt: made.Receipt}, nil })
}

func (x *Tenant) kind(name string) (ubl.Kind, error) {
	i := slices.IndexFunc(x.kinds, func(k ubl.Kind) bool { return k.Name == name })
	if i < 0 {
		return ubl.Kind{}, ubl.Errorf(ubl.CodeValidation, "there is no such kind of container")
	}
	return x.kinds[i], nil
}

func (x *Tenant) mayMake(c ubl.CreateContainer, made ubl.ContainerSummary) error {
	if err := x.mayCreate(c.Who, c.Name); err != nil {
		return err
	}
	if err := x.env.Usage.May(c.Who, ubl.DidContainerCreate); err != nil {
		return err
	}
	if err := x.quota.Within(ubl.QuotaContainers, len(x.state.Containers)); err != nil {
		return err
	}
	if made.Physics == (ubl.Physics{}) {
		return ubl.Errorf(ubl.CodeValidation, "a container of this kind needs physics")
	}
	if err := made.Physics.Check(); err != nil {
		return err
	}
	if _, taken := x.state.Containers[made.ContainerID]; taken {
		return ubl.Errorf(ubl.CodeConflict, "a container of this name exists already")
	}
	return nil
}

// addContainer adds a container's founding and its directory entry to an append,
// and tells the act. Nothing has changed where it fails.
func (x *Tenant) addContainer(a *actors.Append, req ubl.Request, kind ubl.Kind, c ubl.ContainerSummary) (*actors.Act, error) {
	founding, err := x.found.Container(req, x.id, kind, c)
	if err != nil {
		return nil, err
	}
	made := founding.Acts[0]
	a.Merge(founding)
	x.state.apply(x.store(a, made, c.CreatedAt, req, event{Did: kind.Did, Container: &c}))
	return made, nil
}

// addWorkspace makes w:general, which every tenant has. Whoever causes it owns
// it, under the TenantLicense as for any other.
func (x *Tenant) addWorkspace(a *actors.Append, req ubl.Request, now ubl.Time) {
	kind := ubl.WorkspaceKind()
	_, err := x.addContainer(a, req, kind, ubl.ContainerSummary{
		ContainerID: ubl.GeneralWorkspace, Kind: kind.Name, Name: "general", Physics: kind.Physics, CreatedAt: now,
	})
	if err != nil {
		panic(err) // no random numbers: the actor is loaded anew, nothing was committed
	}
}

// listContainers answers the containers that the caller may look into: those
// that let every member of the tenant in, and those where they are an entry.
func (x *Tenant) listContainers(t *actors.Turn, c ubl.ListContainers) {
	_, err := x.member(c.Who)
	if err == nil && c.Receipted {
		err = cmp.Or(x.state.License.InForce(), x.env.Usage.May(c.Who, ubl.DidWorkspaceList))
	}
	if err != nil {
		t.Fail(err)
		return
	}
	list, directory := x.shared(), maps.Clone(x.state.Containers)
	receipt := func() *ubl.Receipt { return nil }
	if c.Receipted {
		act := x.looked(c, t.Now())
		receipt = func() *ubl.Receipt { return &act.Receipt }
		t.Commit(&actors.Append{Acts: []*actors.Act{act}})
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
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
		return &ubl.ContainerList{Containers: sorted(list, c.Kind), Receipt: receipt()}, nil
	})
}

// looked is the act of looking at the directory.
func (x *Tenant) looked(c ubl.ListContainers, now ubl.Time) *actors.Act {
	this := ubl.Fields{ubl.Str("tenant_id", x.id)}
	if _, err := x.kind(c.Kind); err == nil {
		this = append(this, ubl.Str("kind", c.Kind))
	}
	return &actors.Act{
		Did: ubl.DidWorkspaceList, Agreement: x.state.License.ID, Request: c.Request, At: now, This: this,
		Effects:  []ubl.Fields{{ubl.Str("op", ubl.DidWorkspaceList), ubl.Str("tenant_id", x.id)}},
		Pointers: ubl.Fields{ubl.Str("agreement_id", x.state.License.ID)},
	}
}

// shared are the containers that every member of the tenant may look into, or joins
// by doing so.
func (x *Tenant) shared() []ubl.ContainerSummary {
	list := []ubl.ContainerSummary{}
	for _, c := range x.state.Containers {
		if c.Physics.Permeability == ubl.Open || c.ContainerID == ubl.GeneralWorkspace {
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
	err := x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		from, to := actors.ContainerMemberIndexOf(user)
		return snap.Ascend(from, to, func(_, v []byte) bool {
			var entry actors.ContainerIndex
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
	if err := x.mayIssue(c); err != nil {
		t.Fail(err)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		return x.env.Ask.Ask(ctx, ubl.ContainerName(x.id, c.To), actors.Credit{Request: c.Request, Amount: c.Amount})
	})
}

func (x *Tenant) mayIssue(c ubl.IssueCredits) error {
	if err := x.owner(c.Who); err != nil {
		return err
	}
	if c.Amount < 1 || c.Amount > ubl.MaxCredits {
		return ubl.Errorf(ubl.CodeValidation, "the amount is not between 1 and %d", int64(ubl.MaxCredits))
	}
	to, ok := x.state.Containers[c.To]
	if !ok || to.Physics.Topology != ubl.Values {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such container of credits")
	}
	return to.Physics.May(ubl.OpDeposit)
}
