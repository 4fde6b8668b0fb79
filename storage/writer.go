package storage

import (
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// writer is one bbolt transaction while batches are added to it. The committer
// reuses it, so that its maps and buffers are allocated once.
type writer struct {
	tx      *bolt.Tx
	data    *bolt.Bucket
	written bool

	// Heads and counters as they will be; the moved ones are put at the end. So are
	// single records, those whose key is one byte: nearly each batch of a group has them.
	heads    map[ubl.Group]movedHead
	counters map[string]movedCounter
	singles  map[string]*single

	// way leads to what the transaction began with; nothing is put into a page that
	// isn't sound, for bbolt would write it again without what it doesn't see. near are
	// leaves that are, by the first byte of the keys that go there: a batch's keys are of
	// few kinds, and most go where the batch before had its own.
	way  walk
	near [32]extent

	key   []byte // scratch: bbolt copies keys
	arena arena  // values: bbolt keeps them until the transaction ends
}

type movedHead struct {
	ubl.LedgerHead
	moved bool
}

type movedCounter struct {
	value int64
	moved bool
}

// single is such a record's value as it will be, never nil.
type single struct{ value []byte }

// fillPercent suits keys that are mostly appended at the end of their group's
// space: a page that splits keeps nine tenths.
const fillPercent = 0.9

func (w *writer) reset() {
	w.tx, w.data, w.written = nil, nil, false
	if w.heads == nil {
		w.heads = make(map[ubl.Group]movedHead)
		w.counters = make(map[string]movedCounter)
		w.singles = make(map[string]*single)
	}
	clear(w.heads)
	clear(w.counters)
	clear(w.singles)
	w.arena.reset()
	if w.way.t != nil {
		clear(w.way.t.checked)
	}
}

func (w *writer) begin(db *bolt.DB) error {
	tx, err := db.Begin(true)
	if err != nil {
		return err
	}
	w.tx = tx
	if w.data = tx.Bucket(dataBucket); w.data == nil {
		return damaged("a bucket is missing")
	}
	w.data.FillPercent = fillPercent
	checked := make(map[uint64]struct{})
	if w.way.t != nil {
		checked = w.way.t.checked
	}
	clear(w.near[:]) // which refer to the mapped file
	if w.way.t, err = treeOf(tx, checked); err == nil {
		w.way.t.rewrites = true
	}
	return err
}

// add puts a batch if everything is as it expects. The refusal is for this
// batch alone, and nothing of it was put; the failure is for the transaction.
func (w *writer) add(b *ubl.Batch, lease ubl.Lease) (refusal, failure error) {
	if err := checkForm(b); err != nil {
		return err, nil
	}
	if b.Lease != lease || lease.Generation == 0 {
		return conflict("the lease"), nil
	}
	w.key = appendPrefix(w.key[:0], b.Group)
	prefix := len(w.key)
	head, err := w.head(b.Group)
	if err != nil {
		return err, nil
	}
	if head.LedgerHead != b.Head {
		return conflict("the ledger's head"), nil
	}
	for _, c := range b.Counters {
		value, err := w.counter(append(w.key[:prefix], c.Key...))
		if err != nil {
			return err, nil
		}
		if value != c.From {
			return conflict("a counter"), nil
		}
	}
	if err := w.sound(b, prefix); err != nil {
		return err, nil
	}
	return nil, w.put(b, prefix)
}

// sound checks the pages that the batch is to change.
func (w *writer) sound(b *ubl.Batch, prefix int) error {
	var err error
	visit := func(key []byte) {
		if near := &w.near[int(key[prefix])%len(w.near)]; err == nil && !near.has(key) {
			*near, err = w.way.reach(key)
		}
	}
	for i := range b.Atoms {
		visit(appendAtomKey(w.key[:prefix], b.Head.Seq+1+int64(i)))
	}
	visit(append(w.key[:prefix], headSpace))
	for _, c := range b.Counters {
		visit(append(w.key[:prefix], c.Key...))
	}
	for _, r := range b.Records {
		key := append(w.key[:prefix], r.Key...)
		visit(key)
		if r.Value == nil && err == nil {
			err = w.way.around(key)
		}
	}
	return err
}

func (w *writer) put(b *ubl.Batch, prefix int) error {
	w.written = true
	for i, atom := range b.Atoms {
		key := appendAtomKey(w.key[:prefix], b.Head.Seq+1+int64(i))
		if err := w.data.Put(key, w.arena.stored(key, atom)); err != nil {
			return err
		}
	}
	for _, r := range b.Records {
		key := append(w.key[:prefix], r.Key...)
		w.key = key[:prefix]
		// A record in a counter's place takes it, wherever transactions end: they
		// end elsewhere on every replica.
		delete(w.counters, string(key))
		if err := w.record(key, r.Value, len(r.Key) == 1); err != nil {
			return err
		}
	}
	for _, c := range b.Counters {
		key := append(w.key[:prefix], c.Key...)
		w.counters[string(key)] = movedCounter{c.To, true}
	}
	w.heads[b.Group] = movedHead{b.Next, true}
	return nil
}

// record puts or deletes one; a single one is put at the end.
func (w *writer) record(key, value []byte, alone bool) error {
	switch {
	case value == nil:
		delete(w.singles, string(key))
		return w.data.Delete(key)
	case alone:
		s := w.singles[string(key)]
		if s == nil {
			s = &single{value: []byte{}}
			w.singles[string(key)] = s
		}
		s.value = append(s.value[:0], value...) // which is the caller's
		return nil
	}
	return w.data.Put(key, w.arena.stored(key, value))
}

// finish puts single records, and then the heads and counters that moved: a counter
// moved later may be in a record's place.
func (w *writer) finish() error {
	for key, s := range w.singles {
		w.key = append(w.key[:0], key...)
		if err := w.data.Put(w.key, w.arena.stored(w.key, s.value)); err != nil {
			return err
		}
	}
	for g, head := range w.heads {
		if !head.moved {
			continue
		}
		key := append(appendPrefix(w.key[:0], g), headSpace)
		w.key = key
		if err := w.data.Put(key, w.arena.stored(key, appendHead(nil, head.LedgerHead))); err != nil {
			return err
		}
	}
	for key, c := range w.counters {
		if !c.moved {
			continue
		}
		w.key = append(w.key[:0], key...)
		var value [8]byte
		binary.BigEndian.PutUint64(value[:], uint64(c.value))
		if err := w.data.Put(w.key, w.arena.stored(w.key, value[:])); err != nil {
			return err
		}
	}
	return nil
}

// head reads a head once a transaction. w.key holds the group's prefix.
func (w *writer) head(g ubl.Group) (movedHead, error) {
	if head, ok := w.heads[g]; ok {
		return head, nil
	}
	value, err := getStored(w.data, append(w.key, headSpace))
	if err != nil {
		return movedHead{}, err
	}
	if value == nil {
		if err := w.unwritten(append(w.key, headSpace)); err != nil {
			return movedHead{}, err
		}
	}
	head, err := parseHead(value)
	if err != nil {
		return movedHead{}, err
	}
	w.heads[g] = movedHead{LedgerHead: head}
	return w.heads[g], nil
}

// unwritten sees that no damage hides a key that the transaction doesn't have. It
// may itself have deleted what it began with.
func (w *writer) unwritten(key []byte) error {
	if err := w.way.seek(key); err != nil {
		return err
	}
	return w.way.edges()
}

func (w *writer) counter(key []byte) (n int64, err error) {
	if c, ok := w.counters[string(key)]; ok {
		return c.value, nil
	}
	var stored []byte
	if s := w.singles[string(key)]; s != nil {
		stored = s.value
	} else if stored, err = getStored(w.data, key); err != nil {
		return 0, err
	}
	if stored == nil {
		if err := w.unwritten(key); err != nil {
			return 0, err
		}
	}
	value, err := parseCounter(stored)
	if err != nil {
		return 0, err
	}
	w.counters[string(key)] = movedCounter{value: value}
	return value, nil
}

var errForm = errors.New("the batch is not well formed")

// checkForm refuses what no caller should send, before it can harm a file.
func checkForm(b *ubl.Batch) error {
	ok := validGroup(b.Group) && b.Head.Seq >= 0 && b.Next.Seq == b.Head.Seq+int64(len(b.Atoms)) &&
		(len(b.Atoms) > 0 || b.Next == b.Head)
	room := bolt.MaxKeySize - len(b.Group.Tenant) - len(b.Group.Shard) - 2
	ok = ok && room >= atomKeySize
	for _, r := range b.Records {
		ok = ok && validKey(r.Key, room)
	}
	for _, c := range b.Counters {
		ok = ok && validKey(c.Key, room)
	}
	if !ok {
		return ubl.Errorf(ubl.CodeInternal, "a batch for the store is not well formed").Because(errForm)
	}
	return nil
}

func validKey(key []byte, max int) bool {
	return len(key) > 0 && len(key) <= max && key[0] != atomSpace && key[0] != headSpace
}

// arena hands out memory that lives until reset.
type arena struct{ buf []byte }

const (
	arenaChunk = 256 << 10
	// maxScratch is what is kept for the next transaction, whatever the largest was.
	maxScratch = 32 * arenaChunk
)

func (a *arena) reset() {
	a.buf = a.buf[:0]
	if cap(a.buf) > maxScratch {
		a.buf = nil
	}
}

// stored is a value as it is kept on disk, in the arena.
func (a *arena) stored(key, value []byte) []byte {
	need := crcSize + len(value)
	if cap(a.buf)-len(a.buf) < need {
		// The old chunk lives on in the values that were cut from it.
		a.buf = make([]byte, 0, max(need, arenaChunk, 2*cap(a.buf)))
	}
	start := len(a.buf)
	a.buf = appendStored(a.buf, key, value)
	return a.buf[start:len(a.buf):len(a.buf)]
}
