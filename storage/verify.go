package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// inspectFile checks a partition's file before bbolt maps it: fully up to
// verifyBytes, else without looking into most leaf pages. -1 leaves it at the meta
// pages and the size. Its error is a [*spoiledLeaves] where nothing else is damaged.
func inspectFile(path string, verifyBytes int64) error {
	return inspect(path, verifyBytes, func(f io.ReaderAt) io.ReaderAt { return f })
}

// inspect is inspectFile that reads as the caller wants.
func inspect(path string, verifyBytes int64, through func(io.ReaderAt) io.ReaderAt) error {
	return inspectAs(path, verifyBytes, &verifier{names: [2][]byte{dataBucket, metaBucket}, value: checkValue}, through)
}

// CheckPages checks every page of a bbolt file that isn't a partition's before bbolt
// maps it: what bbolt follows in a damaged one ends the process. The file has two
// buckets, in the order of their names; value looks at what they hold. The error wraps
// [ErrDamaged], also where the file is missing.
func CheckPages(path, first, second string, value func(bucket string, key, value []byte) error) error {
	v := &verifier{names: [2][]byte{[]byte(first), []byte(second)}, strict: true}
	v.value = func(_ uint64, key, stored []byte) error { return value(string(v.bucketName), key, stored) }
	return inspectAs(path, 1<<62, v, func(f io.ReaderAt) io.ReaderAt { return f })
}

func inspectAs(path string, verifyBytes int64, v *verifier, through func(io.ReaderAt) io.ReaderAt) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("the file is missing")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := readMetas(f)
	if err != nil {
		return err
	}
	if m.pages > uint64(info.Size()/m.pageSize) {
		return damaged("the file is cut short")
	}
	if verifyBytes < 0 {
		return nil
	}
	v.f, v.meta, v.leaves, v.used = through(f), m, int64(m.pages)*m.pageSize <= verifyBytes, newPageSet(m.pages)
	if !v.leaves {
		v.skipped, v.free = newPageSet(m.pages), newPageSet(m.pages)
	}
	return v.verify()
}

// spoiledLeaves is damage inside leaves of the data, in a file whose pages are each
// used once all the same. Such a file may be served and written: who reads these
// leaves is told, and a write to one of them is refused. What it has besides is safe,
// for no page that it uses counts as free.
type spoiledLeaves struct {
	places []error // the first maxPlaces
	n      int
}

func (e *spoiledLeaves) Error() string {
	if e.n == 1 {
		return e.places[0].Error()
	}
	return fmt.Sprintf("%v; damaged leaves in all: %d", e.places[0], e.n)
}

// Unwrap has it be what its places are.
func (e *spoiledLeaves) Unwrap() []error { return e.places }

// add notes a leaf.
func (e *spoiledLeaves) add(err error) {
	if e.n++; e.n <= maxPlaces {
		e.places = append(e.places, err)
	}
}

// pageSet is a set of page numbers.
type pageSet []byte

func newPageSet(pages uint64) pageSet { return make(pageSet, (pages+7)/8) }

func (s pageSet) has(id uint64) bool { return s[id/8]&(1<<(id%8)) != 0 }

func (s pageSet) add(id uint64) { s[id/8] |= 1 << (id % 8) }

// verifier walks a file once. Each page must be used exactly once: in the tree,
// by the freelist, or as a free page. That finds a child that points elsewhere,
// to an older copy of the same page for example, which order and checksums
// alone would not.
type verifier struct {
	f      io.ReaderAt
	meta   meta
	leaves bool // look into leaf pages
	used   pageSet
	usedN  uint64
	buf    []byte // the newest leaf
	spoilt spoiledLeaves
	// The buckets, and what tells whether a value is sound, which is on the given page.
	names [2][]byte
	value func(page uint64, key, value []byte) error
	// bucketName is the one that is being walked. strict says that nothing in it may be
	// damaged, as in the bucket that says what a partition's file is.
	bucketName []byte
	strict     bool
	// Where leaves are not looked into: those, and the free pages.
	skipped, free pageSet
}

func (v *verifier) verify() error {
	v.use(0, 1) // the meta pages
	if v.meta.sequence != 0 {
		return damaged("the root bucket is not valid")
	}
	if err := v.freelist(); err != nil {
		return err
	}
	if err := v.root(); err != nil {
		return err
	}
	if v.leaves && v.usedN != v.meta.pages {
		return errUnaccounted()
	}
	if !v.leaves {
		if err := v.overflows(); err != nil {
			return err
		}
	}
	if v.spoilt.n > 0 {
		return &v.spoilt
	}
	return nil
}

func errUnaccounted() error { return damaged("a page is neither used nor free") }

// maxOverflows bounds how many leaves overflows reads that no free page follows.
const maxOverflows = 10_000

// overflows sees that what is neither used nor free is the overflow of the skipped
// leaf before it. A free page that is none would be written over: so a leaf is asked
// how many pages it has if a free page comes next. Others are asked for the sake of
// the root, which may point into its own tree; of many, the first.
func (v *verifier) overflows() error {
	leaf, length, asked := uint64(0), uint64(0), 0
	for id := uint64(2); id <= v.meta.pages; id++ {
		end := id == v.meta.pages
		if !end && !v.used.has(id) {
			if leaf == 0 {
				return errUnaccounted()
			}
			length++
			continue
		}
		free := !end && v.free.has(id)
		if leaf != 0 && (free || length > 0 && asked < maxOverflows) {
			asked++
			if err := v.overflow(leaf, length); err != nil {
				return err
			}
		}
		if leaf, length = 0, 0; !end && v.skipped.has(id) {
			leaf = id
		}
	}
	return nil
}

func (v *verifier) overflow(leaf, want uint64) error {
	var head [pageHeader]byte
	if _, err := v.f.ReadAt(head[:], int64(leaf)*v.meta.pageSize); err != nil {
		return err
	}
	if p := parsePage(head[:]); p.id != leaf || p.extra != want {
		return errUnaccounted()
	}
	return nil
}

// use marks a page and its overflow.
func (v *verifier) use(id, extra uint64) bool {
	if id >= v.meta.pages || extra >= v.meta.pages-id {
		return false
	}
	for ; ; id++ {
		if v.used.has(id) {
			return false
		}
		v.used.add(id)
		v.usedN++
		if extra == 0 {
			return true
		}
		extra--
	}
}

// read reads a page with its overflow into buf, which may grow.
func (v *verifier) read(id uint64, buf []byte) (page, error) {
	if id >= v.meta.pages {
		return page{}, damaged("a page number is beyond the end")
	}
	size := v.meta.pageSize
	buf = grown(buf, size)
	if _, err := v.f.ReadAt(buf, int64(id)*size); err != nil {
		return page{}, err
	}
	p := parsePage(buf)
	if p.id != id || !v.use(id, p.extra) {
		return page{}, damaged("page %d is not what it should be", id)
	}
	if p.extra > 0 {
		buf = grown(nil, size*int64(p.extra+1))
		if _, err := v.f.ReadAt(buf, int64(id)*size); err != nil {
			return page{}, err
		}
		p.content = buf
	}
	return p, nil
}

func grown(buf []byte, size int64) []byte {
	if int64(cap(buf)) < size {
		return make([]byte, size)
	}
	return buf[:size]
}

func (v *verifier) freelist() error {
	p, err := v.read(v.meta.freelist, nil)
	if err != nil {
		return err
	}
	ids := p.content[pageHeader:]
	n := uint64(p.count)
	if n == manyFree {
		n, ids = order.Uint64(ids), ids[8:]
	}
	if p.flags != freelistPage || n > uint64(len(ids)/8) {
		return damaged("the list of free pages is not valid")
	}
	for i := range n {
		id := order.Uint64(ids[8*i:])
		if !v.use(id, 0) {
			return damaged("the list of free pages is not valid")
		}
		if v.free != nil {
			v.free.add(id)
		}
	}
	return nil
}

// root walks the two buckets.
func (v *verifier) root() error {
	p, err := v.read(v.meta.root, nil)
	if err != nil {
		return err
	}
	if _, ok := p.check(nil, nil); !ok || p.flags != leafPage || p.count != 2 ||
		!bytes.Equal(p.at(0).key, v.names[0]) || !bytes.Equal(p.at(1).key, v.names[1]) {
		return damaged("the buckets are not the ones that the file should have")
	}
	for i := range p.count {
		e := p.at(i)
		if e.flags != bucketFlag || len(e.value) < bucketSize || order.Uint64(e.value[8:]) != 0 {
			return damaged("a bucket is not valid")
		}
		v.bucketName = e.key
		v.strict = v.strict || bytes.Equal(e.key, metaBucket)
		if err := v.bucket(order.Uint64(e.value), e.value[bucketSize:]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) bucket(root uint64, inline []byte) error {
	if root == 0 {
		if len(inline) < pageHeader {
			return damaged("a bucket is not valid")
		}
		p := parsePage(inline)
		return v.spoiled(v.checkLeaf(&p, nil, nil, 0))
	}
	depth, err := v.depth(root)
	if err != nil {
		return err
	}
	return v.tree(root, depth, nil, nil, true)
}

// depth follows the first children down. bbolt's trees are equally deep
// everywhere, so it tells leaves from branches before they are read.
func (v *verifier) depth(id uint64) (int, error) {
	buf := make([]byte, v.meta.pageSize)
	for depth := range 32 {
		if id >= v.meta.pages {
			return 0, damaged("a page number is beyond the end")
		}
		if _, err := v.f.ReadAt(buf, int64(id)*v.meta.pageSize); err != nil {
			return 0, err
		}
		p := parsePage(buf)
		if p.flags != branchPage {
			return depth, nil
		}
		id = order.Uint64(buf[pageHeader+8:])
	}
	return 0, damaged("the tree of pages has no end")
}

// tree walks the page and all below it; their keys must be in [low, high).
func (v *verifier) tree(id uint64, depth int, low, high []byte, isRoot bool) error {
	if depth == 0 {
		return v.leaf(id, low, high, isRoot)
	}
	p, err := v.read(id, nil)
	if err != nil {
		return err
	}
	end, ok := p.check(low, high)
	if !ok || p.flags != branchPage || p.count == 0 || !p.fits(end, v.meta.pageSize) {
		return damaged("page %d is not a valid branch", id)
	}
	for i := range p.count {
		next := high
		if i+1 < p.count {
			next = p.at(i + 1).key
		}
		if err := v.tree(p.at(i).child, depth-1, p.at(i).key, next, false); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) leaf(id uint64, low, high []byte, isRoot bool) error {
	if !v.leaves && !v.strict {
		if !v.use(id, 0) {
			return damaged("page %d is used twice", id)
		}
		v.skipped.add(id)
		return nil
	}
	p, err := v.read(id, v.buf)
	if err != nil {
		return err
	}
	if p.extra == 0 {
		v.buf = p.content
	}
	if p.count == 0 && !isRoot {
		return v.spoiled(damaged("page %d is empty", id))
	}
	return v.spoiled(v.checkLeaf(&p, low, high, v.meta.pageSize))
}

// spoiled notes damage inside a leaf of the data, and lets the walk go on.
func (v *verifier) spoiled(err error) error {
	if err == nil || v.strict {
		return err
	}
	v.spoilt.add(err)
	return nil
}

// checkLeaf checks a leaf and its values; pageSize is 0 for one inside a value.
func (v *verifier) checkLeaf(p *page, low, high []byte, pageSize int64) error {
	end, ok := p.check(low, high)
	if !ok || p.flags != leafPage || pageSize > 0 && !p.fits(end, pageSize) || pageSize == 0 && end != len(p.content) {
		return damaged("page %d is not a valid leaf", p.id)
	}
	for i := range p.count {
		e := p.at(i)
		if e.flags != 0 {
			return damaged("page %d holds what is not a value", p.id)
		}
		if err := v.value(p.id, e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}

// checkValue checks a value of a partition's file.
func checkValue(page uint64, key, value []byte) error {
	if _, err := openStored(key, value); err != nil {
		return damaged("a value on page %d does not match its checksum", page)
	}
	return nil
}
