package agreement

import "ubl"

// The decisions about who belongs to what an Agreement governs. Rooms and containers share
// them; each reads the Agreement and changes nothing.

// Admit is the entry of someone new.
func Admit(a *ubl.Agreement, m ubl.Member, now ubl.Time) (ubl.Member, error) {
	if !a.Takes(m.Role) {
		return m, errRole(a)
	}
	if _, ok := a.Members[m.UserID]; ok {
		return m, ubl.Errorf(ubl.CodeConflict, "the user is a member already")
	}
	m.Since, m.Name, m.Unproven, m.InvitedBy = now, "", false, ""
	return m, nil
}

// reassign is a member's entry in another role. The last owner stays one.
func reassign(a *ubl.Agreement, user ubl.UserID, role ubl.Role) (ubl.Member, error) {
	m, ok := a.Members[user]
	switch {
	case !a.Takes(role):
		return m, errRole(a)
	case !ok:
		return m, errNoMember()
	case role != ubl.RoleOwner && lastOwner(a, m):
		return m, ubl.Errorf(ubl.CodeConflict, "the last owner stays an owner")
	}
	m.Role = role
	return m, nil
}

// removal is the entry that goes, and who owns what the Agreement governs after
// that, where the last owner or the last person is shut out: see [successor]. With seal it has to
// be sealed, and an heir beside that has it from now on. The code is for callers who
// have no part in it, did what removing somebody else is called.
func removal(a *ubl.Agreement, did ubl.Did, c ubl.RemoveMember, now ubl.Time, refusal ubl.Code, private bool) (gone ubl.Member, heir *ubl.Member, seal bool, err error) {
	if err := mayRemove(a, did, c, refusal); err != nil {
		return gone, nil, false, err
	}
	gone, ok := a.Members[c.UserID]
	switch last := lastOwner(a, gone); {
	case !ok:
		return gone, nil, false, errNoMember()
	case !c.Expel && outranked(a, did, c, gone):
		return gone, nil, false, ubl.Errorf(ubl.CodeForbidden, "a moderator takes only members out")
	case last && !c.Expel:
		return gone, nil, false, ubl.Errorf(ubl.CodeConflict, "the last owner can't go before making another one")
	case last || c.Expel && lastPerson(a, gone):
		heir, seal = successor(a, c, now, private)
	}
	return gone, heir, seal, nil
}

// successor is the new owner: who was named, if they are inside; else the person who
// has been for longest. Where no person is left inside, that is who was named from
// outside, or for what others could enter whom the Tenant names. What is private is
// sealed then, so that nobody from outside reads what was there before.
func successor(a *ubl.Agreement, c ubl.RemoveMember, now ubl.Time, private bool) (heir *ubl.Member, seal bool) {
	if m, in := a.Members[a.NamedHeir]; in && !m.IsService && m.UserID != c.UserID {
		m.Role = ubl.RoleOwner
		return &m, false
	}
	if m, left := a.Heir(c.UserID); left {
		m.Role = ubl.RoleOwner
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
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = ubl.RoleOwner, now, "", false, ""
	return &m, private
}

// nameHeir checks whom an owner names to follow them; the empty id takes the name back.
// The code is for those who have no part in it.
func nameHeir(a *ubl.Agreement, c ubl.SetHeir, refusal ubl.Code) error {
	if err := a.Permits(ubl.DidHeirSet, c.Who, refusal); err != nil {
		return err
	}
	switch {
	case c.Who.IsService:
		return ubl.Errorf(ubl.CodeForbidden, "a service can't name an heir")
	case c.Heir.IsService:
		return ubl.Errorf(ubl.CodeValidation, "the heir is a service; name a person")
	case c.Heir.UserID == a.NamedHeir && c.Heir.UserID == "":
		return ubl.Errorf(ubl.CodeConflict, "no heir is named")
	case c.Heir.UserID == a.NamedHeir:
		return ubl.Errorf(ubl.CodeConflict, "they are named already")
	case c.Heir.UserID == c.Who.UserID && a.Owners() == 1:
		return ubl.Errorf(ubl.CodeValidation, "the heir follows you: name somebody else")
	}
	return nil
}

// inherit is the entry of who is named to have what is sealed.
func inherit(a *ubl.Agreement, m ubl.Member, now ubl.Time) (ubl.Member, error) {
	switch {
	case a.InForce() != nil:
		return m, a.InForce()
	case a.SealedAt == nil:
		return m, ubl.Errorf(ubl.CodeConflict, "only what is sealed takes an heir: its owners add members")
	case m.IsService:
		return m, ubl.Errorf(ubl.CodeValidation, "the heir is a service; name a person")
	}
	m.Role, m.Since, m.Name, m.Unproven, m.InvitedBy = ubl.RoleOwner, now, "", false, ""
	return m, nil
}

// mayRemove lets the Tenant, which has decided under its own Agreement, members leave, and
// others whom the terms permit it.
func mayRemove(a *ubl.Agreement, did ubl.Did, c ubl.RemoveMember, refusal ubl.Code) error {
	switch {
	case c.UserID == ubl.Platform().UserID:
		return ubl.Errorf(ubl.CodeConflict, "the platform can't be removed")
	case c.Expel, c.Who.IsPlatform(): // which finishes what somebody has begun
		return nil
	case c.UserID == c.Who.UserID:
		if _, err := a.Entry(c.Who, refusal); err != nil {
			return err
		}
		return a.InForce()
	}
	return a.Permits(did, c.Who, refusal)
}

// outranked reports whether somebody removes another as a moderator, who isn't a plain member.
func outranked(a *ubl.Agreement, did ubl.Did, c ubl.RemoveMember, gone ubl.Member) bool {
	s := a.Standing(c.Who)
	return s.Role == ubl.RoleModerator && c.UserID != c.Who.UserID && gone.Role != ubl.RoleMember && !a.Terms.Permit(did, s)
}

func lastOwner(a *ubl.Agreement, m ubl.Member) bool {
	return m.Role == ubl.RoleOwner && a.Owners() == 1
}

// lastPerson reports whether all others are services: nobody would be left.
func lastPerson(a *ubl.Agreement, m ubl.Member) bool {
	_, others := a.Heir(m.UserID)
	return !m.IsService && !others
}

func errRole(a *ubl.Agreement) error {
	if a.Takes(ubl.RoleModerator) {
		return ubl.Errorf(ubl.CodeValidation, "the role is none of owner, moderator and member")
	}
	return ubl.Errorf(ubl.CodeValidation, "the role is neither owner nor member")
}

func errNoMember() error { return ubl.Errorf(ubl.CodeNotFound, "the user is not a member") }
