package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// salvage reads a ledger's atoms in a file that may be damaged, without bbolt, which
// trusts what pages say. It walks as a scrub does; below a page that isn't sound it takes
// each value by itself that matches its checksum. What only a page says that is lost as
// a whole isn't found: the pages below a branch, or all of them below the root. A search
// of the whole file might find them, but also atoms that were never committed.
type salvage struct {
	ctx     context.Context
	t       *tree
	atoms   []byte // what the keys of the ledger's atoms begin with
	last    int64  // the newest seq
	next    int64  // what comes next
	why     error  // the first damage that was met since the atom before
	seen    pageSet
	loose   map[int64][]byte // from pages that aren't sound, by seq
	found   func(seq int64, atom []byte) error
	missing func(from, to int64, why error) error
}

func newSalvage(ctx context.Context, t *tree, prefix []byte, last int64) *salvage {
	return &salvage{ctx: ctx, t: t, atoms: append(bytes.Clone(prefix), atomSpace), last: last, next: 1,
		seen: newPageSet(t.pages()), loose: map[int64][]byte{}}
}

// run calls found and missing in the order of seqs, for all up to the last together.
func (x *salvage) run() error {
	w := walk{t: x.t}
	at := binary.BigEndian.AppendUint64(bytes.Clone(x.atoms), 1)
	err := w.seek(at)
	for n := 1; ; n++ {
		for err != nil { // a page isn't sound
			x.note(err)
			x.t.sift(w.stopped(), x.seen, x.keep)
			if at = bytes.Clone(w.behind(at)); at == nil {
				return x.fill(x.last)
			}
			err = w.seek(at)
		}
		if !w.valid() || !bytes.HasPrefix(w.key(), x.atoms) {
			return x.fill(x.last)
		}
		if n%ctxEvery == 0 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		at = append(at[:0], w.key()...)
		if key, atom, errValue := w.read(); errValue != nil {
			x.note(errValue)
		} else if err := x.take(x.seq(key), atom); err != nil {
			return err
		}
		err = w.move(1)
	}
}

// keep keeps an atom from a page that isn't sound, for the walk may come to one beside it.
func (x *salvage) keep(key, atom []byte) {
	if seq := x.seq(key); seq >= x.next {
		x.loose[seq] = atom
	}
}

// seq is the number in the key of an atom of the ledger, 0 for another key.
func (x *salvage) seq(key []byte) int64 {
	number, ok := bytes.CutPrefix(key, x.atoms)
	if !ok || len(number) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(number))
}

func (x *salvage) note(err error) {
	if x.why == nil {
		x.why = err
	}
}

func (x *salvage) take(seq int64, atom []byte) error {
	if seq < x.next || seq > x.last {
		return nil
	}
	if err := x.fill(seq - 1); err != nil {
		return err
	}
	x.next, x.why = seq+1, nil
	return x.found(seq, atom)
}

// fill gives up to a seq what was kept, and tells that the rest is missing.
func (x *salvage) fill(to int64) error {
	if to < x.next {
		return nil
	}
	for _, seq := range slices.Sorted(maps.Keys(x.loose)) {
		atom := x.loose[seq]
		if seq > to {
			break
		}
		delete(x.loose, seq)
		if seq < x.next {
			continue
		}
		if err := x.gap(seq - 1); err != nil {
			return err
		}
		x.next = seq + 1
		if err := x.found(seq, atom); err != nil {
			return err
		}
	}
	return x.gap(to)
}

// gap tells that everything up to a seq is missing, if anything is.
func (x *salvage) gap(to int64) error {
	if to < x.next {
		return nil
	}
	x.note(damaged("an atom below the ledger's head is missing"))
	from := x.next
	x.next = to + 1
	return x.missing(from, to, errors.New(Damage(x.why)))
}

func (t *tree) pages() uint64 { return uint64(int64(len(t.data)) / t.pageSize) }

// sift finds what is still itself at and below a page that isn't sound: every key and
// value together match a checksum. A page is visited once; one that the disk doesn't give
// is passed over.
func (t *tree) sift(id uint64, seen pageSet, found func(key, value []byte)) {
	var fault error
	defer guard(&fault)
	p, ok := t.rough(id)
	if !ok || seen.has(id) {
		return
	}
	seen.add(id)
	for i := range p.count {
		e, ok := p.roughAt(i)
		switch {
		case !ok:
		case p.flags == branchPage:
			t.sift(e.child, seen, found)
		case e.flags == 0:
			if value, err := openStored(e.key, e.value); err == nil {
				found(e.key, value)
			}
		}
	}
}

// rough is a page that has the form of a branch or leaf, whatever it holds.
func (t *tree) rough(id uint64) (p page, ok bool) {
	if id < 2 || id >= t.pages() {
		return p, false
	}
	at := int64(id) * t.pageSize
	p = parsePage(t.data[at : at+t.pageSize])
	if p.extra >= t.pages()-id || p.flags != branchPage && p.flags != leafPage {
		return p, false
	}
	p.content = t.data[at : at+t.pageSize*int64(p.extra+1)]
	return p, true
}

// roughAt is element i where it lies on the page.
func (p *page) roughAt(i int) (e element, ok bool) {
	at := int64(pageHeader + i*elementSize)
	if at+elementSize > int64(len(p.content)) {
		return e, false
	}
	b := p.content[at : at+elementSize]
	size := int64(0)
	if p.flags == leafPage {
		at += int64(order.Uint32(b[4:]))
		size = int64(order.Uint32(b[8:])) + int64(order.Uint32(b[12:]))
	} else {
		at += int64(order.Uint32(b))
		size = int64(order.Uint32(b[4:]))
	}
	if at+size > int64(len(p.content)) {
		return e, false
	}
	return p.at(i), true
}

// ledgerHead is what the file says of a ledger's head, from a page that isn't sound, too.
// An error is damage.
func ledgerHead(t *tree, prefix []byte) (ubl.LedgerHead, error) {
	key := append(bytes.Clone(prefix), headSpace)
	w := walk{t: t}
	value, err := w.get(key)
	if err != nil {
		t.sift(w.stopped(), newPageSet(t.pages()), func(k, v []byte) {
			if bytes.Equal(k, key) {
				value, err = v, nil
			}
		})
	}
	if err != nil {
		return ubl.LedgerHead{}, err
	}
	return parseHead(value)
}

// newestHead is the head after the newest atom that can be read.
func newestHead(ctx context.Context, t *tree, prefix []byte) (ubl.LedgerHead, error) {
	x := newSalvage(ctx, t, prefix, math.MaxInt64)
	head := ubl.LedgerHead{HeadHash: ubl.Genesis}
	var newest []byte
	x.missing = func(int64, int64, error) error { return nil }
	x.found = func(seq int64, atom []byte) error {
		head.Seq, newest = seq, atom
		return nil
	}
	err := x.run()
	if err == nil && newest != nil {
		head.HeadHash, err = ubl.HeadAfter(newest)
	}
	return head, err
}

// treeIn reads a transaction's data bucket while fn runs, as far as the file goes.
func treeIn(db *bolt.DB, fn func(*tree) error) error {
	info, err := os.Stat(db.Path())
	if err != nil {
		return err
	}
	tx, err := beginRead(db)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	size := min(tx.Size(), info.Size())
	if int64(tx.Cursor().Bucket().Root()) >= size/int64(db.Info().PageSize) {
		return errNoRoot()
	}
	t, err := treeWithin(tx, size, nil)
	if err == nil && t.root >= t.pages() {
		err = errNoRoot()
	}
	if err != nil {
		return err
	}
	return fn(t)
}

func errNoRoot() error {
	return damaged("nothing of this partition can be read: its root page lies beyond the end of the file")
}
