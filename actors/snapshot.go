package actors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// Snapshots say how a family's state is stored behind some of its events, so that a load
// replays only the events after that. All that is in one follows from the events, so one
// that is damaged is left alone, and all events are replayed.
//
// A snapshot may be of many megabytes, and a batch should not: it is encoded at once, and
// its pieces go into the commits of the events that follow, one each. The head comes with
// the last and makes it count; until then the one before does, whose pieces are others. An
// actor that leaves memory on the way begins its snapshot anew; once that is long overdue,
// its pieces are larger.
type Snapshots[S any] struct {
	// Version of the stored form. One of a newer version is refused, as an event is.
	Version int
	// Encode is the state as the events made it, without what passing events and items have
	// left. Decode is its inverse.
	Encode func(*S) []byte
	Decode func([]byte) (S, error)
	// Complete adds what is kept beside snapshots to a state that was made of one; nil for
	// nothing.
	Complete func(context.Context, ubl.Reader, ubl.Name, *S) error
	// Size is how many things the state has, about.
	Size func(*S) int
	// Key is where an actor's are: the head under it, and the pieces under keys that begin with
	// it and a zero. Nil for the kernel's own place.
	Key func(ubl.Name) []byte
	// Every is how many events there are between two at least, and Each how many for each thing
	// that the state has: a snapshot must be worth it. Piece is how many bytes a commit takes
	// along; of a snapshot that waits for twice as many events, sixteen times that. Zero
	// stands for 1,000, 2 and 256 KiB. A negative Each is none.
	Every, Each, Piece int
	// Keep is how many events there are at least between two snapshots that are kept for looks
	// into the past. Zero keeps none, as where Decode makes less than the events do.
	Keep int
}

// ErrSnapshot says that a snapshot is damaged.
var ErrSnapshot = errors.New("the snapshot is damaged")

// snapshotHead says where a snapshot is and that it is whole (JSON).
type snapshotHead struct {
	Version int    `json:"v"`
	Events  int64  `json:"events"` // the last that it knows
	Turn    byte   `json:"turn"`   // of two, so that no piece of the last one is overwritten
	Pieces  int    `json:"pieces"`
	Hash    string `json:"hash"` // of all of them
	Since   since  `json:"since,omitzero"`
}

// snapshots are what an Entity knows of its own.
type snapshots struct {
	saved snapshotHead
	// next is one on its way into the store, of which rest is still to be written, in pieces.
	next  snapshotHead
	rest  []byte
	piece int // bytes
	// copy is the head of a copy that is kept of next, nil for none.
	copy *kept
	// since is of the events so far.
	since since
}

func (k *Snapshots[S]) key(of ubl.Name) []byte {
	if k.Key != nil {
		return k.Key(of)
	}
	return append([]byte{'i', 4}, of.Local()...)
}

func (k *Snapshots[S]) piece(of ubl.Name, turn byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(k.key(of), 0, turn), uint32(n))
}

// snapshot is the next part of one, where one is due or under way.
func (x *Entity[S, E]) snapshot() []Record {
	k, c := x.kind.Snapshot, &x.snapshots
	if k == nil {
		return nil
	}
	if c.rest == nil {
		every, each := cmp.Or(k.Every, 1000), max(cmp.Or(k.Each, 2), 0)
		wait := int64(max(every, each*k.Size(&x.State)))
		if x.last-c.saved.Events < wait {
			return nil
		}
		c.piece = cmp.Or(k.Piece, 256<<10)
		if x.last-c.saved.Events >= 2*wait {
			c.piece *= 16
		}
		c.rest = k.Encode(&x.State)
		c.next = snapshotHead{Version: k.Version, Events: x.last, Turn: 1 - c.saved.Turn, Hash: ubl.BodyHash(c.rest)}
		c.copy = x.keep(c.next)
		c.next.Since = c.since
	}
	n := min(len(c.rest), c.piece)
	records := []Record{{Key: k.piece(x.Name, c.next.Turn, c.next.Pieces), Value: c.rest[:n]}}
	if c.copy != nil {
		records = append(records, Record{Key: k.keptPiece(x.Name, c.next.Events, c.next.Pieces), Value: c.rest[:n]})
	}
	c.next.Pieces++
	if c.rest = c.rest[n:]; len(c.rest) > 0 {
		return records
	}
	if c.copy != nil {
		c.copy.Pieces = c.next.Pieces
		records = append(records, Record{Key: k.keptKey(x.Name, keptHeads, c.next.Events), Value: encode(c.copy)})
	}
	c.saved, c.rest, c.copy = c.next, nil, nil
	return append(records, Record{Key: k.key(x.Name), Value: encode(c.saved)})
}

// restore takes over the newest snapshot and tells how many events it has, 0 where there is
// none. Where it returns [ErrSnapshot], it leaves the state as it is.
func (x *Entity[S, E]) restore(ctx context.Context) (int64, error) {
	k := x.kind.Snapshot
	head, err := k.readHead(ctx, x.Read, x.Name)
	var all []byte
	if err == nil && head.Version > 0 {
		x.snapshots.saved.Turn = head.Turn // what is saved next leaves this one alone
		all, err = k.readPieces(ctx, x.Read, x.Name, head, func(n int) []byte { return k.piece(x.Name, head.Turn, n) })
	}
	if errors.Is(err, ubl.ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if err != nil || head.Version == 0 {
		return 0, err
	}
	restored, err := k.Decode(all)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if k.Complete != nil {
		if err := k.Complete(ctx, x.Read, x.Name, &restored); err != nil {
			return 0, err
		}
	}
	x.State, x.snapshots.saved, x.snapshots.since = restored, head, head.Since
	return head.Events, nil
}

// readHead is the head, empty where there is none.
func (k *Snapshots[S]) readHead(ctx context.Context, read ubl.Reader, of ubl.Name) (head snapshotHead, err error) {
	err = read.View(ctx, of.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(k.key(of))
		if err != nil || v == nil {
			return err
		}
		if json.Unmarshal(v, &head) != nil || head.Version < 1 || head.Turn > 1 {
			return ErrSnapshot
		}
		return nil
	})
	if err == nil && head.Version > k.Version {
		err = fmt.Errorf("a snapshot is of version %d, this program knows %d", head.Version, k.Version)
	}
	return head, err
}

// readPieces reads them one after the other, in short views.
func (k *Snapshots[S]) readPieces(ctx context.Context, read ubl.Reader, of ubl.Name, head snapshotHead, key func(n int) []byte) ([]byte, error) {
	var all bytes.Buffer
	for n := range head.Pieces {
		found := false
		err := read.View(ctx, of.Group(), func(snap ubl.Snapshot) error {
			v, err := snap.Get(key(n))
			found = v != nil
			all.Write(v)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, ErrSnapshot
		}
	}
	if ubl.BodyHash(all.Bytes()) != head.Hash {
		return nil, ErrSnapshot
	}
	return all.Bytes(), nil
}
