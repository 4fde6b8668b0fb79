package actors

import "encoding/binary"

// filterKeys is how many keys one filter covers, at 16 bits a key: about one
// in 400 absent keys is looked up in vain.
const (
	filterKeys  = 1 << 16
	filterWords = filterKeys * 16 / 64
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
		*f = append(*f, filter{first: n, bits: make([]uint64, filterWords)})
	}
	newest := &(*f)[len(*f)-1]
	newest.last = n
	for _, p := range probes(hash) {
		newest.bits[p/64] |= 1 << (p % 64)
	}
}

// mayHold reports whether the key may be among those covered.
func (f filters) mayHold(hash [16]byte) bool {
	for i := range f {
		if f[i].mayHold(hash) {
			return true
		}
	}
	return false
}

func (f *filter) mayHold(hash [16]byte) bool {
	for _, p := range probes(hash) {
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

// probes takes four positions out of a hash, which is uniform already.
func probes(hash [16]byte) [4]uint32 {
	var p [4]uint32
	for i := range p {
		p[i] = binary.BigEndian.Uint32(hash[4*i:]) % (filterWords * 64)
	}
	return p
}
