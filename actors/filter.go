package actors

import (
	"encoding/binary"
	"iter"
)

// A filter covers filterKeys keys with 32 bits and filterProbes probes each:
// about one absent key in 300,000 is looked up in vain.
const (
	filterKeys   = 1 << 16
	filterBits   = filterKeys * 32
	filterProbes = 10
)

// filters are Bloom filters over the keys that have left memory, each over a
// run of numbers. They spare a look into the store for a key never seen, which
// is nearly every key.
type filters []filter

type filter struct {
	first, last int64 // numbers of the keys covered
	bits        []uint64
}

func (f *filters) add(n int64, hash [16]byte) {
	if len(*f) == 0 || n >= (*f)[len(*f)-1].first+filterKeys {
		*f = append(*f, filter{first: n, bits: make([]uint64, filterBits/64)})
	}
	newest := &(*f)[len(*f)-1]
	newest.last = n
	for p := range probes(hash) {
		newest.bits[p/64] |= 1 << (p % 64)
	}
}

// holding yields the runs of numbers that the key may be among.
func (f filters) holding(hash [16]byte) iter.Seq2[int64, int64] {
	return func(yield func(first, last int64) bool) {
		for i := range f {
			if f[i].mayHold(hash) && !yield(f[i].first, f[i].last) {
				return
			}
		}
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

// drop forgets the filters whose keys are all below low.
func (f *filters) drop(low int64) {
	for len(*f) > 0 && (*f)[0].last < low {
		*f = (*f)[1:]
	}
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
