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
// So it is loaded from a checkpoint and the few events after it. Documents, of
// which there may be a hundred thousand, are kept apart from the checkpoint, each
// as it is now: applying the later events to them once more changes nothing, since
// each puts a document as a whole.

// checkpointEvery is how many events there are between two checkpoints: few enough
// to be read in milliseconds, and many enough that a large Agreement, which each
// checkpoint has whole, costs little.
const checkpointEvery = 1000

// checkpointVersion 2 has physics as [eventVersion] 2 means them, and Past.
const checkpointVersion = 2

// checkpoint is the stored form of what the events up to Events lead to, but for
// documents.
type checkpoint struct {
	Form      int                  `json:"v"`
	Events    int64                `json:"events"`
	Changed   int64                `json:"changed"`
	Steps     []int64              `json:"steps"`
	Container ubl.ContainerSummary `json:"container"`
	Agreement *ubl.AgreementView   `json:"agreement"`
	Balance   int64                `json:"balance"`
	InTransit int64                `json:"in_transit"`
	Pending   []departure          `json:"pending"`
	Past      []ubl.UserID         `json:"past,omitempty"`
	Hidden    ubl.Time             `json:"hidden,omitzero"`
}

// everySo stores a checkpoint behind each so many events.
func everySo(many int64) func(*State) []actors.Record {
	return func(s *State) []actors.Record {
		if s.Events%many != 0 {
			return nil
		}
		return []actors.Record{s.checkpoint()}
	}
}

// checkpoint is the record from which the state is restored.
func (s *State) checkpoint() actors.Record {
	return actors.Record{Key: checkpointKey(s.Summary.ContainerID), Value: encode(checkpoint{
		Form: checkpointVersion, Events: s.Events, Changed: s.Changed, Steps: s.Steps,
		Container: s.Summary, Agreement: s.Agreement.View(nil),
		Balance: s.Balance, InTransit: s.InTransit, Pending: s.underWay(), Past: slices.Sorted(maps.Keys(s.Past)), Hidden: s.Hidden,
	})}
}

// newestRecord is what the container knows of a document after an event: how it is
// now, or was when it was deleted, and nothing of what has moved elsewhere.
func newestRecord(id ubl.ContainerID, d document, gone bool) actors.Record {
	key := newestKey(id, d.ID)
	if gone && !d.Deleted {
		return actors.Record{Key: key}
	}
	return actors.Record{Key: key, Value: encode(newest{recordVersion, d})}
}

// restore takes over the newest checkpoint, where there is one, with the documents as
// they are now.
func restore(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) (int64, error) {
	var v []byte
	id := ubl.ContainerID(name.Local())
	err := read.View(ctx, name.Group(), func(snap ubl.Snapshot) (err error) {
		v, err = snap.Get(checkpointKey(id))
		v = slices.Clone(v)
		return err
	})
	if err != nil || v == nil {
		return 0, err
	}
	if err := s.restore(v); err != nil {
		return 0, err
	}
	return s.Events, s.restoreDocuments(ctx, read, name.Group(), id)
}

// restore takes over a stored checkpoint.
func (s *State) restore(v []byte) error {
	var from checkpoint
	if err := decode(v, &from); err != nil {
		return err
	}
	if from.Form > checkpointVersion {
		return errForm(from.Form)
	}
	s.empty()
	s.govern(from.Agreement)
	s.Summary, s.Balance, s.InTransit = from.Container, from.Balance, from.InTransit
	s.Hidden = from.Hidden
	s.Events, s.Changed, s.Steps = from.Events, from.Changed, from.Steps
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

// restoreDocuments reads the documents as they are now, a page at a time.
func (s *State) restoreDocuments(ctx context.Context, read ubl.Reader, group ubl.Group, id ubl.ContainerID) error {
	from, to := newestKey(id, ""), newestKeysEnd(id)
	for n := eventPage; n == eventPage; {
		n = 0
		var bad error
		err := read.View(ctx, group, func(snap ubl.Snapshot) error {
			return snap.Ascend(from, to, func(k, v []byte) bool {
				var stored newest
				if bad = decode(v, &stored); bad == nil && stored.Form > recordVersion {
					bad = errForm(stored.Form)
				}
				if bad != nil {
					return false
				}
				s.put(stored.Document)
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
