package storage

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// inspectFile checks a partition's file before bbolt maps it: fully up to
// verifyBytes, else without looking into leaf pages. -1 leaves it at the meta
// pages and the size.
func inspectFile(path string, verifyBytes int64) error {
	return inspect(path, verifyBytes, func(f io.ReaderAt) io.ReaderAt { return f })
}

// inspect is inspectFile that reads as the caller wants.
func inspect(path string, verifyBytes int64, through func(io.ReaderAt) io.ReaderAt) error {
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
	v := &verifier{f: through(f), meta: m, leaves: int64(m.pages)*m.pageSize <= verifyBytes, used: make([]byte, (m.pages+7)/8)}
	return v.verify()
}

// verifier walks a file once. Each page must be used exactly once: in the tree,
// by the freelist, or as a free page. That finds a child that points elsewhere,
// to an older copy of the same page for example, which order and checksums
// alone would not.
type verifier struct {
	f      io.ReaderAt
	meta   meta
	leaves bool // look into leaf pages
	used   []byte
	usedN  uint64
	buf    []byte // the newest leaf
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
		return damaged("a page is neither used nor free")
	}
	return nil
}

// use marks a page and its overflow.
func (v *verifier) use(id, extra uint64) bool {
	if id >= v.meta.pages || extra >= v.meta.pages-id {
		return false
	}
	for ; ; id++ {
		if v.used[id/8]&(1<<(id%8)) != 0 {
			return false
		}
		v.used[id/8] |= 1 << (id % 8)
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
		if id := order.Uint64(ids[8*i:]); !v.use(id, 0) {
			return damaged("the list of free pages is not valid")
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
		!bytes.Equal(p.at(0).key, dataBucket) || !bytes.Equal(p.at(1).key, metaBucket) {
		return damaged("the buckets are not the ones of a partition")
	}
	for i := range p.count {
		e := p.at(i)
		if e.flags != bucketFlag || len(e.value) < bucketSize || order.Uint64(e.value[8:]) != 0 {
			return damaged("a bucket is not valid")
		}
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
		return checkLeaf(&p, nil, nil, 0)
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
	if !v.leaves {
		if !v.use(id, 0) {
			return damaged("page %d is used twice", id)
		}
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
		return damaged("page %d is empty", id)
	}
	return checkLeaf(&p, low, high, v.meta.pageSize)
}

// checkLeaf checks a leaf and its values; pageSize is 0 for one inside a value.
func checkLeaf(p *page, low, high []byte, pageSize int64) error {
	end, ok := p.check(low, high)
	if !ok || p.flags != leafPage || pageSize > 0 && !p.fits(end, pageSize) || pageSize == 0 && end != len(p.content) {
		return damaged("page %d is not a valid leaf", p.id)
	}
	for i := range p.count {
		e := p.at(i)
		if e.flags != 0 {
			return damaged("page %d holds what is not a value", p.id)
		}
		if _, err := openStored(e.key, e.value); err != nil {
			return damaged("a value on page %d does not match its checksum", p.id)
		}
	}
	return nil
}
