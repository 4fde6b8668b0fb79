package storage

import (
	"bytes"
	"context"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// View implements [ubl.Reader]. Bounds of Ascend and Descend may be nil: then
// they are those of the group.
func (e *Engine) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return unavailable("the request ended before the data was read", err)
	}
	if !validGroup(g) {
		return ubl.Errorf(ubl.CodeInternal, "a group's name is not well formed")
	}
	p := e.partition(g)
	if p.replicated() && p.epoch.Load() == 0 {
		return errNotLeading()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	tx, err := p.beginReadOf(g)
	if err != nil {
		return err
	}
	id := uint64(tx.ID())
	result := viewTx(ctx, tx, g, fn)
	// The transaction is over: who waits must not keep pages. An error waits too,
	// for it may tell what was seen.
	if err := p.waitDurable(ctx, id); err != nil {
		return err
	}
	return result
}

// beginRead begins to read what is applied.
func (p *partition) beginRead() (*bolt.Tx, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	return beginRead(p.database())
}

// beginReadOf begins to read what is applied of one group.
func (p *partition) beginReadOf(g ubl.Group) (*bolt.Tx, error) {
	if err := p.flushFor(g); err != nil {
		return nil, err
	}
	return beginRead(p.database())
}

func beginRead(db *bolt.DB) (tx *bolt.Tx, err error) {
	defer guard(&err)
	if tx, err = db.Begin(false); err != nil {
		return nil, unavailable("the store is closed", err)
	}
	return tx, nil
}

func viewTx(ctx context.Context, tx *bolt.Tx, g ubl.Group, fn func(ubl.Snapshot) error) error {
	defer tx.Rollback()
	s := &snapshot{ctx: ctx, prefix: appendPrefix(make([]byte, 0, 128), g)}
	if err := s.open(tx); err != nil {
		return err
	}
	return fn(s)
}

// snapshot is one group in one read transaction, for one goroutine.
type snapshot struct {
	ctx    context.Context // of the View that it lives in
	data   *bolt.Bucket
	prefix []byte
	key    []byte // scratch
	head   *ubl.LedgerHead
}

func (s *snapshot) open(tx *bolt.Tx) (err error) {
	defer guard(&err)
	if s.data = tx.Bucket(dataBucket); s.data == nil {
		return unreadable(damaged("a bucket is missing"))
	}
	return nil
}

// full is the key as it is on disk, valid until the next call.
func (s *snapshot) full(key []byte) []byte {
	s.key = append(append(s.key[:0], s.prefix...), key...)
	return s.key
}

func (s *snapshot) Get(key []byte) (value []byte, err error) {
	defer guard(&err)
	return getStored(s.data, s.full(key))
}

func (s *snapshot) Counter(key []byte) (int64, error) {
	value, err := s.Get(key)
	if err != nil {
		return 0, err
	}
	return parseCounter(value)
}

func (s *snapshot) Head() (ubl.LedgerHead, error) {
	if s.head == nil {
		value, err := s.Get([]byte{headSpace})
		if err != nil {
			return ubl.LedgerHead{}, err
		}
		head, err := parseHead(value)
		if err != nil {
			return ubl.LedgerHead{}, err
		}
		s.head = &head
	}
	return *s.head, nil
}

// Atom knows which atoms there must be: a missing one is damage.
func (s *snapshot) Atom(seq int64) ([]byte, error) {
	head, err := s.Head()
	if err != nil || seq < 1 || seq > head.Seq {
		return nil, err
	}
	atom, err := s.Get(appendAtomKey(nil, seq))
	if err == nil && atom == nil {
		err = unreadable(damaged("an atom below the ledger's head is missing"))
	}
	return atom, err
}

func (s *snapshot) Ascend(from, to []byte, fn func(key, value []byte) bool) error {
	c := s.cursor(from, to)
	c.seek(c.low)
	for n := 1; c.here(); n++ {
		if err := s.ended(n); err != nil || !fn(c.key[len(s.prefix):], c.value) {
			return err
		}
		c.next()
	}
	return c.err
}

func (s *snapshot) Descend(from, to []byte, fn func(key, value []byte) bool) error {
	c := s.cursor(from, to)
	c.seekBefore(c.high)
	for n := 1; c.here(); n++ {
		if err := s.ended(n); err != nil || !fn(c.key[len(s.prefix):], c.value) {
			return err
		}
		c.prev()
	}
	return c.err
}

// cursor walks [from, to) within the group.
func (s *snapshot) cursor(from, to []byte) *cursor {
	low := append(bytes.Clone(s.prefix), from...)
	high := append(bytes.Clone(s.prefix), to...)
	if to == nil {
		high[len(s.prefix)-1] = keyEnd + 1
	}
	return &cursor{c: s.data.Cursor(), low: low, high: high}
}

// ctxEvery is how many keys are visited between two looks at the context.
const ctxEvery = 256

func (s *snapshot) ended(n int) error {
	if n%ctxEvery == 0 && s.ctx.Err() != nil {
		return unavailable("the request ended before the data was read", s.ctx.Err())
	}
	return nil
}

// cursor is a bbolt cursor whose panics on damaged pages are errors. All that
// touches a key or value before its checksum is known to be right happens in
// its methods: on a damaged page either may lie beyond the file's end.
type cursor struct {
	c          *bolt.Cursor
	low, high  []byte
	key, value []byte
	err        error
}

func (c *cursor) seek(key []byte) {
	defer guard(&c.err)
	c.key, c.value = c.c.Seek(key)
}

// seekBefore goes to the last key below the given one.
func (c *cursor) seekBefore(key []byte) {
	defer guard(&c.err)
	if k, _ := c.c.Seek(key); k == nil {
		c.key, c.value = c.c.Last()
	} else {
		c.key, c.value = c.c.Prev()
	}
}

func (c *cursor) next() {
	defer guard(&c.err)
	c.key, c.value = c.c.Next()
}

func (c *cursor) prev() {
	defer guard(&c.err)
	c.key, c.value = c.c.Prev()
}

// here reports whether the cursor is at a key within its bounds, with a value
// that is what was written.
func (c *cursor) here() bool {
	defer guard(&c.err)
	if c.err != nil || c.key == nil || bytes.Compare(c.key, c.low) < 0 || bytes.Compare(c.key, c.high) >= 0 {
		return false
	}
	c.value, c.err = openStored(c.key, c.value)
	return c.err == nil
}

// group is the group that the key belongs to; false at the end.
func (c *cursor) group() (g ubl.Group, ok bool) {
	defer guard(&c.err)
	if c.err != nil || c.key == nil {
		return g, false
	}
	g, c.err = groupOf(c.key)
	return g, c.err == nil
}
