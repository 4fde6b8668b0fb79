package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"ubl"
)

// Digest is [ubl.Digest].
type Digest = ubl.Digest

const (
	digestRange = 64
	// digestParts is how many digests a partition has. A run's ranges are all in one,
	// so that a run that grows leaves the others comparable.
	digestParts = 32
)

// digests are those of a sweep; nil where nobody compares them.
type digests struct {
	parts [digestParts]struct {
		count       int64
		ranges, sum uint64
	}
	// Of the run that is being read:
	part   int
	ranges int64  // how many of its ranges count
	seen   int64  // numbers of the range
	wrote  uint64 // which of them are rewritten
	id     uint64
	hash   hash.Hash
}

func newDigests() *digests { return &digests{hash: sha256.New()} }

// begin is told of each run.
func (d *digests) begin(r *run) {
	if d == nil {
		return
	}
	sum := sha256.Sum256(r.prefix)
	d.part = int(sum[8]) % digestParts
	d.id = binary.BigEndian.Uint64(sum[:])
	d.seen = 0
	d.ranges = 0
	if r.kind.Fixed {
		d.ranges = steady(r.newest / digestRange)
	}
}

// steady is the largest number up to n with two binary digits that aren't zero.
func steady(n int64) int64 {
	if n <= 0 {
		return 0
	}
	high := int64(1)
	for high*2 <= n {
		high *= 2
	}
	if half := high / 2; half > 0 && high+half <= n {
		return high + half
	}
	return high
}

// gap is told where numbers of a run are missing: the range there isn't whole.
func (d *digests) gap() {
	if d != nil {
		d.seen = -1
	}
}

// add is told of each record of a run, in order.
func (d *digests) add(r *run, n int64, key, value []byte) {
	if d == nil {
		return
	}
	block, at := (n-1)/digestRange, (n-1)%digestRange
	if n < 1 || block >= d.ranges {
		return
	}
	if at == 0 {
		d.seen, d.wrote = 0, 0
		d.hash.Reset()
	}
	if d.seen != at {
		return // the range isn't whole
	}
	d.seen++
	for i := 0; r.kind.Rewritten != 0 && i < len(value) && value[i] == r.kind.Rewritten; i++ {
		d.wrote ^= mix(^d.id-uint64(i), uint64(n))
	}
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(value)))
	d.hash.Write(key)
	d.hash.Write(size[:])
	d.hash.Write(value)
	if d.seen == digestRange {
		p := &d.parts[d.part]
		p.count++
		p.ranges ^= mix(d.id, uint64(block)) ^ d.wrote
		p.sum ^= binary.BigEndian.Uint64(d.hash.Sum(nil))
		d.seen = 0
	}
}

// mix is a number of its own for each range.
func mix(id, block uint64) uint64 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], id)
	binary.BigEndian.PutUint64(b[8:], block)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:])
}

func (d *digests) list() []Digest {
	list := make([]Digest, digestParts)
	for i, p := range d.parts {
		list[i] = Digest{Count: p.count, Ranges: hexOf(p.ranges), Sum: hexOf(p.sum)}
	}
	return list
}

func hexOf(n uint64) string { return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, n)) }
