package wire

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Bounds of a value. Ours are nested four deep.
const (
	maxDepth = 32

	// What a part may take in memory once it is decoded. A struct or its
	// absence takes at most largestPart inside a list; check sees to it.
	largestPart = 256
	listPart    = 32 // a string or number inside a list
	mapPart     = 96 // an entry of a map, key included
	// The whole may take memoryBase and memoryPerByte times its bytes. Names of
	// fields make every true value heavier than that: it has one field at least.
	memoryBase    = 64 << 10
	memoryPerByte = 32
	// The library makes room for all parts of a list, twice, before it reads the
	// first, which may be of another kind: so much more may be taken for that.
	memoryAhead = 8 << 20
)

var (
	errCut    = errors.New("it ends too early")
	errMore   = errors.New("something follows its end")
	errDeep   = errors.New("it is nested too deep")
	errMemory = errors.New("it would take far more memory than bytes")
	errKind   = errors.New("it holds a value of a kind that is not used")
	errNumber = errors.New("it holds a number beyond 63 bits")
)

// scan reads over exactly one MessagePack value without building it, in one
// pass and no memory of its own.
func scan(data []byte) error {
	s := scanner{data: data, budget: memoryBase + memoryPerByte*len(data)}
	s.open[0].left = 1
	for s.depth >= 0 {
		l := &s.open[s.depth]
		if l.left == 0 {
			s.depth--
			continue
		}
		l.left--
		if err := s.next(); err != nil {
			return err
		}
	}
	if s.at < len(data) {
		return errMore
	}
	return nil
}

// scanner is how far a scan is.
type scanner struct {
	data   []byte
	at     int
	budget int // bytes of memory that may still be taken
	depth  int
	open   [maxDepth + 1]level // the lists and maps around, the whole at 0
}

// level is a list or map that is being read over.
type level struct {
	left int // values to come, the keys of a map included
	list bool
}

// next reads over one value, or the head of one that has parts.
func (s *scanner) next() error {
	if s.at == len(s.data) {
		return errCut
	}
	code := s.data[s.at]
	s.at++
	switch {
	case code == msgpcode.Nil:
		return s.take(largestPart)
	case msgpcode.IsFixedNum(code) || code == msgpcode.False || code == msgpcode.True:
		return s.take(listPart)
	case msgpcode.IsFixedString(code):
		return s.skip(int(code & msgpcode.FixedStrMask))
	case msgpcode.IsFixedArray(code):
		return s.enter(int(code&msgpcode.FixedArrayMask), true)
	case msgpcode.IsFixedMap(code):
		return s.enter(int(code&msgpcode.FixedMapMask), false)
	}
	return s.long(code)
}

// long reads over a value whose length or number follows its code.
func (s *scanner) long(code byte) error {
	n, err := s.number(width(code))
	if err != nil {
		return err
	}
	switch code {
	case msgpcode.Array16, msgpcode.Array32:
		return s.enter(int(n), true)
	case msgpcode.Map16, msgpcode.Map32:
		return s.enter(int(n), false)
	case msgpcode.Str8, msgpcode.Str16, msgpcode.Str32, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32:
		return s.skip(int(n))
	case msgpcode.Uint64:
		if n > math.MaxInt64 {
			return errNumber
		}
	}
	return s.take(listPart)
}

// width is how many bytes of length or number follow a code: 0 for those that hold
// it themselves, and for those that are not used. Extensions are among these.
func width(code byte) int {
	switch code {
	case msgpcode.Uint8, msgpcode.Int8, msgpcode.Str8, msgpcode.Bin8:
		return 1
	case msgpcode.Uint16, msgpcode.Int16, msgpcode.Str16, msgpcode.Bin16, msgpcode.Array16, msgpcode.Map16:
		return 2
	case msgpcode.Uint32, msgpcode.Int32, msgpcode.Str32, msgpcode.Bin32, msgpcode.Array32, msgpcode.Map32, msgpcode.Float:
		return 4
	case msgpcode.Uint64, msgpcode.Int64, msgpcode.Double:
		return 8
	}
	return 0
}

// number reads a big-endian number of 1, 2, 4 or 8 bytes; none is for codes that
// are not used.
func (s *scanner) number(width int) (uint64, error) {
	if width == 0 {
		return 0, errKind
	}
	if len(s.data)-s.at < width {
		return 0, errCut
	}
	var b [8]byte
	copy(b[8-width:], s.data[s.at:s.at+width])
	s.at += width
	return binary.BigEndian.Uint64(b[:]), nil
}

// skip passes over a string.
func (s *scanner) skip(n int) error {
	if len(s.data)-s.at < n {
		return errCut
	}
	s.at += n
	return s.take(listPart)
}

// enter begins a list or map, which can't have more parts than bytes are left.
func (s *scanner) enter(n int, list bool) error {
	parts := n
	if !list {
		parts = 2 * n
		s.budget -= n * mapPart
	}
	if parts > len(s.data)-s.at {
		return errCut
	}
	if list && 2*n*largestPart > memoryAhead+memoryPerByte*len(s.data) {
		return errMemory
	}
	if err := s.take(largestPart); err != nil {
		return err
	}
	if s.depth == maxDepth {
		return errDeep
	}
	s.depth++
	s.open[s.depth] = level{parts, list}
	return nil
}

// take counts what a part of a list needs; parts of maps were counted with the
// map.
func (s *scanner) take(memory int) error {
	if s.open[s.depth].list {
		s.budget -= memory
	}
	if s.budget < 0 {
		return errMemory
	}
	return nil
}
