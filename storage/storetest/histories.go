package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ubl"
)

// model is the contract for one group as plain data: what a store must hold
// after the same submissions.
type model struct {
	lease    ubl.Lease
	head     ubl.LedgerHead
	atoms    []string
	counters map[string]int64
	records  map[string]string
}

// apply reports whether the batch is accepted.
func (m *model) apply(b *ubl.Batch) bool {
	if b.Lease != m.lease || b.Head != m.head {
		return false
	}
	for _, c := range b.Counters {
		if m.counters[string(c.Key)] != c.From {
			return false
		}
	}
	for _, a := range b.Atoms {
		m.atoms = append(m.atoms, string(a))
	}
	for _, c := range b.Counters {
		m.counters[string(c.Key)] = c.To
	}
	for _, r := range b.Records {
		if r.Value == nil {
			delete(m.records, string(r.Key))
		} else {
			m.records[string(r.Key)] = string(r.Value)
		}
	}
	m.head = b.Next
	return true
}

func (m *model) state() state {
	s := state{Head: m.head, Atoms: m.atoms, Counters: m.counters}
	for _, k := range slices.Sorted(maps.Keys(m.records)) {
		s.Records = append(s.Records, k+"="+m.records[k])
	}
	return s
}

var historyCounters = []string{"c1", "c2"}

// history drives a store and the models of some groups with the same steps.
type history struct {
	h       Harness
	groups  []ubl.Group
	models  map[ubl.Group]*model
	pending []outcome
}

type outcome struct {
	want bool
	have chan error
}

func randomHistories(t *testing.T, h Harness) {
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++ // groups of its own: each history begins empty
		x := &history{h: h, models: map[ubl.Group]*model{}}
		for i := range 3 {
			g := group(fmt.Sprintf("history%d.%d", run, i))
			x.groups = append(x.groups, g)
			x.models[g] = &model{head: ubl.LedgerHead{HeadHash: ubl.Genesis}, counters: map[string]int64{}, records: map[string]string{}}
			x.begin(t, g)
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": x.submit,
			"begin":  func(t *rapid.T) { x.begin(t, rapid.SampledFrom(x.groups).Draw(t, "group")) },
			"read":   x.compare,
			"reopen": x.reopen,
		})
		x.compare(t)
	})
}

// submit submits without waiting; one batch in three expects something wrong.
func (x *history) submit(t *rapid.T) {
	m := x.models[rapid.SampledFrom(x.groups).Draw(t, "group")]
	w := Writer{Group: x.groupOf(m), Lease: m.lease, Head: m.head}
	b := w.Batch(rapid.SliceOfN(rapid.StringN(0, 20, 2000), 0, 3).Draw(t, "atoms")...)
	for _, key := range historyCounters {
		if rapid.Bool().Draw(t, "counter") {
			b.Counters = append(b.Counters, counter(key, m.counters[key], rapid.Int64().Draw(t, "to")))
		}
	}
	for range rapid.IntRange(0, 6).Draw(t, "records") {
		r := ubl.Record{Key: []byte("r" + rapid.StringMatching(`[a-c]{0,3}`).Draw(t, "key"))}
		if rapid.IntRange(0, 3).Draw(t, "delete") > 0 {
			size := rapid.SampledFrom([]int{0, 1, 100, 900, 5000, 70000}).Draw(t, "size")
			r.Value = slices.Repeat([]byte{byte('A' + size%7)}, size)
		}
		b.Records = append(b.Records, r)
	}
	switch rapid.IntRange(0, 11).Draw(t, "spoil") {
	case 0:
		b.Lease.Generation--
	case 1:
		b.Head.HeadHash, b.Next.HeadHash = ubl.Genesis+"?", ubl.Genesis+"!"
		if len(b.Atoms) == 0 {
			b.Next = b.Head
		}
	case 2:
		b.Counters = append(b.Counters, counter("c2", m.counters["c2"]+1, 0))
	}
	o := outcome{want: m.apply(b), have: make(chan error, 1)}
	x.pending = append(x.pending, o)
	x.h.Store().Submit(b, func(err error) { o.have <- err })
}

func (x *history) groupOf(m *model) ubl.Group {
	for g, other := range x.models {
		if m == other {
			return g
		}
	}
	panic("a model without a group")
}

func (x *history) begin(t *rapid.T, g ubl.Group) {
	w := begin(t, x.h.Store(), g)
	if w.Head != x.models[g].head {
		t.Fatalf("Begin gave head %v, want %v", w.Head, x.models[g].head)
	}
	x.models[g].lease = w.Lease
}

func (x *history) reopen(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
		return
	}
	if err := x.h.Reopen(); err != nil {
		t.Fatalf("Reopen: %v", err)
	}
	for _, g := range x.groups {
		x.begin(t, g)
	}
}

// compare waits for all outcomes and reads everything.
func (x *history) compare(t *rapid.T) {
	for i, o := range x.pending {
		err := receive(t, o.have)
		if o.want != (err == nil) || !o.want && ubl.CodeOf(err) != ubl.CodeConflict {
			t.Fatalf("submission %d of %d settled with %v, want accepted: %v", i, len(x.pending), err, o.want)
		}
	}
	x.pending = nil
	for _, g := range x.groups {
		want := x.models[g].state()
		if have := stateOf(t, x.h.Store(), g, historyCounters...); !equal(have, want) {
			t.Fatalf("%v\nhave %v\nwant %v", g, have, want)
		}
	}
}
