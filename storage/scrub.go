package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// A scrub reads all that a partition holds, slowly, while it serves: every page of
// the tree, every value with its checksum, every number. It goes by slices with a
// transaction of their own, for a long one would make the file grow. Damage is
// told once a pass and place, and passed over.
//
// What it can't find: a change that keeps the checksum of key and value; the disk's
// copy of a page that the page cache has whole; and damage to the list of free
// pages, which is found when the file is opened and by [Check]. Replicas compare
// digests for the first (see digest.go).

// ScrubOptions say how fast a scrub is.
type ScrubOptions struct {
	// Rate is how many bytes of keys and values it reads a second (2 MiB); less than 0
	// for no bound.
	Rate int64
	// Every is how long after the beginning of a pass the next begins (6 h).
	Every time.Duration
	// Beside scrubs what stands beside a partition's file, after the file in each pass; nil
	// for nothing. It calls pace with how much it has read, which waits as the scrub does.
	Beside func(ctx context.Context, partition int, pace func(read int64))
}

const (
	defaultScrubRate  = 2 * mib
	defaultScrubEvery = 6 * time.Hour
	// scrubSlice is how much one transaction reads.
	scrubSlice = 256 << 10
	// scrubWait is how long a slice waits at most while batches are in the queue,
	// and scrubLook how often it looks.
	scrubWait = 10 * time.Second
	scrubLook = 50 * time.Millisecond
	// maxPlaces is how many places a pass keeps of a partition; it counts all.
	maxPlaces = 100
)

// Place is where damage is.
type Place struct {
	Partition int    `json:"partition"`
	Group     string `json:"group,omitempty"` // tenant and shard, where it is known
	What      string `json:"what"`
	// Journal says that it is of a journal's records: see [ErrJournalLoss].
	Journal bool `json:"-"`
}

// Scrub goes over all partitions, again and again, until ctx ends.
func (e *Engine) Scrub(ctx context.Context, o ScrubOptions) {
	setDefault(&o.Rate, defaultScrubRate)
	setDefault(&o.Every, defaultScrubEvery)
	for ctx.Err() == nil {
		next := time.After(o.Every)
		for _, p := range e.partitions {
			e.scrubPartition(ctx, p, o)
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// ScrubOnce goes over all partitions once, without a bound.
func (e *Engine) ScrubOnce(ctx context.Context) {
	for _, p := range e.partitions {
		e.scrubPartition(ctx, p, ScrubOptions{Rate: -1})
	}
}

func (e *Engine) scrubPartition(ctx context.Context, p *partition, o ScrubOptions) {
	s := newSweep(p.index, p.opts.Numbers)
	p.scrub.begin(s)
	spoiled := p.spoiled.Load()
	pace := func(read int64) {
		if o.Rate > 0 {
			pause(ctx, time.Duration(float64(read)/float64(o.Rate)*float64(time.Second)))
		}
		p.waitIdle(ctx)
	}
	p.waitIdle(ctx)
	for ctx.Err() == nil && !s.done {
		before := s.bytes
		if err := p.scrubSlice(s); err != nil {
			return // it is closed, or being replaced; the next pass comes
		}
		if !p.scrub.is(s) {
			e.scrubPartition(ctx, p, o) // what it has read so far is of no use
			return
		}
		for _, place := range s.fresh {
			_ = p.tell(place.error())
		}
		p.scrub.note(s)
		pace(s.bytes - before)
	}
	if o.Beside != nil && ctx.Err() == nil {
		o.Beside(ctx, p.index, pace)
	}
	if s.done {
		p.scrub.finish(s, ubl.TimeOf(p.opts.Now()))
		if s.found == 0 {
			p.spoiled.CompareAndSwap(spoiled, 0)
		}
	}
}

func (p Place) error() error {
	if p.Group == "" {
		return ubl.Damaged("%s", p.What)
	}
	return ubl.Damaged("%s, of %s", p.What, p.Group)
}

// waitIdle lets writers go first.
func (p *partition) waitIdle(ctx context.Context) {
	for waited := time.Duration(0); waited < scrubWait && ctx.Err() == nil; waited += scrubLook {
		if n, _ := p.queue.length(); n == 0 {
			return
		}
		pause(ctx, scrubLook)
	}
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// scrubSlice reads on in what is committed; the open transaction stays open.
func (p *partition) scrubSlice(s *sweep) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	tx, err := beginRead(p.database())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return s.slice(tx, scrubSlice)
}

// sweep is one pass over a partition.
type sweep struct {
	partition int
	file      int // see scrubbed
	numbers   []ubl.Numbers
	next      []byte // where the next slice begins; the newest key that was read, if last
	last      bool
	done      bool
	bytes     int64
	places    []Place
	fresh     []Place // of the newest slice
	found     int
	run       run
	digests   *digests
}

func newSweep(partition int, numbers []ubl.Numbers) *sweep {
	return &sweep{partition: partition, numbers: numbers, next: []byte{0}, digests: newDigests()}
}

// slice reads some bytes. Its error says that nothing can be read.
func (s *sweep) slice(tx *bolt.Tx, size int64) (err error) {
	defer guard(&err)
	t, err := treeOf(tx, nil)
	if err != nil {
		s.damage(nil, err)
		s.done = true
		return nil
	}
	w := &walk{t: t}
	err = w.seek(s.next)
	if err == nil && s.last {
		if w.valid() && bytes.Equal(w.key(), s.next) {
			err = w.move(1)
		} else {
			s.run = run{} // it was deleted: what followed it may be, too
		}
	}
	for end := s.bytes + size; ; {
		if err != nil {
			if !s.skip(w, err) {
				break
			}
			err = w.seek(s.next)
			continue
		}
		if !w.valid() {
			s.endRun(t)
			s.done = true
			break
		}
		s.element(t, w)
		if s.bytes >= end {
			break
		}
		err = w.move(1)
	}
	return nil
}

// skip tells of a page that isn't sound, and goes on behind it. A run stays: only the
// numbers between its last record before the page and the next behind it can't be read.
func (s *sweep) skip(w *walk, err error) bool {
	s.damage(s.next, err)
	high := w.behind(s.next)
	if high == nil {
		s.done = true
		return false
	}
	s.next, s.last = bytes.Clone(high), false
	return true
}

// element checks one value, and that its number follows the one before.
func (s *sweep) element(t *tree, w *walk) {
	s.bytes += int64(len(w.key()) + len(w.leaf.at(w.leaf.i).value) + elementSize)
	s.next, s.last = append(s.next[:0], w.key()...), true
	key, value, err := w.read()
	if err != nil {
		s.damage(w.key(), err)
		key = w.key() // which lies between its neighbours' all the same
	}
	if n, numbered := s.number(t, key); numbered && err == nil {
		s.digests.add(&s.run, n, key, value)
	}
}

// damage notes a place. The key says whose it is, if it can be believed.
func (s *sweep) damage(key []byte, err error) {
	place := Place{Partition: s.partition, What: Damage(err)}
	if g, errGroup := groupOf(key); errGroup == nil && validGroup(g) {
		place.Group = g.String()
	}
	s.found++
	s.fresh = append(s.fresh, place)
	if len(s.places) < maxPlaces {
		s.places = append(s.places, place)
	}
}

// Damage is what an error of damage says of the place, without saying that it is damage.
func Damage(err error) string {
	said := err.Error()
	if e, ok := errors.AsType[*ubl.Error](err); ok && e.Cause != nil && e.Cause != ErrDamaged {
		said = e.Cause.Error()
	} else if ok {
		said = e.Message
	}
	return strings.TrimPrefix(strings.TrimPrefix(said, ErrDamaged.Error()+": "), "stored data is damaged: ")
}

// run is a series of numbered keys that is being read.
type run struct {
	prefix  []byte // up to the number; nil between runs
	kind    ubl.Numbers
	newest  int64 // what the counter or head says
	last    int64
	counter []byte
}

// atomNumbers are the ledger's.
var atomNumbers = ubl.Numbers{Space: atomSpace, FromOne: true, Fixed: true}

// number sees that numbers rise by one, from the first to what the counter says. It
// answers a key's number if it has one.
func (s *sweep) number(t *tree, key []byte) (n int64, numbered bool) {
	if s.run.prefix != nil && len(key) == len(s.run.prefix)+8 && bytes.HasPrefix(key, s.run.prefix) {
		n = int64(binary.BigEndian.Uint64(key[len(key)-8:]))
		if n != s.run.last+1 {
			s.missing(key, s.run.last+1, n)
			s.digests.gap()
		}
		s.run.last = n
		return n, true
	}
	s.endRun(t)
	return s.beginRun(t, key)
}

func (s *sweep) beginRun(t *tree, key []byte) (n int64, numbered bool) {
	group := bytes.IndexByte(key, keyEnd) + 1
	if group == 0 || len(key) < group+9 {
		return 0, false
	}
	inside := key[group : len(key)-8]
	kind, ok := kindOf(s.numbers, inside)
	if !ok {
		return 0, false
	}
	n = int64(binary.BigEndian.Uint64(key[len(key)-8:]))
	s.run = run{prefix: bytes.Clone(key[:len(key)-8]), kind: kind, last: n}
	s.run.counter = append(bytes.Clone(key[:group]), headSpace)
	if kind.Space != atomSpace {
		s.run.counter = append(append(s.run.counter[:group], kind.Counter...), inside[1:len(inside)-1]...)
	}
	s.run.newest = s.newest(t)
	if kind.FromOne && n != 1 {
		s.missing(key, 1, n)
	}
	s.digests.begin(&s.run)
	return n, true
}

// kindOf is that of a key without its number: an atom's is the space alone, others end
// with a zero byte.
func kindOf(numbers []ubl.Numbers, inside []byte) (ubl.Numbers, bool) {
	if len(inside) == 1 && inside[0] == atomSpace {
		return atomNumbers, true
	}
	if len(inside) < 2 || inside[len(inside)-1] != 0 {
		return ubl.Numbers{}, false
	}
	for _, kind := range numbers {
		if inside[0] == kind.Space && (kind.Named || len(inside) == 2) && bytes.IndexByte(inside[1:len(inside)-1], 0) < 0 {
			return kind, true
		}
	}
	return ubl.Numbers{}, false
}

// newest is what the run's counter says, -1 if it can't be read, which is told when
// the counter is met.
func (s *sweep) newest(t *tree) int64 {
	w := walk{t: t}
	value, err := w.get(s.run.counter)
	if err != nil || len(value) < 8 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(value))
}

// endRun sees that the newest number was there.
func (s *sweep) endRun(t *tree) {
	if s.run.prefix == nil {
		return
	}
	if newest := s.newest(t); newest > s.run.last {
		s.missing(s.run.prefix, s.run.last+1, newest+1)
	} else if newest >= 0 && newest < s.run.last {
		s.damage(s.run.prefix, damaged("%s are numbered up to %d, their counter says %d", s.what(), s.run.last, newest))
	}
	s.run = run{}
}

func (s *sweep) missing(key []byte, from, to int64) {
	if to <= from {
		s.damage(key, damaged("%s are numbered %d behind %d", s.what(), to, from-1))
		return
	}
	s.damage(key, damaged("%s lack %d to %d", s.what(), from, to-1))
}

func (s *sweep) what() string { return what(s.run.kind, s.run.prefix) }

// what names a run: its space and the name in its keys.
func what(kind ubl.Numbers, prefix []byte) string {
	if kind.Space == atomSpace {
		return "the ledger's atoms"
	}
	_, inside, _ := bytes.Cut(prefix, []byte{keyEnd})
	name := bytes.Trim(inside[1:], "\x00")
	if len(name) == 0 { // they are the tenant's
		return fmt.Sprintf("the records %q", kind.Space)
	}
	return fmt.Sprintf("the records %q of %q", kind.Space, name)
}
