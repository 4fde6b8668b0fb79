package wire

import (
	"encoding/binary"
	"errors"
	"math"
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
)

var (
	errCut    = errors.New("it ends too early")
	errMore   = errors.New("something follows its end")
	errDeep   = errors.New("it is nested too deep")
	errMemory = errors.New("it would take far more memory than bytes")
	errKind   = errors.New("it holds a value of a kind that is not used")
	errNumber = errors.New("it holds a number beyond 63 bits")
	errOther  = errors.New("a value is of another kind than expected")
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
	case code == codeNil:
		return s.take(largestPart)
	case smallNumber(code) || code == codeFalse || code == codeTrue:
		return s.take(listPart)
	case smallString(code):
		return s.skip(int(code & 0x1f))
	case smallList(code):
		return s.enter(int(code&0x0f), true)
	case smallMap(code):
		return s.enter(int(code&0x0f), false)
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
	case codeList16, codeList32:
		return s.enter(int(n), true)
	case codeMap16, codeMap32:
		return s.enter(int(n), false)
	case codeStr8, codeStr16, codeStr32, codeBin8, codeBin16, codeBin32:
		return s.skip(int(n))
	case codeUint64:
		if n > math.MaxInt64 {
			return errNumber
		}
	}
	return s.take(listPart)
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
