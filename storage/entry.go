package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/s2"

	"ubl"
)

// The format of a log entry, version 1. Numbers are varints, texts and byte
// strings have their length in front.
//
//	entry    1, then in one S2 block: operations until the end
//	batch    1, tenant, shard, generation, epoch, head, next, atoms, counters, records
//	note     2, epoch, name, from, value
//	head     seq, hash
//	counter  key, from, to
//	record   key, 0 | key, 1, value
//
// Entries are compressed because their bytes go over the network, through
// encryption and to disk once a replica, and atoms are much alike.
//
// Entries are applied on every replica and again after a restart, so how one is
// read may never change: a new meaning takes a new version.
const (
	entryVersion = 1
	opBatch      = 1
	opNote       = 2
	// maxEntry bounds what an entry may decompress to. Nothing gets near it: the
	// largest command records the tools of a server (ubl.MaxDefinitions, 8 MiB,
	// twice), and the queue refuses a batch beyond [Options.QueueBytes] before it
	// gets into the log. raft-wal's own bound is 64 MiB, of what is compressed.
	maxEntry = 256 * mib
)

// operation is one thing that an entry does: a batch or a note.
type operation struct {
	batch *ubl.Batch
	note  *note
}

var errEntry = errors.New("a log entry cannot be read")

func appendOperation(dst []byte, op operation) []byte {
	if op.note != nil {
		return appendNote(append(dst, opNote), op.note)
	}
	return appendBatch(append(dst, opBatch), op.batch)
}

func appendBatch(dst []byte, b *ubl.Batch) []byte {
	dst = appendText(dst, string(b.Group.Tenant))
	dst = appendText(dst, b.Group.Shard)
	dst = binary.AppendVarint(dst, b.Lease.Generation)
	dst = binary.AppendVarint(dst, b.Lease.Epoch)
	dst = appendEntryHead(dst, b.Head)
	dst = appendEntryHead(dst, b.Next)
	dst = binary.AppendUvarint(dst, uint64(len(b.Atoms)))
	for _, a := range b.Atoms {
		dst = appendBytes(dst, a)
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.Counters)))
	for _, c := range b.Counters {
		dst = appendBytes(dst, c.Key)
		dst = binary.AppendVarint(dst, c.From)
		dst = binary.AppendVarint(dst, c.To)
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.Records)))
	for _, r := range b.Records {
		dst = appendBytes(dst, r.Key)
		if r.Value == nil {
			dst = append(dst, 0)
		} else {
			dst = appendBytes(append(dst, 1), r.Value)
		}
	}
	return dst
}

func appendNote(dst []byte, n *note) []byte {
	dst = binary.AppendVarint(dst, n.epoch)
	dst = appendText(dst, n.name)
	dst = binary.AppendVarint(dst, n.from)
	return appendBytes(dst, n.value)
}

func appendEntryHead(dst []byte, h ubl.LedgerHead) []byte {
	return appendText(binary.AppendVarint(dst, h.Seq), h.HeadHash)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// sealEntry makes an entry of operations in scratch, which is grown where it is
// too small.
func sealEntry(ops, scratch []byte) []byte {
	scratch = slices.Grow(scratch[:0], 1+s2.MaxEncodedLen(len(ops)))
	block := s2.Encode(scratch[1:cap(scratch)], ops)
	scratch = scratch[:1+len(block)]
	scratch[0] = entryVersion
	return scratch
}

// decodeEntry reads an entry. What it returns refers to scratch, which is grown
// where it is too small, and is returned for the next.
func decodeEntry(data, scratch []byte) (ops []operation, _ []byte, err error) {
	if len(data) == 0 || data[0] != entryVersion {
		return nil, scratch, fmt.Errorf("%w: this program knows version %d", errEntry, entryVersion)
	}
	if n, err := s2.DecodedLen(data[1:]); err != nil || n > maxEntry {
		return nil, scratch, errEntry
	}
	if scratch, err = s2.Decode(scratch[:cap(scratch)], data[1:]); err != nil {
		return nil, scratch, fmt.Errorf("%w: %w", errEntry, err)
	}
	ops, err = decodeOperations(scratch)
	return ops, scratch, err
}

func decodeOperations(data []byte) ([]operation, error) {
	r := entryReader{rest: data}
	var ops []operation
	for len(r.rest) > 0 && !r.bad {
		switch r.byte() {
		case opBatch:
			ops = append(ops, operation{batch: r.batch()})
		case opNote:
			ops = append(ops, operation{note: &note{epoch: r.varint(), name: r.text(""), from: r.varint(), value: r.bytes()}})
		default:
			r.bad = true
		}
	}
	if r.bad {
		return nil, errEntry
	}
	return ops, nil
}

// entryReader reads until something is wrong; then bad is set and all that
// follows is empty.
type entryReader struct {
	rest []byte
	bad  bool
	// last is the batch before. The next one is nearly always of the same group and
	// begins with the head that this one ends with: their texts are shared.
	last ubl.Batch
}

func (r *entryReader) batch() *ubl.Batch {
	b := &ubl.Batch{
		Group: ubl.Group{Tenant: ubl.TenantID(r.text(string(r.last.Group.Tenant))), Shard: r.text(r.last.Group.Shard)},
		Lease: ubl.Lease{Generation: r.varint(), Epoch: r.varint()},
		Head:  r.head(), Next: r.head(),
	}
	r.last = ubl.Batch{Group: b.Group, Next: b.Next}
	b.Atoms = make([][]byte, r.count())
	for i := range b.Atoms {
		b.Atoms[i] = r.bytes()
	}
	b.Counters = make([]ubl.Counter, r.count())
	for i := range b.Counters {
		b.Counters[i] = ubl.Counter{Key: r.bytes(), From: r.varint(), To: r.varint()}
	}
	b.Records = make([]ubl.Record, r.count())
	for i := range b.Records {
		b.Records[i].Key = r.bytes()
		switch r.byte() {
		case 0:
		case 1:
			b.Records[i].Value = r.bytes()
		default:
			r.bad = true
		}
	}
	return b
}

func (r *entryReader) head() ubl.LedgerHead {
	return ubl.LedgerHead{Seq: r.varint(), HeadHash: r.text(r.last.Next.HeadHash)}
}

func (r *entryReader) fail() { r.rest, r.bad = nil, true }

func (r *entryReader) byte() byte {
	if len(r.rest) == 0 {
		r.fail()
		return math.MaxUint8
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *entryReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count is a number of things of at least one byte each.
func (r *entryReader) count() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > uint64(len(r.rest)-n) {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *entryReader) bytes() []byte {
	n := r.count()
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	if b == nil {
		b = []byte{}
	}
	return b
}

// text is like where that is what it reads.
func (r *entryReader) text(like string) string {
	b := r.bytes()
	if string(b) == like {
		return like
	}
	return string(b)
}
