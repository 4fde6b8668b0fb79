package agreement

import (
	"maps"

	"ubl"
)

// Kept is an Agreement that an actor keeps in its state: entries change in place, but
// for those that were handed out. Its owner is the actor's mailbox.
type Kept struct {
	ubl.Agreement
	shared bool // Members has been handed out, and must stay as it is
	// hash is the record's, "" for not known.
	hash string
	// meters count what the terms limit. They follow from no event.
	meters Meters
}

// Hash is the record's, made once for each change of it.
func (a *Kept) Hash() string {
	if a.hash == "" {
		a.hash = a.Agreement.Hash()
	}
	return a.hash
}

// HashOf is the hash where the record is the one of that name, else "".
func (a *Kept) HashOf(id ubl.AgreementID) string {
	if a.ID != id {
		return ""
	}
	return a.Hash()
}

// Version is the record's, as of [ubl.RecordVersion].
func (a *Kept) Version() string { return ubl.RecordVersion(a.Hash(), a.Proposal) }

// Changed says that the record has changed. Families call it where they apply an event that
// is a step of its history: some fields they change themselves.
func (a *Kept) Changed() { a.hash = "" }

// Stored is the record as snapshots have it: the entries as a list, and nothing that answers
// add.
func (a *Kept) Stored() *ubl.AgreementView {
	return &ubl.AgreementView{Agreement: a.Agreement, Members: a.SortedMembers()}
}

// Restore takes a stored record over. One from before terms has the usual ones.
func (a *Kept) Restore(from *ubl.AgreementView, usual *ubl.Terms) {
	a.Agreement = from.Agreement
	a.Members = make(map[ubl.UserID]ubl.Member, len(from.Members))
	for _, m := range from.Members {
		a.Members[m.UserID] = m
	}
	if a.Terms == nil {
		a.Terms = usual
	}
	a.shared = false
	a.Changed()
}

// Share is the Agreement as it is now, to be read outside the mailbox: the entries
// are copied before they change next.
func (a *Kept) Share() ubl.Agreement {
	a.shared = true
	return a.Agreement
}

// Set puts an entry in or replaces it.
func (a *Kept) Set(m ubl.Member) {
	a.unshare()
	a.Changed()
	a.Members[m.UserID] = m
}

// Remove takes an entry out.
func (a *Kept) Remove(user ubl.UserID) {
	a.unshare()
	a.Changed()
	delete(a.Members, user)
}

func (a *Kept) unshare() {
	if a.shared {
		a.Members, a.shared = maps.Clone(a.Members), false
	}
}

// Seal closes what the Agreement governs: it has no entries any more.
func (a *Kept) Seal(at ubl.Time) {
	a.Members, a.shared = map[ubl.UserID]ubl.Member{}, false
	a.SealedAt, a.NamedHeir, a.Proposal = &at, "", nil
	a.Changed()
}

// Open gives what nobody owns any more to its heir, sealed or not. Who was named has
// been then.
func (a *Kept) Open(heir ubl.Member) {
	a.SealedAt = nil
	if a.NamedHeir == heir.UserID {
		a.NamedHeir = ""
	}
	a.Set(heir)
}
