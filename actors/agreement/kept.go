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
	a.Members[m.UserID] = m
}

// Remove takes an entry out.
func (a *Kept) Remove(user ubl.UserID) {
	a.unshare()
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
	a.SealedAt, a.NamedHeir = &at, ""
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
