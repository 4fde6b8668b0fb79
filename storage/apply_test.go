package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"ubl"
)

// Entries here are made by hand, so that they say what no engine would propose.

// openApplier opens a replica of one partition that only applies. Two of them
// have the same label, and so the same files if they applied the same.
func openApplier(t testing.TB, dir string) *Engine {
	t.Helper()
	e, err := OpenReplicas(dir, &Options{
		Partitions: 1,
		Random:     strings.NewReader("sixteen bytes ok"),
		Propose: func(int, []byte) Proposal {
			return func() ([]error, error) { return nil, errors.New("nothing is proposed here") }
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// dumpPartition is every key and value of a partition, as they are on disk.
func dumpPartition(t interface{ Fatal(...any) }, e *Engine) map[string]string {
	tx, err := e.partitions[0].beginRead()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	all := map[string]string{}
	for _, bucket := range [][]byte{dataBucket, metaBucket} {
		err := tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			all[fmt.Sprintf("%s %q", bucket, k)] = string(v)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestOneOperationIsRefusedAlone puts an operation that doesn't fit between two
// that do.
func TestOneOperationIsRefusedAlone(t *testing.T) {
	const term = 5
	g := ubl.Group{Tenant: "t:a", Shard: "0"}
	head := ubl.LedgerHead{HeadHash: ubl.Genesis}
	batch := func(key string, spoil func(*ubl.Batch)) operation {
		b := &ubl.Batch{Group: g, Lease: ubl.Lease{Generation: 1, Epoch: term}, Head: head, Next: head,
			Records: []ubl.Record{{Key: []byte(key), Value: []byte("value")}}}
		if spoil != nil {
			spoil(b)
		}
		return operation{batch: b}
	}
	tests := []struct {
		name string
		op   operation
		want ubl.Code
	}{
		{"an earlier epoch", batch("x", func(b *ubl.Batch) { b.Lease.Epoch-- }), ubl.CodeConflict},
		{"a later epoch", batch("x", func(b *ubl.Batch) { b.Lease.Epoch++ }), ubl.CodeConflict},
		{"no lease", batch("x", func(b *ubl.Batch) { b.Lease.Generation = 0 }), ubl.CodeConflict},
		{"another head", batch("x", func(b *ubl.Batch) { b.Head.HeadHash = "h:1"; b.Next = b.Head }), ubl.CodeConflict},
		{"a counter that moved", batch("x", func(b *ubl.Batch) { b.Counters = []ubl.Counter{{Key: []byte("c"), From: 3, To: 4}} }), ubl.CodeConflict},
		{"its second counter moved", batch("x", func(b *ubl.Batch) {
			b.Counters = []ubl.Counter{{Key: []byte("c"), From: 0, To: 1}, {Key: []byte("d"), From: 1, To: 2}}
		}), ubl.CodeConflict},
		{"a gap in seq", batch("x", func(b *ubl.Batch) { b.Next.Seq++ }), ubl.CodeInternal},
		{"a record in the head's place", batch("h", nil), ubl.CodeInternal},
		{"a group without a tenant", batch("x", func(b *ubl.Batch) { b.Group.Tenant = "" }), ubl.CodeInternal},
		{"a group whose name is too long for its atoms", batch("x", func(b *ubl.Batch) {
			b.Group.Shard = strings.Repeat("s", bolt.MaxKeySize-len(b.Group.Tenant)-len("|")-len("\x00")-len("x"))
			b.Atoms, b.Next = [][]byte{[]byte("{}")}, ubl.LedgerHead{Seq: 1, HeadHash: "h:1"}
		}), ubl.CodeInternal},
		{"a note of an earlier epoch", operation{note: &note{epoch: term - 1, name: "x"}}, ubl.CodeConflict},
		{"a note over another version", operation{note: &note{epoch: term, name: "x", from: 1}}, ubl.CodeConflict},
		{"a note without a name", operation{note: &note{epoch: term}}, ubl.CodeInternal},
		{"a note with a long name", operation{note: &note{epoch: term, name: strings.Repeat("x", maxNoteName+1)}}, ubl.CodeInternal},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := openApplier(t, t.TempDir())
			results, err := e.Apply(0, []Entry{{1, term, encodeEntry(batch("before", nil), test.op, batch("m", nil))}})
			if err != nil || len(results) != 1 || len(results[0]) != 3 {
				t.Fatalf("Apply: %v, %v", results, err)
			}
			if r := results[0]; r[0] != nil || ubl.CodeOf(r[1]) != test.want || r[2] != nil {
				t.Errorf("answers %v", r)
			}
			have := slices.Sorted(maps.Keys(dumpPartition(t, e)))
			want := []string{`data "t:a|0\x00before"`, `data "t:a|0\x00h"`, `data "t:a|0\x00m"`, `meta "applied"`, `meta "format"`}
			if !slices.Equal(have, want) {
				t.Errorf("it holds %s", have)
			}
		})
	}
}

// replicaModel is what a partition must hold after a log, as plain data.
type replicaModel struct {
	groups map[ubl.Group]*groupModel
	notes  map[string]int64 // versions
}

type groupModel struct {
	head ubl.LedgerHead
	keys map[string][]byte // records and counters: they share one space
}

func (m *replicaModel) group(g ubl.Group) *groupModel {
	if m.groups[g] == nil {
		m.groups[g] = &groupModel{head: ubl.LedgerHead{HeadHash: ubl.Genesis}, keys: map[string][]byte{}}
	}
	return m.groups[g]
}

func (g *groupModel) counter(key string) int64 {
	v, err := parseCounter(g.keys[key])
	if err != nil {
		panic(err) // the test writes none such
	}
	return v
}

// apply reports whether the operation is accepted.
func (m *replicaModel) apply(op operation, term int64) bool {
	if n := op.note; n != nil {
		ok := n.epoch == term && n.from == m.notes[n.name]
		if ok {
			m.notes[n.name]++
		}
		return ok
	}
	b, g := op.batch, m.group(op.batch.Group)
	if b.Lease.Epoch != term || b.Lease.Generation == 0 || b.Head != g.head {
		return false
	}
	for _, c := range b.Counters {
		if g.counter(string(c.Key)) != c.From {
			return false
		}
	}
	for _, r := range b.Records {
		if r.Value == nil {
			delete(g.keys, string(r.Key))
		} else {
			g.keys[string(r.Key)] = r.Value
		}
	}
	for _, c := range b.Counters {
		g.keys[string(c.Key)] = counterBytes(c.To)
	}
	g.head = b.Next
	return true
}

func counterBytes(v int64) []byte {
	return []byte{byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
}

// drawNext draws an operation that fits what the model holds, or one that
// doesn't in one regard. Records and counters may meet in one key, which no
// family does: even then replicas may not part.
func drawNext(t *rapid.T, m *replicaModel, term int64) operation {
	spoil := rapid.IntRange(0, 9).Draw(t, "spoil")
	epoch := term
	if spoil == 0 {
		epoch--
	}
	if rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
		name := rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "name")
		from := m.notes[name]
		if spoil == 1 {
			from++
		}
		return operation{note: &note{epoch: epoch, name: name, from: from, value: []byte(fmt.Sprint(term))}}
	}
	g := ubl.Group{Tenant: rapid.SampledFrom([]ubl.TenantID{"t:a", "t:b"}).Draw(t, "tenant"), Shard: "0"}
	model := m.group(g)
	b := &ubl.Batch{Group: g, Lease: ubl.Lease{Generation: rapid.Int64Range(1, 3).Draw(t, "generation"), Epoch: epoch}, Head: model.head}
	if spoil == 2 {
		b.Head.HeadHash += "?"
	}
	b.Next = b.Head
	for range rapid.IntRange(0, 2).Draw(t, "atoms") {
		b.Atoms = append(b.Atoms, fmt.Appendf(nil, "atom %d", b.Next.Seq+1))
		b.Next.Seq, b.Next.HeadHash = b.Next.Seq+1, fmt.Sprintf("h:%d.%d", term, b.Next.Seq+1)
	}
	for _, key := range []string{"c1", "c2", "c"} {
		if rapid.Bool().Draw(t, "counter") {
			from := model.counter(key)
			if spoil == 3 {
				from++
			}
			b.Counters = append(b.Counters, ubl.Counter{Key: []byte(key), From: from, To: rapid.Int64Range(0, 9).Draw(t, "to")})
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "records") {
		r := ubl.Record{Key: []byte(rapid.SampledFrom([]string{"c1", "c", "r1", "r2", "r"}).Draw(t, "key"))}
		if rapid.IntRange(0, 2).Draw(t, "put") > 0 {
			r.Value = counterBytes(rapid.Int64Range(0, 9).Draw(t, "value"))
		}
		b.Records = append(b.Records, r)
	}
	return operation{batch: b}
}

// TestReplicasComeToTheSame feeds one log to two replicas: to one entry by
// entry, each committed by itself, to the other in pieces of any size, some
// twice, with commits, restarts and snapshots of the first between them.
// Answers and files must be the same, and be what the model says.
func TestReplicasComeToTheSame(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	engines := [2]*Engine{openApplier(t, dirs[0]), openApplier(t, dirs[1])}
	rapid.Check(t, func(rt *rapid.T) {
		for _, e := range engines {
			if err := e.Reset(0); err != nil {
				rt.Fatal(err)
			}
		}
		model := &replicaModel{groups: map[ubl.Group]*groupModel{}, notes: map[string]int64{}}
		log, want := drawLog(rt, model)
		for i, entry := range log {
			results, err := engines[0].Apply(0, []Entry{entry})
			if err != nil {
				rt.Fatal(err)
			}
			compareAnswers(rt, entry, results[0], want[i])
			if err := engines[0].partitions[0].flush(); err != nil {
				rt.Fatal(err)
			}
		}
		for at := 0; at < len(log); {
			end := rapid.IntRange(at+1, len(log)).Draw(rt, "end")
			from := rapid.IntRange(0, at).Draw(rt, "again")
			results, err := engines[1].Apply(0, log[from:end])
			if err != nil {
				rt.Fatal(err)
			}
			for i, have := range results {
				if from+i < at {
					if have != nil {
						rt.Fatalf("entry %d was applied again", from+i+1)
					}
					continue
				}
				compareAnswers(rt, log[from+i], have, want[from+i])
			}
			at = end
			between(t, rt, &engines[1], dirs[1])
		}
		first, second := dumpPartition(rt, engines[0]), dumpPartition(rt, engines[1])
		if !maps.Equal(first, second) {
			rt.Fatalf("the replicas differ:\n%q\n%q", first, second)
		}
		compareModel(rt, first, model)
	})
}

func drawLog(t *rapid.T, model *replicaModel) (log []Entry, want [][]bool) {
	term := int64(1)
	for i := range rapid.IntRange(1, 12).Draw(t, "entries") {
		term += rapid.Int64Range(0, 1).Draw(t, "elections")
		var ops []operation
		accepted := []bool{}
		for range rapid.IntRange(0, 4).Draw(t, "operations") {
			op := drawNext(t, model, term)
			ops = append(ops, op)
			accepted = append(accepted, model.apply(op, term))
		}
		log = append(log, Entry{Index: uint64(i + 1), Term: uint64(term), Data: encodeEntry(ops...)})
		want = append(want, accepted)
	}
	return log, want
}

func compareAnswers(t *rapid.T, entry Entry, have []error, want []bool) {
	if have == nil || len(have) != len(want) {
		t.Fatalf("entry %d has %d operations and got %d answers", entry.Index, len(want), len(have))
	}
	for i, err := range have {
		if (err == nil) != want[i] || err != nil && ubl.CodeOf(err) != ubl.CodeConflict {
			t.Fatalf("entry %d, operation %d: %v; accepted should be %v", entry.Index, i, err, want[i])
		}
	}
}

// between does what may happen to a replica between two pieces of the log.
func between(t *testing.T, rt *rapid.T, e **Engine, dir string) {
	switch rapid.IntRange(0, 9).Draw(rt, "between") {
	case 0, 1, 2:
		if err := (*e).partitions[0].flush(); err != nil {
			rt.Fatal(err)
		}
	case 3:
		if err := (*e).Close(); err != nil {
			rt.Fatal(err)
		}
		*e = openApplier(t, dir)
	case 4: // its own snapshot, as if a leader at the same index had sent it
		s, err := (*e).Snapshot(0)
		if err != nil {
			rt.Fatal(err)
		}
		var b bytes.Buffer
		_, err = s.WriteTo(&b)
		s.Release()
		if err == nil {
			err = (*e).Install(0, &b)
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// compareModel compares all groups; the notes' versions have been compared by
// their answers.
func compareModel(t *rapid.T, have map[string]string, m *replicaModel) {
	n := 0
	for key := range have {
		if strings.HasPrefix(key, "data ") {
			n++
		}
	}
	for g, model := range m.groups {
		for key, value := range model.keys {
			full := append(appendPrefix(nil, g), key...)
			if have[fmt.Sprintf("data %q", full)] != string(appendStored(nil, full, value)) {
				t.Fatalf("%s %s is not %x", g, key, value)
			}
			n--
		}
		head := append(appendPrefix(nil, g), headSpace)
		if stored, ok := have[fmt.Sprintf("data %q", head)]; ok || model.head.Seq > 0 {
			if n--; stored != string(appendStored(nil, head, appendHead(nil, model.head))) {
				t.Fatalf("the head of %s is not %v", g, model.head)
			}
		}
		n -= int(model.head.Seq) // its atoms
	}
	if n != 0 {
		t.Fatalf("%d keys too many", n)
	}
}

// TestReadersOutliveAnInstall: whoever began to read before a snapshot was
// installed doesn't wait for a transaction that the new file may never have.
func TestReadersOutliveAnInstall(t *testing.T) {
	e := openApplier(t, t.TempDir())
	p := e.partitions[0]
	for i := range 20 {
		if _, err := e.Apply(0, []Entry{{uint64(i + 1), 1, encodeEntry()}}); err != nil {
			t.Fatal(err)
		}
		if err := p.flush(); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := p.beginRead()
	if err != nil {
		t.Fatal(err)
	}
	id := uint64(tx.ID())
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := e.Reset(0); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.waitDurable(ended, id); err != nil {
		t.Errorf("it waits for transaction %d: %v", id, err)
	}
}
