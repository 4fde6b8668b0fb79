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
	m.Since, m.Name, m.Unproven = now, "", false
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
// that, where the last owner is shut out: see [Agreement.Heir]. Where no person is
// left, that is whom the Tenant names, and nobody where it is private: then it has to
// be sealed. The code is for callers who have no part in it.
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
	case last:
		if _, left := a.Heir(c.UserID); !left && private {
			return gone, nil, true, nil
		}
		heir = a.inherits(c, now)
	}
	return gone, heir, false, nil
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
	m.Role, m.Since, m.Name = RoleOwner, now, ""
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

// inherits is the entry of the new owner, nil where there is nobody.
func (a *Agreement) inherits(c RemoveMember, now Time) *Member {
	heir, ok := a.Heir(c.UserID)
	if !ok {
		if c.Heir == nil {
			return nil
		}
		heir = *c.Heir
		heir.Since, heir.Name, heir.Unproven = now, "", false
	}
	heir.Role = RoleOwner
	return &heir
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

func errRole() error { return Errorf(CodeValidation, "the role is neither owner nor member") }

func errNoMember() error { return Errorf(CodeNotFound, "the user is not a member") }
