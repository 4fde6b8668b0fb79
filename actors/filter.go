package actors

import (
	"encoding/binary"
	"iter"

	"ubl"
)

// A filter covers a run of filterKeys keys with 32 bits and filterProbes probes
// each: about one absent key in 300,000 is looked up in vain.
const (
	filterKeys   = 1 << 16
	filterBits   = filterKeys * 32
	filterProbes = 10
)

// runStart is the number of the first key of n's run.
func runStart(n int64) int64 { return n - n%filterKeys }

// endsRun reports whether n is the last of its run.
func endsRun(n int64) bool { return (n+1)%filterKeys == 0 }

// filters are Bloom filters over the keys that have left memory, each over a
// run of numbers, oldest first and without holes. They spare a look into the
// store for a key never seen, which is nearly every key.
type filters []filter

type filter struct {
	first, last int64    // numbers of the keys covered
	at          ubl.Time // of the newest of them
	bits        []uint64
}

// add covers the next key, and is the filter that does.
func (f *filters) add(e entry) *filter {
	if len(*f) == 0 || e.n == runStart(e.n) {
		*f = append(*f, filter{first: e.n})
	}
	newest := &(*f)[len(*f)-1]
	newest.add(e)
	return newest
}

func (f *filter) add(e entry) {
	if f.bits == nil {
		f.bits = make([]uint64, filterBits/64)
	}
	f.last, f.at = e.n, max(f.at, e.at)
	for p := range probes(e.key.hash) {
		f.bits[p/64] |= 1 << (p % 64)
	}
}

func (f *filter) mayHold(hash [16]byte) bool {
	for p := range probes(hash) {
		if f.bits[p/64]&(1<<(p%64)) == 0 {
			return false
		}
	}
	return true
}

// probes yields positions made of the two halves of a hash, which is uniform
// already.
func probes(hash [16]byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		a, b := binary.BigEndian.Uint64(hash[:8]), binary.BigEndian.Uint64(hash[8:])|1
		for i := range uint64(filterProbes) {
			if !yield((a + i*b) % filterBits) {
				return
			}
		}
	}
}

// filterSize is a version byte, then at and the bits.
const filterSize = 1 + 8 + filterBits/8

const filterVersion = 1

func (f *filter) encode() []byte {
	b := make([]byte, 0, filterSize)
	b = append(b, filterVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(f.at))
	for _, word := range f.bits {
		b = binary.BigEndian.AppendUint64(b, word)
	}
	return b
}

// decode takes over at and bits.
func (f *filter) decode(b []byte) error {
	if len(b) != filterSize || b[0] != filterVersion {
		return ubl.Errorf(ubl.CodeInternal, "a filter of idempotency keys is stored in an unknown form")
	}
	f.at = ubl.Time(binary.BigEndian.Uint64(b[1:]))
	f.bits = make([]uint64, filterBits/64)
	for i := range f.bits {
		f.bits[i] = binary.BigEndian.Uint64(b[9+8*i:])
	}
	return nil
}
