package storage

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
)

// bbolt's file format, version 2, as far as it is needed to check a file that
// bbolt itself would trust: it maps the file and follows what it finds, and a
// page beyond the file's end is a fault and no error. Numbers are in the
// machine's byte order.
//
//	page   id u64, flags u16, count u16, overflow u32, elements, their data
//	meta   magic u32, version u32, page size u32, flags u32, root bucket,
//	       freelist u64, high water mark u64, txid u64, FNV-1a of all that
//	bucket root page u64 (0: a page follows in the value), sequence u64
//	branch element  position of the key u32, key size u32, child u64
//	leaf element    flags u32, position of the key u32, key size u32, value size u32
const (
	pageHeader  = 16
	elementSize = 16
	metaSize    = 64
	bucketSize  = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketFlag   = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2
	minPage     = 1 << 10
	maxPage     = 1 << 16
	manyFree    = 0xFFFF // a freelist's count that says: see the first element
)

var order = binary.NativeEndian

// meta is a valid meta page.
type meta struct {
	pageSize int64
	root     uint64
	sequence uint64
	freelist uint64
	pages    uint64 // high water mark
	txid     uint64
}

func parseMeta(page []byte) (meta, bool) {
	b := page[pageHeader : pageHeader+metaSize]
	sum := fnv.New64a()
	sum.Write(b[:56])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[56:]) != sum.Sum64() {
		return meta{}, false
	}
	m := meta{
		pageSize: int64(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		sequence: order.Uint64(b[24:]),
		freelist: order.Uint64(b[32:]),
		pages:    order.Uint64(b[40:]),
		txid:     order.Uint64(b[48:]),
	}
	possible := m.pageSize >= minPage && m.pageSize <= maxPage && m.pageSize&(m.pageSize-1) == 0
	return m, possible
}

// readMetas reads both meta pages and answers the newer. Both must be valid: a
// meta is smaller than a disk sector, so no power loss tears it, and falling
// back to the older one would forget a commit in silence.
func readMetas(f io.ReaderAt) (meta, error) {
	first, err := readMeta(f, 0)
	if err != nil {
		return meta{}, err
	}
	second, err := readMeta(f, first.pageSize)
	if err != nil {
		return meta{}, err
	}
	if first.pageSize != second.pageSize {
		return meta{}, damaged("the meta pages contradict each other")
	}
	if second.txid > first.txid {
		return second, nil
	}
	return first, nil
}

func readMeta(f io.ReaderAt, offset int64) (meta, error) {
	var page [pageHeader + metaSize]byte
	if _, err := f.ReadAt(page[:], offset); err != nil && err != io.EOF {
		return meta{}, err
	}
	m, ok := parseMeta(page[:])
	if !ok {
		return meta{}, damaged("a meta page is not valid, so the newest commit cannot be known; restore a backup")
	}
	return m, nil
}

// page is one page with its overflow.
type page struct {
	id      uint64
	flags   uint16
	count   int
	extra   uint64 // overflow: how many more pages belong to it
	content []byte // with the header
}

func parsePage(b []byte) page {
	return page{
		id: order.Uint64(b), flags: order.Uint16(b[8:]),
		count: int(order.Uint16(b[10:])), extra: uint64(order.Uint32(b[12:])),
		content: b,
	}
}

// element is one entry of a branch or leaf page.
type element struct {
	key, value []byte
	flags      uint32
	child      uint64
}

// at is element i. What it says is bounded by the page only after check.
func (p *page) at(i int) element {
	at := pageHeader + i*elementSize
	b := p.content[at : at+elementSize]
	var e element
	pos, keySize, valueSize := 0, 0, 0
	if p.flags == leafPage {
		e.flags = order.Uint32(b)
		pos, keySize, valueSize = at+int(order.Uint32(b[4:])), int(order.Uint32(b[8:])), int(order.Uint32(b[12:]))
	} else {
		pos, keySize, e.child = at+int(order.Uint32(b)), int(order.Uint32(b[4:])), order.Uint64(b[8:])
	}
	e.key = p.content[pos : pos+keySize : pos+keySize]
	e.value = p.content[pos+keySize : pos+keySize+valueSize : pos+keySize+valueSize]
	return e
}

// key is that of element i.
func (p *page) key(i int) []byte {
	at := pageHeader + i*elementSize
	b := p.content[at : at+elementSize]
	if p.flags == leafPage {
		b = b[4:]
	}
	from := at + int(order.Uint32(b))
	return p.content[from : from+int(order.Uint32(b[4:]))]
}

// check reads a branch or leaf page as strictly as bbolt writes it: keys and
// values lie behind the elements without a gap, and the keys rise from low, which is
// the first, to below high; nil is no bound. So neither a lowered count nor a moved
// position can hide an element. Of a page whose first key isn't the one that its branch
// has, bbolt would write a second copy and free the first, which stays in the branch.
// end is where the content ends.
func (p *page) check(low, high []byte) (end int, ok bool) {
	end = pageHeader + p.count*elementSize
	if end > len(p.content) {
		return 0, false
	}
	for i := range p.count {
		at := pageHeader + i*elementSize
		b := p.content[at : at+elementSize]
		pos, keySize, valueSize := 0, 0, 0
		if p.flags == leafPage {
			pos, keySize, valueSize = int(order.Uint32(b[4:])), int(order.Uint32(b[8:])), int(order.Uint32(b[12:]))
		} else {
			pos, keySize = int(order.Uint32(b)), int(order.Uint32(b[4:]))
		}
		if at+pos != end || keySize == 0 || end+keySize+valueSize > len(p.content) {
			return 0, false
		}
		key := p.content[end : end+keySize]
		if low != nil {
			if c := bytes.Compare(key, low); i == 0 && c != 0 || i > 0 && c <= 0 {
				return 0, false
			}
		}
		low = key
		end += keySize + valueSize
	}
	return end, p.count == 0 || high == nil || bytes.Compare(low, high) < 0
}

// fits reports whether the page has as much overflow as its content needs.
func (p *page) fits(end int, pageSize int64) bool {
	return int64(p.extra) == (int64(end)+pageSize-1)/pageSize-1
}
