package actors

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"ubl"
)

// What Keys has in the store, and how it is read: in short views, since an actor
// may have written millions of keys within their window.

// entry is a key as it is stored, with its number in the order of use.
type entry struct {
	n   int64
	at  ubl.Time
	key Key
	ref Ref
}

// LoadKeys reads an actor's keys. What it reads doesn't grow with what has
// expired, and of the rest it takes filters rather than keys.
func LoadKeys(ctx context.Context, read ubl.Reader, name ubl.Name, now ubl.Time) (*Keys, error) {
	k := &Keys{read: read, group: name.Group(), local: name.Local(), Low: 1, index: make(map[[16]byte]entry)}
	if err := k.loadHot(ctx); err != nil {
		return nil, err
	}
	if err := k.loadCold(ctx, now.Add(-keyWindow)); err != nil {
		return nil, err
	}
	k.forget(now)
	return k, nil
}

// loadHot reads the newest keys, and where the log begins.
func (k *Keys) loadHot(ctx context.Context) error {
	var bad error
	take := func(v []byte) (e entry, ok bool) {
		e, bad = decodeEntry(v)
		return e, bad == nil
	}
	err := k.read.View(ctx, k.group, func(snap ubl.Snapshot) error {
		err := snap.Ascend(k.logKey(0), k.logKey(-1), func(_, v []byte) bool {
			if e, ok := take(v); ok {
				k.Low = e.n
			}
			return false
		})
		if err != nil || bad != nil {
			return err
		}
		return snap.Descend(k.logKey(k.Low), k.logKey(-1), func(_, v []byte) bool {
			e, ok := take(v)
			if ok {
				k.hot = append(k.hot, e)
			}
			return ok && len(k.hot) < keysHot
		})
	})
	slices.Reverse(k.hot)
	for _, e := range k.hot {
		k.index[e.key.hash], k.High = e, e.n
	}
	return errors.Join(err, bad)
}

// loadCold takes the filters over the keys before the newest, back to the first
// run whose keys had all expired by then.
func (k *Keys) loadCold(ctx context.Context, expired ubl.Time) error {
	for last := k.known() - 1; last >= k.Low; last = runStart(last) - 1 {
		f, err := k.loadFilter(ctx, max(runStart(last), k.Low), last)
		if err != nil {
			return err
		}
		if f.at <= expired {
			break
		}
		k.cold = append(k.cold, f)
	}
	slices.Reverse(k.cold)
	return nil
}

// loadFilter is the filter over a run: as it is stored, or made of the keys where
// the run is not full yet or is from before filters were stored.
func (k *Keys) loadFilter(ctx context.Context, first, last int64) (filter, error) {
	f := filter{first: first, last: last}
	err := k.read.View(ctx, k.group, func(snap ubl.Snapshot) error {
		v, err := snap.Get(k.filterKey(last))
		if err == nil && v != nil {
			err = f.decode(v)
		}
		return err
	})
	if err == nil && f.bits == nil {
		err = k.scan(ctx, first, last, f.add)
	}
	return f, err
}

// scan calls fn with the keys numbered first to last, a page a view.
func (k *Keys) scan(ctx context.Context, first, last int64, fn func(entry)) error {
	for ; first <= last; first += keysHot {
		end := min(first+keysHot, last+1)
		var bad error
		err := k.read.View(ctx, k.group, func(snap ubl.Snapshot) error {
			return snap.Ascend(k.logKey(first), k.logKey(end), func(_, v []byte) bool {
				var e entry
				if e, bad = decodeEntry(v); bad == nil {
					fn(e)
				}
				return bad == nil
			})
		})
		if err := errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}

// logKey is the key of entry n; n < 0 is the end of the log.
func (k *Keys) logKey(n int64) []byte {
	b := make([]byte, 0, len(k.local)+10)
	b = append(append(b, 'k'), k.local...)
	if n < 0 {
		return append(b, 1)
	}
	return binary.BigEndian.AppendUint64(append(b, 0), uint64(n))
}

// filterKey is the key of the filter over the run that ends with entry n.
func (k *Keys) filterKey(n int64) []byte {
	return binary.BigEndian.AppendUint64(k.logKey(-1), uint64(n))
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
