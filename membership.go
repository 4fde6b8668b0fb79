package ubl

// The decisions about who belongs to what an Agreement governs. Rooms and
// containers share them; each reads the Agreement and changes nothing.

// Admit is the entry of someone new.
func (a *Agreement) Admit(m Member, now Time) (Member, error) {
	if !m.Role.Valid() {
		return m, errRole()
	}
	if _, ok := a.Members[m.UserID]; ok {
		return m, Errorf(CodeConflict, "the user is a member already")
	}
	m.Since, m.Name, m.Unproven, m.InvitedBy = now, "", false, ""
	return m, nil
}

// Reassign is a member's entry in another role. The last owner stays one.
func (a *Agreement) Reassign(user UserID, role Role) (Member, error) {
	m, ok := a.Members[user]
	switch {
	case !role.Valid():
		return m, errRole()
	case !ok:
		return m, errNoMember()
	case role != RoleOwner && a.lastOwner(m):
		return m, Errorf(CodeConflict, "the last owner stays an owner")
	}
	m.Role = role
	return m, nil
}

// Removal is the entry that goes, and who owns what the Agreement governs after
// that, where the last owner or the last person is shut out: see [Agreement.successor]. With seal it has to
// be sealed, and an heir beside that has it from now on. The code is for callers who
// have no part in it.
func (a *Agreement) Removal(c RemoveMember, now Time, refusal Code, private bool) (gone Member, heir *Member, seal bool, err error) {
	if err := a.mayRemove(c, refusal); err != nil {
		return gone, nil, false, err
	}
	gone, ok := a.Members[c.UserID]
	switch last := a.lastOwner(gone); {
	case !ok:
		return gone, nil, false, errNoMember()
	case last && !c.Expel:
		return gone, nil, false, Errorf(CodeConflict, "the last owner can't go before making another one")
	case last || c.Expel && a.lastPerson(gone):
		heir, seal = a.successor(c, now, private)
	}
	return gone, heir, seal, nil
}

// successor is the new owner: who was named, if they are inside; else the person who
// has been for longest. Where no person is left inside, that is who was named from
// outside, or for what others could enter whom the Tenant names. What is private is
// sealed then, so that nobody from outside reads what was there before.
func (a *Agreement) successor(c RemoveMember, now Time, private bool) (heir *Member, seal bool) {
	if m, in := a.Members[a.NamedHeir]; in && !m.IsService && m.UserID != c.UserID {
		m.Role = RoleOwner
		return &m, false
	}
	if m, left := a.Heir(c.UserID); left {
		m.Role = RoleOwner
		return &m, false
	}
	from := c.Named
	if from == nil || from.UserID != a.NamedHeir || from.UserID == c.UserID || from.IsService {
		from = nil
		if !private {
			from = c.Heir
		}
	}
	if from == nil {
		return nil, private
	}
	m := *from
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = RoleOwner, now, "", false, ""
	return &m, private
}

// NameHeir checks whom an owner names to follow them; the empty id takes the name back.
// The code is for those who have no part in it.
func (a *Agreement) NameHeir(c SetHeir, refusal Code) error {
	if err := a.OwnedBy(c.Who, refusal); err != nil {
		return err
	}
	switch {
	case c.Who.IsService:
		return Errorf(CodeForbidden, "a service can't name an heir")
	case c.Heir.IsService:
		return Errorf(CodeValidation, "the heir is a service; name a person")
	case c.Heir.UserID == a.NamedHeir && c.Heir.UserID == "":
		return Errorf(CodeConflict, "no heir is named")
	case c.Heir.UserID == a.NamedHeir:
		return Errorf(CodeConflict, "they are named already")
	case c.Heir.UserID == c.Who.UserID && a.Owners() == 1:
		return Errorf(CodeValidation, "the heir follows you: name somebody else")
	}
	return nil
}

// Inherit is the entry of who is named to have what is sealed.
func (a *Agreement) Inherit(m Member, now Time) (Member, error) {
	switch {
	case a.InForce() != nil:
		return m, a.InForce()
	case a.SealedAt == nil:
		return m, Errorf(CodeConflict, "only what is sealed takes an heir: its owners add members")
	case m.IsService:
		return m, Errorf(CodeValidation, "the heir is a service; name a person")
	}
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = RoleOwner, now, "", false, ""
	return m, nil
}

// mayRemove lets the Tenant, which has decided under its own Agreement, members
// leave, and owners remove others.
func (a *Agreement) mayRemove(c RemoveMember, refusal Code) error {
	switch {
	case c.UserID == Platform().UserID:
		return Errorf(CodeConflict, "the platform can't be removed")
	case c.Expel:
		return nil
	case c.UserID == c.Who.UserID:
		if _, err := a.Entry(c.Who, refusal); err != nil {
			return err
		}
		return a.InForce()
	}
	return a.OwnedBy(c.Who, refusal)
}

// Heir is the person who has been an owner for longest, but for one, or else an
// entry: who answers for what the Agreement governs when others are gone.
func (a *Agreement) Heir(but UserID) (heir Member, ok bool) {
	for _, m := range a.SortedMembers() {
		if m.UserID == but || m.IsService {
			continue
		}
		older := m.Role == heir.Role && m.Since < heir.Since
		if !ok || older || m.Role == RoleOwner && heir.Role != RoleOwner {
			heir, ok = m, true
		}
	}
	return heir, ok
}

func (a *Agreement) lastOwner(m Member) bool { return m.Role == RoleOwner && a.Owners() == 1 }

// lastPerson reports whether all others are services: nobody would be left.
func (a *Agreement) lastPerson(m Member) bool {
	_, others := a.Heir(m.UserID)
	return !m.IsService && !others
}

func errRole() error { return Errorf(CodeValidation, "the role is neither owner nor member") }

func errNoMember() error { return Errorf(CodeNotFound, "the user is not a member") }
