package container

import (
	"context"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// The decisions about who belongs to a container. Each reads the state, changes
// nothing, and returns a plan or a refusal.

func (s *State) decideAdd(cmd ubl.AddMember, at actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidContainerInvite, cmd.Who); err != nil {
		return nil, err
	}
	m, err := agreement.Admit(&s.Agreement.Agreement, cmd.Member, at.Now)
	if err != nil {
		return nil, err
	}
	return changing(s.entries().Set(m)), nil
}

// join makes an entry of who touches the general workspace, in the commit of what
// they came for. It refuses for load alone.
func (c *Container) join(t *actors.Turn, cmd ubl.Command) error {
	req, ok := touch(cmd)
	_, entry := c.State.Agreement.Members[req.Who.UserID]
	if !ok || entry || req.Who.TenantID != c.tenant || req.Who.Mandate.Reads() || !c.State.joinable(req.Who) {
		return nil
	}
	if cmd.Cost() == 0 {
		if err := t.Reserve(ubl.JoinCost); err != nil {
			return err
		}
	}
	p := changing(c.State.entries().Set(agreement.EntryOf(req.Who, ubl.RoleMember, t.Now())))
	p.Agreement = ubl.TenantAgreement(c.tenant)
	c.Enact(t, c.Following(ubl.DidContainerJoin, req, p), nil)
	return nil
}

// touch is the request of a command by which somebody joins: one that leaves a
// receipt of theirs, or comes before one. A look at the configuration alone doesn't.
func touch(cmd ubl.Command) (req ubl.Request, ok bool) {
	switch c := cmd.(type) {
	case ubl.Authorize:
		return c.Request, c.Op != ubl.OpRead
	case ubl.CreateDocument, ubl.UpdateDocument, ubl.DeleteDocument, ubl.GetDocument,
		ubl.ListDocuments, ubl.ListVersions, ubl.SearchDocuments, ubl.Transfer, knock,
		ubl.PrepareFile, ubl.PutFile, ubl.GetFile, ubl.ListFiles, ubl.RemoveFile:
		return c.(actors.Asked).Asked(), true
	}
	return ubl.Request{}, false
}

// entries writes the acts about who is in the container.
func (s *State) entries() agreement.Entries {
	return agreement.Entries{
		In: &s.Agreement.Agreement, Subject: ubl.Str("container_id", s.Summary.ContainerID), Removes: ubl.DidContainerRemove,
		Index: func(m ubl.Member) actors.Record { return memberIndex(s.Summary, m) },
	}
}

// changing is the plan of a change of entries.
func changing(c *agreement.EntryChange) *plan {
	return &plan{
		Act: c.Act, Records: c.Records, Frees: c.Frees, Alarms: c.Alarms,
		Event: event{Member: &c.Member, Heir: c.Heir, Sealed: c.Sealed, Expelled: c.Expelled},
	}
}

func memberIndex(in ubl.ContainerSummary, m ubl.Member) actors.Record {
	return actors.Record{
		Key:   agreement.ContainerMemberIndex(m.UserID, in.ContainerID),
		Value: agreement.ContainerIndex{Container: in, Role: m.Role}.Encode(),
	}
}

// awayIndex tells the Tenant that somebody stays out of the general workspace.
func awayIndex(in ubl.ContainerSummary, m ubl.Member) actors.Record {
	m.Role = ""
	return memberIndex(in, m)
}

func (s *State) decideRole(cmd ubl.SetMember, _ actors.Moment) (*plan, error) {
	if err := s.permits(ubl.DidContainerMemberUpdate, cmd.Who); err != nil {
		return nil, err
	}
	change, err := s.entries().SetRole(cmd)
	if err != nil {
		return nil, err
	}
	return changing(change), nil
}

// removal names the act: who removes themselves leaves.
func removal(cmd ubl.RemoveMember) ubl.Did {
	if cmd.UserID == cmd.Who.UserID {
		return ubl.DidContainerLeave
	}
	return ubl.DidContainerRemove
}

func (s *State) decideRemove(cmd ubl.RemoveMember, at actors.Moment) (*plan, error) {
	if err := s.look(cmd.Who); err != nil && !cmd.Expel && !cmd.Who.IsPlatform() {
		return nil, err
	}
	change, err := s.entries().Remove(cmd, at.Now, ubl.CodeForbidden, !s.shared() && !s.general())
	if err != nil {
		return nil, err
	}
	if s.general() && !cmd.Expel {
		change.Records = []actors.Record{awayIndex(s.Summary, change.Member)}
	}
	return changing(change), nil
}

// decideSetHeir names who follows the container's owners.
func (s *State) decideSetHeir(cmd ubl.SetHeir, _ actors.Moment) (*plan, error) {
	if err := s.look(cmd.Who); err != nil {
		return nil, err
	}
	change, err := s.entries().NameHeir(cmd, ubl.CodeForbidden)
	if err == nil {
		err = s.governs(cmd.Agreement)
	}
	if err != nil {
		return nil, err
	}
	return changing(change), nil
}

// decideHeir opens a sealed container to an heir: for what comes, and its credits.
func (s *State) decideHeir(cmd agreement.Inherit, at actors.Moment) (*plan, error) {
	change, err := s.entries().Inherit(cmd, at.Now)
	if err != nil {
		return nil, err
	}
	return changing(change), nil
}

func (s *State) decideEnd(cmd ubl.EndAgreement, at actors.Moment) (*plan, error) {
	if err := s.look(cmd.Who); err != nil && !cmd.Who.IsPlatform() {
		return nil, err
	}
	if err := agreement.MayEnd(&s.Agreement.Agreement, cmd.Who, at.Now, ubl.CodeForbidden); err != nil {
		return nil, err
	}
	if err := s.governs(cmd.Agreement); err != nil {
		return nil, err
	}
	act, alarms, ended := agreement.Ending(s.Agreement.Agreement, at.Now)
	ended.Agreement.Members = nil // as it is read from the store: there is the list
	return &plan{Act: act, Alarms: alarms, Event: event{Ended: ended}}, nil
}

// agreement answers who may look with the Agreement and its history.
func (c *Container) agreement(t *actors.Turn, cmd ubl.GetAgreement) {
	err := c.State.look(cmd.Who)
	if err == nil {
		err = c.State.governs(cmd.Agreement)
	}
	hidden := c.State.Hidden
	agreement.Show(t, cmd, err, &c.State,
		func(ctx context.Context) (*State, *event, error) { return c.then(ctx, cmd.AsOf, hidden) },
		func(s *State) (ubl.Agreement, agreement.History, error) {
			return s.Agreement.Share(), c.changes(s.Steps), nil
		})
}

// changes is the Agreement's history, which is in the events of some numbers.
func (c *Container) changes(steps []int64) agreement.History {
	return func(ctx context.Context, after int64, fn func(ubl.Change) error) error {
		first, _ := slices.BinarySearch(steps, after+1)
		for page := range slices.Chunk(steps[first:], eventPage) {
			var changes []ubl.Change
			err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
				for _, n := range page {
					err := actors.EachEvent(snap, eventKey(c.id, n), eventKey(c.id, n+1), eventVersion, func(e event) {
						changes = append(changes, e.Change(e.Member))
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			for _, change := range changes {
				if err := fn(change); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
