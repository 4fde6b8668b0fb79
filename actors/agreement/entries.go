package agreement

import (
	"ubl"
	"ubl/actors"
)

// Entries writes the acts about who has a part in what an Agreement governs. Its methods
// read the Agreement, change nothing, and return a change or a refusal; who may ask is
// the family's decision where the Agreement alone can't tell.
type Entries struct {
	In *ubl.Agreement
	// Subject names what is governed, in acts.
	Subject ubl.Field
	// Removes is what removing somebody else is called.
	Removes ubl.Did
	// Index is the record by which the Tenant finds what somebody has a part in.
	Index func(ubl.Member) actors.Record
}

// EntryChange is what becomes of entries: an act, what goes with it, and what the
// family's event keeps.
type EntryChange struct {
	actors.Act
	Records []actors.Record
	Frees   bool // as [Plan].Frees

	// Member is whom it is about.
	Member ubl.Member
	// Heir owns what is governed after its last owner was shut out.
	Heir *ubl.Member
	// Sealed: nobody is left, and what is there stays closed for good.
	Sealed bool
	// Swept are the others whose entries a sealing takes.
	Swept []ubl.Member
	// Expelled: the Tenant has shut the member out.
	Expelled bool
	// Alarms have what follows from it finished.
	Alarms []actors.Alarm
}

// EntryOf is the entry of somebody who comes in by themselves.
func EntryOf(who ubl.Identity, role ubl.Role, now ubl.Time) ubl.Member {
	return ubl.Member{UserID: who.UserID, Email: who.Email, Role: role, IsService: who.IsService, Since: now}
}

// Set puts an entry in, or replaces it.
func (e Entries) Set(m ubl.Member) *EntryChange {
	return &EntryChange{
		Act: actors.Act{
			This:    ubl.Fields{e.Subject, ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID)},
			Effects: []ubl.Fields{e.set(m)},
		},
		Records: []actors.Record{e.Index(m)},
		Member:  m,
	}
}

func (e Entries) set(m ubl.Member) ubl.Fields {
	return ubl.Fields{
		ubl.Str("agreement_id", e.In.ID), ubl.Str("op", "agreement.set"), ubl.Str("role", m.Role), ubl.Str("user_id", m.UserID),
	}
}

// SetRole gives a member another role.
func (e Entries) SetRole(c ubl.SetMember) (*EntryChange, error) {
	was := e.In.Members[c.UserID].Role
	m, err := reassign(e.In, c.UserID, c.Role)
	if err != nil {
		return nil, err
	}
	change := e.Set(m)
	change.Frees = was == ubl.RoleOwner && m.Role != was
	return change, nil
}

// Remove takes a member's entry away, and finds who owns what is governed after them. With
// private it is sealed where nobody is left. The code is for callers who have no part in it.
func (e Entries) Remove(c ubl.RemoveMember, now ubl.Time, refusal ubl.Code, private bool) (*EntryChange, error) {
	m, heir, seal, err := removal(e.In, e.Removes, c, now, refusal, private)
	if err != nil {
		return nil, err
	}
	change := &EntryChange{
		Act:      actors.Act{This: ubl.Fields{e.Subject, ubl.Str("user_id", m.UserID)}},
		Member:   m,
		Heir:     heir,
		Sealed:   seal,
		Expelled: c.Expel,
		Alarms:   e.agentsAlarms(c, m, now),
	}
	change.leave(e, m)
	if c.Expel || c.Who.IsPlatform() {
		change.Agreement = ubl.TenantAgreement(e.In.TenantID)
	}
	if seal {
		change.seal(e)
	}
	if heir != nil {
		change.Effects = append(change.Effects, e.set(*heir))
		change.Records = append(change.Records, e.Index(*heir))
	}
	return change, nil
}

func (c *EntryChange) leave(e Entries, m ubl.Member) {
	c.Effects = append(c.Effects, ubl.Fields{
		ubl.Str("agreement_id", e.In.ID), ubl.Str("op", "agreement.remove"), ubl.Str("user_id", m.UserID),
	})
	c.Records = append(c.Records, actors.Record{Key: e.Index(m).Key})
}

// seal has the entries that are left go too: they are services.
func (c *EntryChange) seal(e Entries) {
	for _, m := range e.In.SortedMembers() {
		if m.UserID != c.Member.UserID {
			c.leave(e, m)
			c.Swept = append(c.Swept, m)
		}
	}
	c.Effects = append(c.Effects, ubl.Fields{ubl.Str("agreement_id", e.In.ID), ubl.Str("op", "agreement.seal")})
}

// NameHeir names who follows the owners. The code is for callers who have no part in it.
func (e Entries) NameHeir(c ubl.SetHeir, refusal ubl.Code) (*EntryChange, error) {
	if err := nameHeir(e.In, c, refusal); err != nil {
		return nil, err
	}
	named := HeirFields(e.In.ID, c.Heir.UserID)
	return &EntryChange{
		Act: actors.Act{
			This:    named,
			Effects: []ubl.Fields{append(ubl.Fields{ubl.Str("op", ubl.DidHeirSet)}, named...)},
		},
		Member: ubl.Member{UserID: c.Heir.UserID},
	}, nil
}

// Inherit opens what is sealed to an heir. The Tenant decides it, under its own Agreement.
func (e Entries) Inherit(c Inherit, now ubl.Time) (*EntryChange, error) {
	m, err := inherit(e.In, c.Heir, now)
	if err != nil {
		return nil, err
	}
	change := e.Set(m)
	change.Agreement = ubl.TenantAgreement(e.In.TenantID)
	change.This = ubl.Fields{ubl.Str("agreement_id", e.In.ID), ubl.Str("user_id", m.UserID)}
	return change, nil
}

// What tells one command about entries from another under the same key: see [On].

// AddContent tells additions apart: by who comes in, and the role.
func AddContent(c ubl.AddMember) []string {
	return []string{string(c.Member.UserID), string(c.Member.Role)}
}

// RoleContent tells new roles apart: by whose, and which.
func RoleContent(c ubl.SetMember) []string { return []string{string(c.UserID), string(c.Role)} }

// RemoveContent tells removals apart: by who goes.
func RemoveContent(c ubl.RemoveMember) []string { return []string{string(c.UserID)} }

// SetHeirContent tells namings of an heir apart: by who is named.
func SetHeirContent(c ubl.SetHeir) []string { return []string{string(c.Heir.UserID)} }

// InheritContent tells inheritances apart: by who inherits.
func InheritContent(c Inherit) []string { return []string{string(c.Heir.UserID)} }
