package actors

import (
	"context"
	"maps"

	"ubl"
)

// Agreement is one that an actor keeps in its state: entries change in place, but
// for those that were handed out. Its owner is the actor's mailbox.
type Agreement struct {
	ubl.Agreement
	shared bool // Members has been handed out, and must stay as it is
}

// Share is the Agreement as it is now, to be read outside the mailbox: the entries
// are copied before they change next.
func (a *Agreement) Share() ubl.Agreement {
	a.shared = true
	return a.Agreement
}

// Set puts an entry in or replaces it.
func (a *Agreement) Set(m ubl.Member) {
	a.unshare()
	a.Members[m.UserID] = m
}

// Remove takes an entry out.
func (a *Agreement) Remove(user ubl.UserID) {
	a.unshare()
	delete(a.Members, user)
}

func (a *Agreement) unshare() {
	if a.shared {
		a.Members, a.shared = maps.Clone(a.Members), false
	}
}

// Seal closes what the Agreement governs: it has no entries any more.
func (a *Agreement) Seal(at ubl.Time) {
	a.Members, a.shared = map[ubl.UserID]ubl.Member{}, false
	a.SealedAt, a.NamedHeir = &at, ""
}

// Open gives what nobody owns any more to its heir, sealed or not. Who was named has
// been then.
func (a *Agreement) Open(heir ubl.Member) {
	a.SealedAt = nil
	if a.NamedHeir == heir.UserID {
		a.NamedHeir = ""
	}
	a.Set(heir)
}

// Show answers with a record as it is now and, unless brief, its history, which is read on
// the asker's goroutine.
func Show(t *Turn, refusal error, record func() ubl.Agreement, brief bool, history func(context.Context) ([]ubl.Change, error)) {
	var now ubl.Agreement
	if refusal == nil {
		now = record()
	}
	t.Read(refusal, func(ctx context.Context) (any, error) {
		if brief {
			return now.View(nil), nil
		}
		changes, err := history(ctx)
		if err != nil {
			return nil, err
		}
		return now.View(changes), nil
	})
}
