package container

import (
	"context"
	"slices"

	"ubl"
	"ubl/actors"
)

// The decisions about who belongs to a container. Each reads the state, changes
// nothing, and returns a plan or a refusal.

func (s *State) decideAdd(cmd ubl.AddMember, at actors.Moment) (*plan, error) {
	if err := s.own(cmd.Who); err != nil {
		return nil, err
	}
	m, err := s.Agreement.Admit(cmd.Member, at.Now)
	if err != nil {
		return nil, err
	}
	return setting(s.Summary, s.Agreement.ID, m), nil
}

// join makes an entry of who touches the general workspace, in the commit of what
// they came for.
func (c *Container) join(t *actors.Turn, cmd ubl.Command) {
	req, ok := touch(cmd)
	_, entry := c.State.Agreement.Members[req.Who.UserID]
	if !ok || entry || req.Who.TenantID != c.tenant || !c.State.joinable(req.Who) {
		return
	}
	if cmd.Cost() == 0 && t.Reserve(ubl.JoinCost) != nil {
		return // the next time
	}
	p := setting(c.State.Summary, c.State.Agreement.ID, entryOf(req.Who, ubl.RoleMember, t.Now()))
	p.Agreement = ubl.TenantAgreement(c.tenant)
	c.Enact(t, ubl.DidContainerJoin, req, p, nil)
}

// touch is the request of a command by which somebody joins: one that leaves a
// receipt of theirs. A look at the configuration alone doesn't.
func touch(cmd ubl.Command) (req ubl.Request, ok bool) {
	switch c := cmd.(type) {
	case ubl.Authorize:
		return c.Request, c.Op != ubl.OpRead
	case ubl.CreateDocument, ubl.UpdateDocument, ubl.DeleteDocument, ubl.GetDocument,
		ubl.ListDocuments, ubl.ListVersions, ubl.SearchDocuments, ubl.Transfer, knock:
		return c.(actors.Asked).Asked(), true
	}
	return ubl.Request{}, false
}

// entryOf is somebody's entry.
func entryOf(who ubl.Identity, role ubl.Role, now ubl.Time) ubl.Member {
	return ubl.Member{UserID: who.UserID, Email: who.Email, Role: role, IsService: who.IsService, Since: now}
}

// setting writes a member's entry.
func setting(in ubl.ContainerSummary, agreement ubl.AgreementID, m ubl.Member) *plan {
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("container_id", in.ContainerID), ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{setEffect(agreement, m)},
		},
		Event:   event{Member: &m},
		Records: []actors.Record{memberIndex(in, m)},
	}
}

func setEffect(agreement ubl.AgreementID, m ubl.Member) ubl.Fields {
	return ubl.Fields{
		ubl.Str("agreement_id", agreement), ubl.Str("op", "agreement.set"),
		ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
	}
}

func memberIndex(in ubl.ContainerSummary, m ubl.Member) actors.Record {
	return actors.Record{
		Key:   actors.ContainerMemberIndex(m.UserID, in.ContainerID),
		Value: actors.ContainerIndex{Container: in, Role: m.Role}.Encode(),
	}
}

// awayIndex tells the Tenant that somebody stays out of the general workspace.
func awayIndex(in ubl.ContainerSummary, m ubl.Member) actors.Record {
	m.Role = ""
	return memberIndex(in, m)
}

func (s *State) decideRole(cmd ubl.SetMember, _ actors.Moment) (*plan, error) {
	if err := s.own(cmd.Who); err != nil {
		return nil, err
	}
	was := s.Agreement.Members[cmd.UserID].Role
	m, err := s.Agreement.Reassign(cmd.UserID, cmd.Role)
	if err != nil {
		return nil, err
	}
	p := setting(s.Summary, s.Agreement.ID, m)
	p.Frees = was == ubl.RoleOwner && m.Role != was
	return p, nil
}

// removal names the act: who removes themselves leaves.
func removal(cmd ubl.RemoveMember) ubl.Did {
	if cmd.UserID == cmd.Who.UserID {
		return ubl.DidContainerLeave
	}
	return ubl.DidContainerRemove
}

func (s *State) decideRemove(cmd ubl.RemoveMember, at actors.Moment) (*plan, error) {
	if err := s.look(cmd.Who); err != nil && !cmd.Expel {
		return nil, err
	}
	m, heir, seal, err := s.Agreement.Removal(cmd, at.Now, ubl.CodeForbidden, !s.shared() && !s.general())
	if err != nil {
		return nil, err
	}
	p := s.removing(m)
	if s.general() && !cmd.Expel {
		p.Records = []actors.Record{awayIndex(s.Summary, m)}
	}
	if cmd.Expel {
		p.Agreement, p.Event.Expelled = ubl.TenantAgreement(s.Agreement.TenantID), true
	}
	if seal {
		s.sealing(p)
	}
	if heir != nil {
		p.Event.Heir = heir
		p.Effects = append(p.Effects, setEffect(s.Agreement.ID, *heir))
		p.Records = append(p.Records, memberIndex(s.Summary, *heir))
	}
	return p, nil
}

// decideSetHeir names who follows the container's owners.
func (s *State) decideSetHeir(cmd ubl.SetHeir, _ actors.Moment) (*plan, error) {
	err := s.look(cmd.Who)
	if err == nil {
		err = s.Agreement.NameHeir(cmd, ubl.CodeForbidden)
	}
	if err == nil {
		err = s.governs(cmd.Agreement)
	}
	if err != nil {
		return nil, err
	}
	named := actors.HeirFields(s.Agreement.ID, cmd.Heir.UserID)
	return &plan{
		Act: actors.Act{
			This:    named,
			Effects: []ubl.Fields{append(ubl.Fields{named[0], ubl.Str("op", ubl.DidHeirSet)}, named[1:]...)},
		},
		Event: event{Member: &ubl.Member{UserID: cmd.Heir.UserID}},
	}, nil
}

// sealing closes the container: entries that are left are services, which go too.
func (s *State) sealing(p *plan) {
	p.Event.Sealed = true
	for _, m := range s.Agreement.SortedMembers() {
		if m.UserID != p.Event.Member.UserID {
			rest := s.removing(m)
			p.Effects, p.Records = append(p.Effects, rest.Effects...), append(p.Records, rest.Records...)
		}
	}
	p.Effects = append(p.Effects, ubl.Fields{ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("op", "agreement.seal")})
}

// decideHeir opens a sealed container to an heir: for what comes, and its credits.
func (s *State) decideHeir(cmd actors.Inherit, at actors.Moment) (*plan, error) {
	m, err := s.Agreement.Inherit(cmd.Heir, at.Now)
	if err != nil {
		return nil, err
	}
	p := setting(s.Summary, s.Agreement.ID, m)
	p.Agreement = ubl.TenantAgreement(s.Agreement.TenantID)
	p.This = ubl.Fields{ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("user_id", m.UserID)}
	return p, nil
}

// removing takes a member's entry away.
func (s *State) removing(m ubl.Member) *plan {
	id := s.Summary.ContainerID
	return &plan{
		Act: actors.Act{
			This: ubl.Fields{ubl.Str("container_id", id), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{{
				ubl.Str("agreement_id", s.Agreement.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID),
			}},
		},
		Event:   event{Member: &m},
		Records: []actors.Record{{Key: actors.ContainerMemberIndex(m.UserID, id)}},
	}
}

func (s *State) decideEnd(cmd ubl.EndAgreement, at actors.Moment) (*plan, error) {
	if err := s.own(cmd.Who); err != nil {
		return nil, err
	}
	if err := s.governs(cmd.Agreement); err != nil {
		return nil, err
	}
	ended, id := s.Agreement, s.Agreement.ID
	ended.Status, ended.EndedAt = ubl.AgreementEnded, &at.Now
	view := ended.View(nil)
	view.Agreement.Members = nil // as it is read from the store: there is the list
	return &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("agreement_id", id)},
			Effects: []ubl.Fields{{ubl.Str("agreement_id", id), ubl.Str("op", "agreement.end")}},
		},
		Event: event{Ended: view},
	}, nil
}

// agreement answers who may look with the Agreement and its history.
func (c *Container) agreement(t *actors.Turn, cmd ubl.GetAgreement) {
	err := c.State.look(cmd.Who)
	if err == nil {
		err = c.State.governs(cmd.Agreement)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	now, steps, ctx := c.State.Agreement.Share(), c.State.Steps, t.Context()
	t.Later(func() (any, error) {
		if cmd.Brief {
			return now.View(nil), nil
		}
		history, err := c.changes(ctx, steps)
		if err != nil {
			return nil, err
		}
		return now.View(history), nil
	})
}

// changes reads the Agreement's history, which is in the events of some numbers.
func (c *Container) changes(ctx context.Context, steps []int64) ([]ubl.Change, error) {
	history := make([]ubl.Change, 0, len(steps))
	for page := range slices.Chunk(steps, eventPage) {
		err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
			for _, n := range page {
				err := actors.EachEvent(snap, eventKey(c.id, n), eventKey(c.id, n+1), eventVersion, func(e event) {
					history = append(history, e.change())
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return history, nil
}
