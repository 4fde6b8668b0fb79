package container

import (
	"context"
	"slices"

	"ubl"
	"ubl/actors"
)

// The decisions about who belongs to a container. Each reads the state, changes
// nothing, and returns a plan or a refusal.

func (c *Container) decideAdd(cmd ubl.AddMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := c.state.own(cmd.Who); err != nil {
			return nil, err
		}
		m, err := c.state.Agreement.Admit(cmd.Member, now)
		if err != nil {
			return nil, err
		}
		return setting(c.state.Summary, c.state.Agreement.ID, m), nil
	}
}

// join makes an entry of who touches the general workspace, in the commit of what
// they came for.
func (c *Container) join(t *actors.Turn, cmd ubl.Command) {
	req, ok := touch(cmd)
	_, entry := c.state.Agreement.Members[req.Who.UserID]
	if !ok || entry || req.Who.TenantID != c.tenant || !c.state.joinable(req.Who) {
		return
	}
	if cmd.Cost() == 0 && t.Reserve(ubl.JoinCost) != nil {
		return // the next time
	}
	p := setting(c.state.Summary, c.state.Agreement.ID, entryOf(req.Who, ubl.RoleMember, t.Now()))
	p.agreement, p.event.Did = ubl.TenantAgreement(c.tenant), ubl.DidContainerJoin
	a := &actors.Append{}
	c.add(a, t.Now(), req, p)
	c.joined = a
}

// touch is the request of a command by which somebody joins: one that leaves a
// receipt of theirs. A look at the configuration alone doesn't.
func touch(cmd ubl.Command) (req ubl.Request, ok bool) {
	switch cmd := cmd.(type) {
	case ubl.CreateDocument:
		return cmd.Request, true
	case ubl.UpdateDocument:
		return cmd.Request, true
	case ubl.DeleteDocument:
		return cmd.Request, true
	case ubl.GetDocument:
		return cmd.Request, true
	case ubl.ListDocuments:
		return cmd.Request, true
	case ubl.ListVersions:
		return cmd.Request, true
	case ubl.SearchDocuments:
		return cmd.Request, true
	case ubl.Transfer:
		return cmd.Request, true
	case ubl.Authorize:
		return cmd.Request, cmd.Op != ubl.OpRead
	case knock:
		return cmd.Request, true
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
		event:   event{Member: &m},
		this:    ubl.Fields{ubl.Str("container_id", in.ContainerID), ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID)},
		effects: []ubl.Fields{setEffect(agreement, m)},
		records: []actors.Record{memberIndex(in, m)},
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

func (c *Container) decideRole(cmd ubl.SetMember) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := c.state.own(cmd.Who); err != nil {
			return nil, err
		}
		m, err := c.state.Agreement.Reassign(cmd.UserID, cmd.Role)
		if err != nil {
			return nil, err
		}
		return setting(c.state.Summary, c.state.Agreement.ID, m), nil
	}
}

// removal names the act: who removes themselves leaves.
func removal(cmd ubl.RemoveMember) ubl.Did {
	if cmd.UserID == cmd.Who.UserID {
		return ubl.DidContainerLeave
	}
	return ubl.DidContainerRemove
}

func (c *Container) decideRemove(cmd ubl.RemoveMember) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := c.state.look(cmd.Who); err != nil && !cmd.Expel {
			return nil, err
		}
		m, heir, seal, err := c.state.Agreement.Removal(cmd, now, ubl.CodeForbidden, !c.state.shared() && !c.state.general())
		if err != nil {
			return nil, err
		}
		p := c.removing(m)
		if c.state.general() && !cmd.Expel {
			p.records = []actors.Record{awayIndex(c.state.Summary, m)}
		}
		if cmd.Expel {
			p.agreement, p.event.Expelled = ubl.TenantAgreement(c.tenant), true
		}
		if seal {
			c.seal(p)
		}
		if heir != nil {
			p.event.Heir = heir
			p.effects = append(p.effects, setEffect(c.state.Agreement.ID, *heir))
			p.records = append(p.records, memberIndex(c.state.Summary, *heir))
		}
		return p, nil
	}
}

// decideSetHeir names who follows the container's owners.
func (c *Container) decideSetHeir(cmd ubl.SetHeir) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		err := c.state.look(cmd.Who)
		if err == nil {
			err = c.state.Agreement.NameHeir(cmd, ubl.CodeForbidden)
		}
		if err == nil {
			err = c.state.governs(cmd.Agreement)
		}
		if err != nil {
			return nil, err
		}
		named := actors.HeirFields(c.state.Agreement.ID, cmd.Heir.UserID)
		return &plan{
			event:   event{Member: &ubl.Member{UserID: cmd.Heir.UserID}},
			this:    named,
			effects: []ubl.Fields{append(ubl.Fields{named[0], ubl.Str("op", ubl.DidHeirSet)}, named[1:]...)},
		}, nil
	}
}

// seal closes the container: entries that are left are services, which go too.
func (c *Container) seal(p *plan) {
	p.event.Sealed = true
	for _, m := range c.state.Agreement.SortedMembers() {
		if m.UserID != p.event.Member.UserID {
			rest := c.removing(m)
			p.effects, p.records = append(p.effects, rest.effects...), append(p.records, rest.records...)
		}
	}
	p.effects = append(p.effects, ubl.Fields{ubl.Str("agreement_id", c.state.Agreement.ID), ubl.Str("op", "agreement.seal")})
}

// decideHeir opens a sealed container to an heir: for what comes, and its credits.
func (c *Container) decideHeir(cmd actors.Inherit) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		m, err := c.state.Agreement.Inherit(cmd.Heir, now)
		if err != nil {
			return nil, err
		}
		p := setting(c.state.Summary, c.state.Agreement.ID, m)
		p.agreement = ubl.TenantAgreement(c.tenant)
		p.this = ubl.Fields{ubl.Str("agreement_id", c.state.Agreement.ID), ubl.Str("user_id", m.UserID)}
		return p, nil
	}
}

// removing takes a member's entry away.
func (c *Container) removing(m ubl.Member) *plan {
	return &plan{
		event: event{Member: &m},
		this:  ubl.Fields{ubl.Str("container_id", c.id), ubl.Str("user_id", m.UserID)},
		effects: []ubl.Fields{{
			ubl.Str("agreement_id", c.state.Agreement.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID),
		}},
		records: []actors.Record{{Key: actors.ContainerMemberIndex(m.UserID, c.id)}},
	}
}

func (c *Container) decideEnd(cmd ubl.EndAgreement) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := c.state.own(cmd.Who); err != nil {
			return nil, err
		}
		if err := c.state.governs(cmd.Agreement); err != nil {
			return nil, err
		}
		ended, id := c.state.Agreement, c.state.Agreement.ID
		ended.Status, ended.EndedAt = ubl.AgreementEnded, &now
		return &plan{
			event:   event{Ended: ended.View(nil)},
			this:    ubl.Fields{ubl.Str("agreement_id", id)},
			effects: []ubl.Fields{{ubl.Str("agreement_id", id), ubl.Str("op", "agreement.end")}},
		}, nil
	}
}

// agreement answers who may look with the Agreement and its history.
func (c *Container) agreement(t *actors.Turn, cmd ubl.GetAgreement) {
	err := c.state.look(cmd.Who)
	if err == nil {
		err = c.state.governs(cmd.Agreement)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	now, steps, ctx := c.state.Agreement.Share(), c.state.Steps, t.Context()
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
		err := c.read.View(ctx, c.group, func(snap ubl.Snapshot) error {
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
