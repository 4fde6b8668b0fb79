package container

import (
	"context"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// A Container may have millions of events, and leaves memory whenever it is idle.
// So it is loaded from a snapshot and the few events after it. Documents, of
// which there may be a hundred thousand, and files are kept apart from the snapshot, each
// as it is now: applying the later events to them once more changes nothing, since
// each puts a document as a whole.

// snapshots tell how.
func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: snapshotVersion, Encode: (*State).encode, Complete: restoreInside,
		Decode: func(v []byte) (s State, err error) { return s, s.restore(v) },
		Size:   func(s *State) int { return len(s.Agreement.Members) + len(s.Past) + len(s.Pending) + len(s.Redacting) },
	}
}

// snapshotVersion 2 has physics as [eventVersion] 2 means them, and Past.
const snapshotVersion = 2

// snapshot is the stored form of what the events up to Events lead to, but for documents:
// a field of one is a field of the other, or is named in [besides]. Form is the version where
// the record has no head.
type snapshot struct {
	Form      int                  `json:"v"`
	Events    int64                `json:"events"`
	Changed   int64                `json:"changed"`
	Steps     []int64              `json:"steps"`
	Summary   ubl.ContainerSummary `json:"container"`
	Agreement *ubl.AgreementView   `json:"agreement"`
	Balance   int64                `json:"balance"`
	InTransit int64                `json:"in_transit"`
	Pending   []departure          `json:"pending"`
	Redacting []leftover           `json:"redacting,omitempty"`
	Past      []ubl.UserID         `json:"past,omitempty"`
	Hidden    ubl.Time             `json:"hidden,omitzero"`
	Content   []string             `json:"content,omitempty"`
	Tools     []string             `json:"tools,omitempty"`
}

// besides are the fields of a State that are read from documents and files.
var besides = []string{"Documents", "Keyed", "Listed", "Deleted", "Files", "Filed"}

// encode is the state, but for documents.
func (s *State) encode() []byte {
	return encode(snapshot{
		Form: snapshotVersion, Events: s.Events, Changed: s.Changed, Steps: s.Steps,
		Summary: s.Summary, Agreement: s.Agreement.Stored(),
		Balance: s.Balance, InTransit: s.InTransit, Pending: s.underWay(), Past: slices.Sorted(maps.Keys(s.Past)), Hidden: s.Hidden,
		Content: s.Content, Tools: s.Tools, Redacting: s.Redacting,
	})
}

// earlier takes over the checkpoint of a version before snapshots, which is one record.
func earlier(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) (int64, error) {
	var v []byte
	err := read.View(ctx, name.Group(), func(snap ubl.Snapshot) (err error) {
		v, err = snap.Get(checkpointKey(ubl.ContainerID(name.Local())))
		v = slices.Clone(v)
		return err
	})
	if err != nil || v == nil {
		return 0, err
	}
	if err := s.restore(v); err != nil {
		return 0, err
	}
	return s.Events, restoreInside(ctx, read, name, s)
}

// restore takes over what is stored of a state.
func (s *State) restore(v []byte) error {
	var from snapshot
	if err := decode(v, &from); err != nil {
		return err
	}
	if from.Form > snapshotVersion {
		return errForm(from.Form)
	}
	s.empty()
	s.Summary, s.Balance, s.InTransit = from.Summary, from.Balance, from.InTransit
	s.Hidden, s.Content, s.Tools, s.Redacting = from.Hidden, from.Content, from.Tools, from.Redacting
	s.Events, s.Changed, s.Steps = from.Events, from.Changed, from.Steps
	s.Agreement.Restore(from.Agreement, s.usual())
	for _, d := range from.Pending {
		s.Pending[d.ID] = d
	}
	for _, user := range from.Past {
		s.Past[user] = true
	}
	if from.Form == 1 && (!s.general() || s.Agreement.InForce() != nil) {
		s.reopen()
	}
	return nil
}

// restoreInside reads what is inside, as it is now.
func restoreInside(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	if err := restoreDocuments(ctx, read, name, s); err != nil {
		return err
	}
	if err := restoreFiles(ctx, read, name, s); err != nil {
		return err
	}
	s.withdraw()
	return nil
}

// restoreDocuments reads the documents as they are now, a page at a time.
func restoreDocuments(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	id, group := ubl.ContainerID(name.Local()), name.Group()
	from, to := newestKey(id, ""), newestKeysEnd(id)
	for n := eventPage; n == eventPage; {
		n = 0
		var bad error
		err := read.View(ctx, group, func(snap ubl.Snapshot) error {
			return snap.Ascend(from, to, func(k, v []byte) bool {
				var stored version
				if bad = decode(v, &stored); bad == nil && stored.Form > recordVersion {
					bad = errForm(stored.Form)
				}
				if bad != nil {
					return false
				}
				d := stored.Document
				s.put(d)
				if d.Deleted && !d.Redacted { // by an earlier version of the program
					s.leave(leftover{Document: d.ID, From: d.First})
				}
				from, n = append(slices.Clone(k), 0), n+1
				return n < eventPage
			})
		})
		if err := errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}
