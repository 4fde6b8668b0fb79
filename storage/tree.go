package storage

import (
	"bytes"
	"slices"
	"unsafe"

	bolt "go.etcd.io/bbolt"
)

// tree reads the data bucket of a transaction as it was committed, page by page
// and as strictly as a check of the whole file. bbolt follows what a page says:
// of a leaf with a lowered count or a key out of its order it passes over values
// in silence. Whatever depends on a value not being there goes through a tree.
//
// It is valid as long as its transaction, for one goroutine.
type tree struct {
	data     []byte // the mapped file up to the transaction's high water mark
	pageSize int64
	root     uint64
	inline   page // the bucket itself where it is too small for a page of its own
	// checked are pages that need no second check; nil keeps none in mind.
	checked map[uint64]struct{}
	// rewrites: pages may be written again, from what bbolt sees of them.
	rewrites bool
}

// maxDepth is far more than a tree of pages can have.
const maxDepth = 32

// treeOf finds the data bucket.
func treeOf(tx *bolt.Tx, checked map[uint64]struct{}) (*tree, error) {
	return treeWithin(tx, tx.Size(), checked)
}

// treeWithin finds it in a file that may be shorter than its high water mark.
func treeWithin(tx *bolt.Tx, size int64, checked map[uint64]struct{}) (*tree, error) {
	info := tx.DB().Info() // the transaction keeps the map in its place
	t := &tree{
		data:     unsafe.Slice(*(**byte)(unsafe.Pointer(&info.Data)), size),
		pageSize: int64(info.PageSize), checked: checked,
	}
	p, err := t.page(uint64(tx.Cursor().Bucket().Root()), nil, nil)
	if err != nil {
		return nil, err
	}
	if p.flags != leafPage || p.count != 2 || !bytes.Equal(p.at(0).key, dataBucket) {
		return nil, unreadable(damaged("the buckets are not the ones of a partition"))
	}
	bucket := p.at(0)
	if bucket.flags != bucketFlag || len(bucket.value) < bucketSize {
		return nil, unreadable(damaged("a bucket is not valid"))
	}
	if t.root = order.Uint64(bucket.value); t.root == 0 {
		err = t.openInline(bucket.value[bucketSize:])
	}
	return t, err
}

func (t *tree) openInline(content []byte) error {
	if len(content) < pageHeader {
		return unreadable(damaged("a bucket is not valid"))
	}
	t.inline = parsePage(content)
	if end, ok := t.inline.check(nil, nil); !ok || t.inline.flags != leafPage || end != len(content) {
		return unreadable(damaged("a bucket is not valid"))
	}
	return nil
}

// page is a branch or leaf whose keys must be in [low, high).
func (t *tree) page(id uint64, low, high []byte) (page, error) {
	pages := uint64(int64(len(t.data)) / t.pageSize)
	if id >= pages {
		return page{}, unreadable(damaged("a page number is beyond the end"))
	}
	at := int64(id) * t.pageSize
	p := parsePage(t.data[at : at+t.pageSize])
	if p.id != id || p.extra >= pages-id || p.flags != branchPage && p.flags != leafPage {
		return page{}, unreadable(damaged("page %d is not what it should be", id))
	}
	p.content = t.data[at : at+t.pageSize*int64(p.extra+1)]
	if _, ok := t.checked[id]; ok {
		return p, nil
	}
	end, ok := p.check(low, high)
	if !ok || !p.fits(end, t.pageSize) || p.count == 0 && (p.flags == branchPage || id != t.root) {
		return page{}, unreadable(damaged("page %d is not valid", id))
	}
	if t.rewrites && p.flags == leafPage {
		if err := p.kept(); err != nil {
			return page{}, err
		}
	}
	if t.checked != nil {
		t.checked[id] = struct{}{}
	}
	return p, nil
}

// kept sees that bbolt would write a sound leaf's elements again byte for byte. Only
// the flags and the last value's size are bound by nothing in the page.
func (p *page) kept() error {
	for i := range p.count {
		if p.at(i).flags != 0 {
			return unreadable(damaged("page %d holds what is not a value", p.id))
		}
	}
	if p.count == 0 {
		return nil
	}
	last := p.at(p.count - 1)
	if _, err := openStored(last.key, last.value); err != nil {
		return unreadable(damaged("a value on page %d does not match its checksum", p.id))
	}
	return nil
}

// search is the first element whose key is not below the given one.
func (p *page) search(key []byte) int {
	low, high := 0, p.count
	for low < high {
		if mid := (low + high) / 2; bytes.Compare(p.key(mid), key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// childOf is the element of a branch below which a key is.
func (p *page) childOf(key []byte) int {
	i := p.search(key)
	if i < p.count && bytes.Equal(p.key(i), key) {
		return i
	}
	return max(i-1, 0)
}

// step is a page on the way down, the bounds of its keys, and the element that
// the way takes.
type step struct {
	page
	i         int
	low, high []byte
}

// bounds are those of the page below element i.
func (s *step) bounds(i int) (low, high []byte) {
	if i+1 < s.count {
		return s.key(i), s.key(i + 1)
	}
	return s.key(i), s.high
}

// walk is a place in a tree: at an element of a leaf, or before the first or
// behind the last of all.
type walk struct {
	t     *tree
	stack []step // branches, from the root
	leaf  step
}

// Which way down takes at each branch.
const (
	toFirst = -1
	toLast  = 1
	toKey   = 0
)

// seek goes to the first key that is not below the given one.
func (w *walk) seek(key []byte) (err error) {
	defer guard(&err)
	w.stack = w.stack[:0]
	if err := w.down(w.t.root, nil, nil, toKey, key); err != nil {
		return err
	}
	if w.leaf.i = w.leaf.search(key); w.leaf.i == w.leaf.count {
		w.leaf.i--
		return w.move(1)
	}
	return nil
}

// reach goes to the leaf where a key is or would be, at none of its elements, and
// says which keys that leaf has.
func (w *walk) reach(key []byte) (of extent, err error) {
	defer guard(&err)
	w.leaf, w.stack = step{}, w.stack[:0]
	if err := w.down(w.t.root, nil, nil, toKey, key); err != nil {
		return extent{}, err
	}
	return extent{w.leaf.low, w.leaf.high, true}, nil
}

// extent is from where to where the keys of a leaf go; nil is no bound.
type extent struct {
	low, high []byte
	known     bool
}

func (e *extent) has(key []byte) bool {
	return e.known && bytes.Compare(key, e.low) >= 0 && (e.high == nil || bytes.Compare(key, e.high) < 0)
}

// down goes to the leaf below a page.
func (w *walk) down(id uint64, low, high []byte, way int, key []byte) error {
	if id == 0 && len(w.stack) == 0 {
		w.leaf = step{page: w.t.inline}
		return nil
	}
	for len(w.stack) < maxDepth {
		p, err := w.t.page(id, low, high)
		if err != nil {
			return err
		}
		s := step{page: p, low: low, high: high}
		if way == toLast {
			s.i = p.count - 1
		}
		if p.flags == leafPage {
			w.leaf = s
			return nil
		}
		if way == toKey {
			s.i = p.childOf(key)
		}
		w.stack = append(w.stack, s)
		low, high = s.bounds(s.i)
		id = p.at(s.i).child
	}
	return unreadable(damaged("the tree of pages has no end"))
}

// move goes to the next element (1) or the one before (-1).
func (w *walk) move(by int) (err error) {
	defer guard(&err)
	w.leaf.i += by
	if w.valid() {
		return nil
	}
	for n := len(w.stack) - 1; n >= 0; n-- {
		s := &w.stack[n]
		if next := s.i + by; next >= 0 && next < s.count {
			s.i = next
			w.stack = w.stack[:n+1]
			low, high := s.bounds(next)
			return w.down(s.at(next).child, low, high, -by, nil)
		}
	}
	return nil
}

func (w *walk) valid() bool { return w.leaf.i >= 0 && w.leaf.i < w.leaf.count }

// key is that of the element, which must be there.
func (w *walk) key() []byte { return w.leaf.at(w.leaf.i).key }

// read is the element's value, once key and value are known to be what was written.
func (w *walk) read() (key, value []byte, err error) {
	defer guard(&err)
	e := w.leaf.at(w.leaf.i)
	if e.flags != 0 {
		return nil, nil, unreadable(damaged("page %d holds what is not a value", w.leaf.id))
	}
	if value, err = openStored(e.key, e.value); err != nil {
		return nil, nil, unreadable(damaged("a value on page %d does not match its checksum", w.leaf.id))
	}
	return e.key, value, nil
}

// get goes to a key and reads its value; nil where there is none.
func (w *walk) get(key []byte) (value []byte, err error) {
	if err := w.seek(key); err != nil {
		return nil, err
	}
	if !w.valid() || !bytes.Equal(w.key(), key) {
		return nil, w.edges()
	}
	_, value, err = w.read()
	return value, err
}

// behind is the first key that may be beyond the page which stopped the way from a key;
// nil for none.
func (w *walk) behind(key []byte) []byte {
	if len(w.stack) == 0 {
		return nil
	}
	top := &w.stack[len(w.stack)-1]
	_, high := top.bounds(top.i)
	if bytes.Compare(high, key) <= 0 {
		return nil
	}
	return high
}

// stopped is that page.
func (w *walk) stopped() uint64 {
	if len(w.stack) == 0 {
		return w.t.root
	}
	top := &w.stack[len(w.stack)-1]
	return top.at(top.i).child
}

// edge sees that the element here, if there is one, is what was written. A range
// ends where another key stands: it may be one of the range's, damaged so that it
// still is in order.
func (w *walk) edge() error {
	if !w.valid() {
		return nil
	}
	_, _, err := w.read()
	return err
}

// edges is edge for the elements on both sides of a gap.
func (w *walk) edges() error {
	if err := w.edge(); err != nil {
		return err
	}
	before := walk{t: w.t, stack: append([]step(nil), w.stack...), leaf: w.leaf}
	if err := before.move(-1); err != nil {
		return err
	}
	return before.edge()
}

// absent sees that a key is not there.
func (t *tree) absent(key []byte) error {
	w := walk{t: t}
	if err := w.seek(key); err != nil {
		return err
	}
	if w.valid() && bytes.Equal(w.key(), key) {
		return unreadable(damaged("page %d hides a value", w.leaf.id))
	}
	return w.edges()
}

// absent sees that a key is not in a transaction.
func absent(tx *bolt.Tx, key []byte) error {
	t, err := treeOf(tx, nil)
	if err != nil {
		return err
	}
	return t.absent(key)
}

// around checks the pages on both sides of the way to a key's leaf: bbolt may merge
// them when something is deleted, those below another branch after the branches.
func (w *walk) around(key []byte) (err error) {
	defer guard(&err)
	if _, err := w.reach(key); err != nil {
		return err
	}
	for n := range w.stack {
		s := &w.stack[n]
		for _, i := range []int{s.i - 1, s.i + 1} {
			if i < 0 || i >= s.count {
				continue
			}
			low, high := s.bounds(i)
			if _, err := w.t.page(s.at(i).child, low, high); err != nil {
				return err
			}
		}
	}
	for _, by := range []int{-1, 1} {
		beside := walk{t: w.t, stack: slices.Clone(w.stack), leaf: w.leaf}
		if beside.leaf.i = 0; by > 0 {
			beside.leaf.i = w.leaf.count - 1
		}
		if err := beside.move(by); err != nil {
			return err
		}
	}
	return nil
}
