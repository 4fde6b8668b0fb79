package actors

import (
	"context"
	"slices"
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
	// keysEvicted is how many expired ones an append deletes at most.
	keysEvicted = 64
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
// Stored, under the actor's local name, numbers as 8 bytes, big-endian:
//
//	'k' local 0 n   key n in the order of use → at, hash, print, ref
//	'k' local 1 n   filter over the full run of keys that ends with n
//
// There is no index by hash: it would make every commit write pages all over the
// file. Memory knows the newest keys, filters tell nearly always that a key is
// not among the others, and for the rare one that may be, its filter's part of
// the log is read. Keys that have expired leave memory at once, and the store a
// few with each append.
type Keys struct {
	read  ubl.Reader
	group ubl.Group
	local string

	// Low and High are the numbers of the oldest and newest key stored; none
	// where Low > High.
	Low, High int64
	// hot holds the newest, oldest first; index finds them by hash.
	hot   []entry
	index map[[16]byte]entry
	// cold tells which of the others may be in the store. What is stored before
	// it has expired.
	cold filters
}

// known is the number of the oldest key that memory knows or has a filter over.
func (k *Keys) known() int64 {
	switch {
	case len(k.cold) > 0:
		return k.cold[0].first
	case len(k.hot) > 0:
		return k.hot[0].n
	}
	return k.High + 1
}

// Find is the outcome of a key seen before, nil for a new one, and a
// conflict for one that came with another content.
func (k *Keys) Find(ctx context.Context, key Key) (*Ref, error) {
	e, ok := k.index[key.hash]
	if !ok {
		var err error
		if e, ok, err = k.lookUp(ctx, key.hash); err != nil || !ok {
			return nil, err
		}
	}
	if e.key.print != key.print {
		return nil, ubl.Errorf(ubl.CodeIdempotencyConflict, "the idempotency key was used with another content")
	}
	ref := e.ref
	return &ref, nil
}

// lookUp reads the log where a filter says that the key may be, the newest first:
// a key may be used anew once it has expired. What it reads is durable: keys
// leave memory long after they are committed.
func (k *Keys) lookUp(ctx context.Context, hash [16]byte) (e entry, ok bool, err error) {
	for _, f := range slices.Backward(k.cold) {
		if !f.mayHold(hash) {
			continue
		}
		if e, ok, err = k.search(ctx, f.first, f.last, hash); err != nil || ok {
			return e, ok, err
		}
	}
	return entry{}, false, nil
}

// search looks for a key among those numbered first to last, the newest of it.
func (k *Keys) search(ctx context.Context, first, last int64, hash [16]byte) (found entry, ok bool, err error) {
	err = k.scan(ctx, first, last, func(e entry) {
		if e.key.hash == hash {
			found, ok = e, true
		}
	})
	return found, ok, err
}

// add remembers a key with its outcome as part of an append, and lets go of keys
// that are past both limits.
func (k *Keys) add(a *Append, key Key, at ubl.Time, ref Ref) {
	k.forget(at)
	k.evict(a)
	k.High++
	e := entry{n: k.High, at: at, key: key, ref: ref}
	k.hot = append(k.hot, e)
	k.index[e.key.hash] = e
	a.Records = append(a.Records, Record{Key: k.logKey(e.n), Value: e.encode()})
	if len(k.hot) > keysHot {
		k.chill(a)
	}
}

// chill moves the oldest key in memory to the filters, and stores a filter that
// is full: making it of its keys again would have to read them all.
func (k *Keys) chill(a *Append) {
	f := k.cold.add(k.hot[0])
	if endsRun(f.last) {
		a.Records = append(a.Records, Record{Key: k.filterKey(f.last), Value: f.encode()})
	}
	k.cool()
}

// cool drops the oldest key from memory.
func (k *Keys) cool() {
	if hash := k.hot[0].key.hash; k.index[hash].n == k.hot[0].n { // else it has been used anew
		delete(k.index, hash)
	}
	k.hot = k.hot[1:]
}

// forget drops what has expired by now from memory: runs as a whole, and then
// keys one by one.
func (k *Keys) forget(now ubl.Time) {
	expired := now.Add(-keyWindow)
	for len(k.cold) > 0 && k.cold[0].at <= expired {
		k.cold = slices.Delete(k.cold, 0, 1)
	}
	for len(k.cold) == 0 && len(k.hot) > keysKept && k.hot[0].at <= expired {
		k.cool()
	}
}

// evict deletes expired keys from the store: few, so that no append is large, and
// more than one, so that the log shrinks faster than it grows.
func (k *Keys) evict(a *Append) {
	for end := min(k.known(), k.Low+keysEvicted); k.Low < end; k.Low++ {
		a.Records = append(a.Records, Record{Key: k.logKey(k.Low)})
		if endsRun(k.Low) {
			a.Records = append(a.Records, Record{Key: k.filterKey(k.Low)})
		}
	}
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
