package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"ubl"
)

// How long idempotency keys are kept: at least this long, and at least this
// many of an actor.
const (
	keyWindow = 24 * time.Hour
	keysKept  = 2000
	// keysHot is how many of the newest stay in memory; older ones are looked up.
	keysHot = 8192
)

// Ref says where the outcome of a command is: what Kind and N mean is the
// family's business.
type Ref struct {
	Kind byte
	N    int64
}

// Key is an idempotency key within its scope (actor, operation, author) and
// the fingerprint of what it was sent with.
type Key struct {
	hash, print [16]byte
}

// NewKey makes a Key of a command's request, operation and content.
func NewKey(op ubl.Did, req ubl.Request, content ...string) Key {
	return Key{
		hash:  ubl.Fingerprint(string(op), string(req.Who.UserID), req.Key),
		print: ubl.Fingerprint(content...),
	}
}

// Keys is an actor's memory of the keys it has seen. Its owner is the actor's
// mailbox.
//
// Stored, under the actor's local name: 'k' local 0 n → at, hash, print, ref,
// in the order of use; n is 8 bytes, big-endian. There is no index by hash: it
// would make every commit write pages all over the file. Memory knows the
// newest keys, filters tell nearly always that a key is not among the others,
// and for the rare one that may be, its filter's part of the log is read.
type Keys struct {
	read  ubl.Reader
	group ubl.Group
	local string

	// Low and High are the numbers of the oldest and newest key kept; none where
	// Low > High.
	Low, High int64
	// hot holds the newest, oldest first; index finds them by hash.
	hot   []entry
	index map[[16]byte]entry
	// cold tells which of the others may be in the store.
	cold filters
	// ahead is a page of entries read ahead for eviction.
	ahead []entry
}

type entry struct {
	n   int64
	at  ubl.Time
	key Key
	ref Ref
}

// LoadKeys reads an actor's keys from a snapshot.
func LoadKeys(snap ubl.Snapshot, read ubl.Reader, name ubl.Name) (*Keys, error) {
	k := &Keys{read: read, group: name.Group(), local: name.Local(), Low: 1, index: make(map[[16]byte]entry)}
	err := k.scan(snap, 1, func(e entry) bool {
		if k.High == 0 {
			k.Low = e.n
		}
		k.High = e.n
		k.remember(e)
		return true
	})
	return k, err
}

// scan reads entries numbered from on until fn returns false.
func (k *Keys) scan(snap ubl.Snapshot, from int64, fn func(entry) bool) error {
	var bad error
	err := snap.Ascend(k.logKey(from), k.logKey(-1), func(_, v []byte) bool {
		var e entry
		if e, bad = decodeEntry(v); bad != nil {
			return false
		}
		return fn(e)
	})
	return errors.Join(err, bad)
}

// remember takes the newest entry into memory.
func (k *Keys) remember(e entry) {
	k.hot = append(k.hot, e)
	k.index[e.key.hash] = e
	if len(k.hot) > keysHot {
		k.cold.add(k.hot[0].n, k.hot[0].key.hash)
		k.cool()
	}
}

// Find is the outcome of a key seen before, nil for a new one, and a
// conflict for one that came with another content.
func (k *Keys) Find(ctx context.Context, key Key) (*Ref, error) {
	e, ok := k.index[key.hash]
	if !ok {
		found, err := k.lookUp(ctx, key.hash)
		if err != nil || found == nil {
			return nil, err
		}
		e = *found
	}
	if e.key.print != key.print {
		return nil, ubl.Errorf(ubl.CodeIdempotencyConflict, "the idempotency key was used with another content")
	}
	return &e.ref, nil
}

// Seen answers a turn whose key was seen before with what past tells of where
// that led, and one whose key can't be looked up with why. False means that the
// command has yet to be decided.
func (k *Keys) Seen(t *Turn, key Key, past func(ctx context.Context, n int64) (any, error)) bool {
	ctx := t.Context()
	ref, err := k.Find(ctx, key)
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil:
		t.Later(func() (any, error) { return past(ctx, ref.N) })
	default:
		return false
	}
	return true
}

// lookUp reads the log where a filter says that the key may be. What it reads
// is durable: keys leave memory long after they are committed.
func (k *Keys) lookUp(ctx context.Context, hash [16]byte) (found *entry, err error) {
	for first, last := range k.cold.holding(hash) {
		err := k.read.View(ctx, k.group, func(snap ubl.Snapshot) error {
			return k.scan(snap, max(first, k.Low), func(e entry) bool {
				if e.key.hash == hash {
					found = &e
				}
				return found == nil && e.n < last
			})
		})
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// Add remembers a key with its outcome as part of an append, and lets the
// oldest go that are past both limits.
func (k *Keys) Add(ctx context.Context, a *Append, key Key, at ubl.Time, ref Ref) {
	k.evict(ctx, a, at)
	k.High++
	e := entry{n: k.High, at: at, key: key, ref: ref}
	k.remember(e)
	a.Records = append(a.Records, Record{Key: k.logKey(e.n), Value: e.encode()})
}

// evict drops at most two keys an append, so that no append is large and the
// log still shrinks faster than it grows. What can't be read now is dropped
// later: housekeeping fails no command.
func (k *Keys) evict(ctx context.Context, a *Append, now ubl.Time) {
	for range 2 {
		if k.High-k.Low+1 <= keysKept {
			return
		}
		e, ok := k.eldest(ctx)
		if !ok || e.at > now.Add(-keyWindow) {
			return
		}
		if e.n == k.hot[0].n {
			k.cool()
		}
		k.Low = e.n + 1
		k.cold.drop(k.Low)
		a.Records = append(a.Records, Record{Key: k.logKey(e.n)})
	}
}

// cool drops the oldest key from memory.
func (k *Keys) cool() {
	delete(k.index, k.hot[0].key.hash)
	k.hot = k.hot[1:]
}

// eldest is the oldest key kept, from memory or from a page read ahead.
func (k *Keys) eldest(ctx context.Context) (entry, bool) {
	if k.hot[0].n == k.Low {
		return k.hot[0], true
	}
	for len(k.ahead) > 0 && k.ahead[0].n < k.Low {
		k.ahead = k.ahead[1:]
	}
	if len(k.ahead) == 0 {
		const page = 128
		err := k.read.View(ctx, k.group, func(snap ubl.Snapshot) error {
			return k.scan(snap, k.Low, func(e entry) bool {
				k.ahead = append(k.ahead, e)
				return len(k.ahead) < page
			})
		})
		if err != nil || len(k.ahead) == 0 {
			k.ahead = nil
			return entry{}, false
		}
	}
	return k.ahead[0], true
}

// logKey is the key of entry n; n < 0 is the end of the log.
func (k *Keys) logKey(n int64) []byte {
	b := append([]byte{'k'}, k.local...)
	if n < 0 {
		return append(b, 1)
	}
	return binary.BigEndian.AppendUint64(append(b, 0), uint64(n))
}

// entrySize is a version byte, then n, at, hash, print, kind and ref.
const entrySize = 1 + 8 + 8 + 16 + 16 + 1 + 8

const entryVersion = 1

func (e entry) encode() []byte {
	b := make([]byte, 0, entrySize)
	b = append(b, entryVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(e.n))
	b = binary.BigEndian.AppendUint64(b, uint64(e.at))
	b = append(b, e.key.hash[:]...)
	b = append(b, e.key.print[:]...)
	b = append(b, e.ref.Kind)
	return binary.BigEndian.AppendUint64(b, uint64(e.ref.N))
}

func decodeEntry(b []byte) (entry, error) {
	if len(b) != entrySize || b[0] != entryVersion {
		return entry{}, ubl.Errorf(ubl.CodeInternal, "an idempotency key is stored in an unknown form")
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
	return entry{
		n: number(1), at: ubl.Time(number(9)),
		key: Key{hash: [16]byte(b[17:]), print: [16]byte(b[33:])},
		ref: Ref{Kind: b[49], N: number(50)},
	}, nil
}

// Known lists the outcomes in memory by key, for tests that compare a live
// actor with one loaded anew.
func (k *Keys) Known() map[Key]Ref {
	known := make(map[Key]Ref, len(k.hot))
	for _, e := range k.hot {
		known[e.key] = e.ref
	}
	return known
}
