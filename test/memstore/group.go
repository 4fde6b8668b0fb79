package memstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"ubl"
)

// group is one group's keys. It is a [ubl.Snapshot] while the disk is locked.
type group struct {
	granted int64     // leases
	lease   ubl.Lease // the newest, zero once it is given back
	head    ubl.LedgerHead
	atoms   [][]byte
	records []ubl.Record // and counters, as 8 bytes; in the order of their keys
	late    []*ubl.Batch // that become durable at the next barrier
}

// fits refuses a batch that was built on another state.
func (x *group) fits(b *ubl.Batch) error {
	switch {
	case b.Lease != x.lease || b.Lease == ubl.Lease{}:
		return ubl.Errorf(ubl.CodeConflict, "the lease is over")
	case b.Head != x.head:
		return ubl.Errorf(ubl.CodeConflict, "the head is another")
	}
	for _, c := range b.Counters {
		if n, err := x.Counter(c.Key); err != nil || n != c.From {
			return ubl.Errorf(ubl.CodeConflict, "counter %q is %d, not %d; %v", c.Key, n, c.From, err)
		}
	}
	return nil
}

func (x *group) apply(b *ubl.Batch) {
	for _, atom := range b.Atoms {
		x.atoms = append(x.atoms, bytes.Clone(atom))
	}
	for _, c := range b.Counters {
		x.put(c.Key, binary.BigEndian.AppendUint64(nil, uint64(c.To)))
	}
	for _, r := range b.Records {
		x.put(r.Key, r.Value)
	}
	x.head = b.Next
}

// settle has become durable what was told too early.
func (x *group) settle() (late []*ubl.Batch) {
	for _, b := range x.late {
		if x.fits(b) == nil {
			x.apply(b)
			late = append(late, b)
		}
	}
	x.late = nil
	return late
}

// freeze is what the group holds now. Atoms are only added, and values replaced.
func (x *group) freeze() *group {
	return &group{head: x.head, atoms: slices.Clip(x.atoms), records: slices.Clone(x.records)}
}

// put sets a key; nil removes it.
func (x *group) put(key, value []byte) {
	i, has := x.find(key)
	switch {
	case value == nil && has:
		x.records = slices.Delete(x.records, i, i+1)
	case value == nil:
	case has:
		x.records[i].Value = slices.Clone(value)
	default:
		x.records = slices.Insert(x.records, i, ubl.Record{Key: bytes.Clone(key), Value: append([]byte{}, value...)})
	}
}

func (x *group) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(x.records, key, func(r ubl.Record, key []byte) int { return bytes.Compare(r.Key, key) })
}

// Get implements [ubl.Snapshot].
func (x *group) Get(key []byte) ([]byte, error) {
	if i, has := x.find(key); has {
		return x.records[i].Value, nil
	}
	return nil, nil
}

// Counter implements [ubl.Snapshot].
func (x *group) Counter(key []byte) (int64, error) {
	v, _ := x.Get(key)
	switch len(v) {
	case 0:
		return 0, nil
	case 8:
		return int64(binary.BigEndian.Uint64(v)), nil
	}
	return 0, ubl.Damaged("%q is no counter", key)
}

// Atom implements [ubl.Snapshot].
func (x *group) Atom(seq int64) ([]byte, error) {
	if seq < 1 || seq > int64(len(x.atoms)) {
		return nil, nil
	}
	return x.atoms[seq-1], nil
}

// Head implements [ubl.Snapshot].
func (x *group) Head() (ubl.LedgerHead, error) { return x.head, nil }

// Ascend implements [ubl.Snapshot].
func (x *group) Ascend(from, to []byte, fn func(key, value []byte) bool) error {
	for _, r := range x.within(from, to) {
		if !fn(r.Key, r.Value) {
			break
		}
	}
	return nil
}

// Descend implements [ubl.Snapshot].
func (x *group) Descend(from, to []byte, fn func(key, value []byte) bool) error {
	for _, r := range slices.Backward(x.within(from, to)) {
		if !fn(r.Key, r.Value) {
			break
		}
	}
	return nil
}

func (x *group) within(from, to []byte) []ubl.Record {
	i, _ := x.find(from)
	end, _ := x.find(to)
	return x.records[i:max(i, end)]
}

func (x *group) dump() map[string]string {
	all := make(map[string]string, len(x.records)+len(x.atoms))
	for _, r := range x.records {
		all[string(r.Key)] = string(r.Value)
	}
	for i, atom := range x.atoms {
		all[fmt.Sprintf("atom %d", i+1)] = string(atom)
	}
	return all
}
