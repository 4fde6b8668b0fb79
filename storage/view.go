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
	tx, err := p.beginReadOf(ubl.ReadingOf(ctx, g), g)
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
	return p.tell(result)
}

// beginRead begins to read what is applied.
func (p *partition) beginRead() (*bolt.Tx, error) {
	if err := p.flush(); err != nil {
		return nil, err
	}
	return beginRead(p.database())
}

// beginReadOf begins to read what is applied of one group. Of a reading, nil for none, only
// the first view has it put into the file.
func (p *partition) beginReadOf(reading *ubl.Reading, g ubl.Group) (*bolt.Tx, error) {
	if !reading.Begun() || !p.state.is().open() {
		if err := p.flushFor(g); err != nil {
			return nil, err
		}
		reading.Begin()
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
	s := &snapshot{ctx: ctx, tx: tx, prefix: appendPrefix(make([]byte, 0, 128), g)}
	if err := s.open(); err != nil {
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
	tx     *bolt.Tx
	pages  *tree // nil until something needs it
}

func (s *snapshot) open() (err error) {
	defer guard(&err)
	if s.data = s.tx.Bucket(dataBucket); s.data == nil {
		return unreadable(damaged("a bucket is missing"))
	}
	return nil
}

func (s *snapshot) tree() (_ *tree, err error) {
	defer guard(&err)
	if s.pages == nil {
		s.pages, err = treeOf(s.tx, nil)
	}
	return s.pages, err
}

// full is the key as it is on disk, valid until the next call.
func (s *snapshot) full(key []byte) []byte {
	s.key = append(append(s.key[:0], s.prefix...), key...)
	return s.key
}

func (s *snapshot) Get(key []byte) (value []byte, err error) {
	if value, err = s.stored(s.full(key)); value != nil || err != nil {
		return value, err
	}
	t, err := s.tree()
	if err == nil {
		err = t.absent(s.key)
	}
	return nil, err
}

func (s *snapshot) stored(key []byte) (value []byte, err error) {
	defer guard(&err)
	return getStored(s.data, key)
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
	low, high := s.bounds(from, to)
	w, err := s.walk(low)
	if err == nil {
		err = w.edges()
	}
	if err != nil {
		return err
	}
	for n := 1; w.valid(); n++ {
		key, value, err := w.read()
		if err != nil {
			return err
		}
		if bytes.Compare(key, high) >= 0 {
			return nil
		}
		if err := s.ended(n); err != nil || !fn(key[len(s.prefix):], value) {
			return err
		}
		if err := w.move(1); err != nil {
			return err
		}
	}
	return nil
}

func (s *snapshot) Descend(from, to []byte, fn func(key, value []byte) bool) error {
	low, high := s.bounds(from, to)
	w, err := s.walk(high)
	if err == nil {
		err = w.edge()
	}
	if err == nil {
		err = w.move(-1)
	}
	if err != nil {
		return err
	}
	for n := 1; w.valid(); n++ {
		key, value, err := w.read()
		if err != nil {
			return err
		}
		if bytes.Compare(key, low) < 0 {
			return nil
		}
		if err := s.ended(n); err != nil || !fn(key[len(s.prefix):], value) {
			return err
		}
		if err := w.move(-1); err != nil {
			return err
		}
	}
	return nil
}

// walk begins at a full key.
func (s *snapshot) walk(key []byte) (*walk, error) {
	t, err := s.tree()
	if err != nil {
		return nil, err
	}
	w := &walk{t: t, stack: make([]step, 0, 8)}
	return w, w.seek(key)
}

// bounds are the full keys of [from, to) within the group.
func (s *snapshot) bounds(from, to []byte) (low, high []byte) {
	low = append(bytes.Clone(s.prefix), from...)
	high = append(bytes.Clone(s.prefix), to...)
	if to == nil {
		high[len(s.prefix)-1] = keyEnd + 1
	}
	return low, high
}

// ctxEvery is how many keys are visited between two looks at the context.
const ctxEvery = 256

func (s *snapshot) ended(n int) error {
	if n%ctxEvery == 0 && s.ctx.Err() != nil {
		return unavailable("the request ended before the data was read", s.ctx.Err())
	}
	return nil
}
