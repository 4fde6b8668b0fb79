package actors

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"ubl"
)

// Some snapshots are kept for good, for looks into the past: a state of then is made of the
// nearest one before it and the events between. Each is a copy under keys of its own, written
// with the snapshot that it is a copy of. They are sparse (see [Snapshots].Keep), follow from
// the events alone, and are never changed. One that is damaged or unknown is passed over.
//
// A store of an earlier release has none of what was before: see [farBack].

// kept is the head of a snapshot that is kept.
type kept struct {
	snapshotHead
	// Earliest is the earliest time of the events after the one kept before, up to this one,
	// in milliseconds since 1970; 0 where that isn't known.
	Earliest int64 `json:"earliest,omitempty"`
}

// Keys of what is kept, behind the keys of the turns 0 and 1.
const (
	keptHeads  = 2
	keptPieces = 3
)

func (k *Snapshots[S]) keptKey(of ubl.Name, space byte, events int64) []byte {
	return binary.BigEndian.AppendUint64(append(k.key(of), 0, space), uint64(events))
}

func (k *Snapshots[S]) keptPiece(of ubl.Name, events int64, n int) []byte {
	return binary.BigEndian.AppendUint32(k.keptKey(of, keptPieces, events), uint32(n))
}

// since is what a snapshot says of the events after the newest that is kept.
type since struct {
	Kept     int64 `json:"kept,omitempty"`     // its last event, 0 for none
	Earliest int64 `json:"earliest,omitempty"` // of the events after it, as in kept
}

// saw takes a new event into account.
func (s *since) saw(n int64, at ubl.Time) {
	if s.Kept == 0 && n == 1 {
		s.Earliest = int64(at)
	}
	s.Earliest = min(s.Earliest, int64(at))
}

// keep tells whether a snapshot that begins now is to be kept too, and its head if it is.
func (x *Entity[S, E]) keep(head snapshotHead) *kept {
	c, every := &x.snapshots, x.kind.Snapshot.Keep
	if every == 0 || head.Events-c.since.Kept < int64(every) {
		return nil
	}
	k := &kept{snapshotHead: head, Earliest: c.since.Earliest}
	c.since = since{Kept: head.Events, Earliest: math.MaxInt64}
	return k
}

// readKept lists the heads of what is kept of an actor, in order.
func (k *Snapshots[S]) readKept(ctx context.Context, read ubl.Reader, of ubl.Name) (list []kept, err error) {
	if k == nil || k.Keep == 0 {
		return nil, nil
	}
	err = read.View(ctx, of.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend(k.keptKey(of, keptHeads, 0), k.keptKey(of, keptHeads, math.MaxInt64), func(_, v []byte) bool {
			var one kept
			if json.Unmarshal(v, &one) == nil && one.Version >= 1 && one.Version <= k.Version {
				list = append(list, one)
			}
			return true
		})
	})
	return list, err
}

// keptState is the state that is kept, and false for one that is of no use.
func (k *Snapshots[S]) keptState(ctx context.Context, read ubl.Reader, of ubl.Name, head kept) (s S, ok bool, err error) {
	all, err := k.readPieces(ctx, read, of, head.snapshotHead, func(n int) []byte { return k.keptPiece(of, head.Events, n) })
	if err == nil {
		if s, err = k.Decode(all); err != nil {
			err = fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
	}
	if errors.Is(err, ErrSnapshot) || errors.Is(err, ubl.ErrDamaged) {
		return s, false, nil
	}
	return s, err == nil, err
}
