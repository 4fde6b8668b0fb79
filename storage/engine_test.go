package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
	"ubl/test/leaks"
)

// TestMain fails the package when a goroutine outlives its engine.
func TestMain(m *testing.M) { leaks.Main(m) }

// harness runs the conformance suite on directories on disk.
type harness struct {
	dir    string
	engine *storage.Engine
}

func (h *harness) Store() ubl.Store { return h.engine }

func (h *harness) Reopen() (err error) {
	if err := h.engine.Close(); err != nil {
		return err
	}
	h.engine, err = storage.Open(h.dir, harnessOptions())
	return err
}

// Two partitions: enough for groups to meet and to miss each other.
func harnessOptions() *storage.Options { return &storage.Options{Partitions: 2} }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		h := &harness{dir: t.TempDir()}
		h.engine = open(t, h.dir, harnessOptions())
		t.Cleanup(func() { h.engine.Close() })
		return h
	})
}

// open opens an engine that the test need not close.
func open(t testing.TB, dir string, o *storage.Options) *storage.Engine {
	t.Helper()
	e, err := storage.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

var testGroup = ubl.Group{Tenant: "t:test", Shard: "0"}

// newWriter begins a group.
func newWriter(t testing.TB, e *storage.Engine, g ubl.Group) *storetest.Writer {
	t.Helper()
	w, err := storetest.NewWriter(t.Context(), e, g)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// submit submits and waits.
func submit(e *storage.Engine, b *ubl.Batch) error {
	done := make(chan error, 1)
	e.Submit(b, func(err error) { done <- err })
	return <-done
}

// message is a batch with two atoms and a record of the given size, under keys
// that tell its number.
func message(w *storetest.Writer, size int) *ubl.Batch {
	n := w.Head.Seq/2 + 1
	b := w.Batch(fmt.Sprintf("action %d of %s", n, w.Group), fmt.Sprintf("effect %d of %s", n, w.Group))
	b.Counters = []ubl.Counter{{Key: []byte("c"), From: n - 1, To: n}}
	b.Records = []ubl.Record{{Key: fmt.Appendf(nil, "m%06d", n), Value: bytes.Repeat([]byte{byte('A' + n%26)}, size)}}
	return b
}

// allGroups lists those of all partitions that have data.
func allGroups(ctx context.Context, e *storage.Engine) (all []ubl.Group, err error) {
	for n := range e.Partitions() {
		list, bad := e.GroupsOf(ctx, n)
		all, err = append(all, list...), errors.Join(err, bad)
	}
	return all, err
}

// contents reads everything, as group and key -> value.
func contents(t testing.TB, e *storage.Engine) (map[string]string, error) {
	t.Helper()
	groups, err := allGroups(t.Context(), e)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, g := range groups {
		err := e.View(t.Context(), g, func(s ubl.Snapshot) error {
			return s.Ascend(nil, nil, func(k, v []byte) bool {
				all[g.String()+" "+string(k)] = string(v)
				return true
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func mustContents(t testing.TB, e *storage.Engine) map[string]string {
	t.Helper()
	all, err := contents(t, e)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// fill writes messages to some groups, so that pages split and are freed.
func fill(t testing.TB, e *storage.Engine, groups, messages, size int) {
	t.Helper()
	for i := range groups {
		w := newWriter(t, e, ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:fill%d", i)), Shard: "0"})
		for range messages {
			if err := submit(e, message(w, size)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCloseSettlesEverything(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	w := newWriter(t, e, testGroup)
	var settled atomic.Int64
	const batches = 500
	for range batches {
		e.Submit(message(w, 100), func(err error) {
			if err != nil {
				t.Error(err)
			}
			settled.Add(1)
		})
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := settled.Load(); n != batches {
		t.Errorf("%d of %d batches were settled when Close returned", n, batches)
	}
	if head := newWriter(t, open(t, dir, nil), testGroup).Head; head != w.Head {
		t.Errorf("head %v after reopening, want %v", head, w.Head)
	}
}

func TestAfterClose(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	w := newWriter(t, e, testGroup)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []int
	done := make(chan struct{})
	mu.Lock() // Submit must not call back from within
	for i := range 50 {
		e.Submit(message(w, 1), func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("settled with %v", err)
			}
			if order = append(order, i); len(order) == 50 {
				close(done)
			}
		})
	}
	mu.Unlock()
	<-done
	if !slices.IsSorted(order) {
		t.Errorf("settled in the order %v", order)
	}
	_, _, errBegin := e.Begin(t.Context(), testGroup)
	errView := e.View(t.Context(), testGroup, func(ubl.Snapshot) error { return nil })
	_, errGroups := allGroups(t.Context(), e)
	for _, err := range []error{errBegin, errView, errGroups} {
		if ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("after Close: %v", err)
		}
	}
	if err := e.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestGroupsAreListed(t *testing.T) {
	e := open(t, t.TempDir(), &storage.Options{Partitions: 3})
	var want []string
	for i := range 40 {
		g := ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:g%d", i)), Shard: "0"}
		want = append(want, g.String())
		w := newWriter(t, e, g)
		for range 3 {
			if err := submit(e, message(w, 10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	newWriter(t, e, testGroup) // begun, but without data
	groups, err := allGroups(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, g := range groups {
		have = append(have, g.String())
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
}

func TestMalformedBatches(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	w := newWriter(t, e, testGroup)
	tests := []struct {
		name  string
		spoil func(b *ubl.Batch)
	}{
		{"a gap in seq", func(b *ubl.Batch) { b.Next.Seq++ }},
		{"a head that moves without atoms", func(b *ubl.Batch) { b.Atoms, b.Next.Seq = nil, 0 }},
		{"no tenant", func(b *ubl.Batch) { b.Group.Tenant = "" }},
		{"a zero byte in the group", func(b *ubl.Batch) { b.Group.Shard = "0\x00" }},
		{"a bar in the tenant", func(b *ubl.Batch) { b.Group.Tenant = "t:a|0" }},
		{"an empty key", func(b *ubl.Batch) { b.Records[0].Key = nil }},
		{"a record among the atoms", func(b *ubl.Batch) { b.Records[0].Key = []byte("a1") }},
		{"a counter in the head's place", func(b *ubl.Batch) { b.Counters[0].Key = []byte("h") }},
		{"a key that is too long", func(b *ubl.Batch) { b.Records[0].Key = bytes.Repeat([]byte("k"), 1<<15) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			head := w.Head
			b := message(w, 10)
			w.Head = head
			test.spoil(b)
			if err := submit(e, b); ubl.CodeOf(err) != ubl.CodeInternal {
				t.Errorf("settled with %v", err)
			}
		})
	}
	if all := mustContents(t, e); len(all) != 0 {
		t.Errorf("something was written: %q", all)
	}
	if err := submit(e, message(w, 10)); err != nil {
		t.Error(err)
	}
}

// TestQueueIsBounded holds the committer up and fills its queue.
func TestQueueIsBounded(t *testing.T) {
	e := open(t, t.TempDir(), &storage.Options{Partitions: 1, QueueBytes: 10_000})
	w := newWriter(t, e, testGroup)
	held, release := make(chan struct{}), make(chan struct{})
	e.Submit(message(w, 1), func(error) { close(held); <-release })
	<-held
	results := make(chan error, 100)
	for range 100 {
		e.Submit(message(w, 2000), func(err error) { results <- err })
	}
	if q := e.Stats().Partitions[0]; q.QueuedBytes > 10_000 {
		t.Errorf("%d bytes are queued", q.QueuedBytes)
	}
	close(release)
	refused := 0
	for range 100 {
		if ubl.CodeOf(<-results) == ubl.CodeOverloaded {
			refused++
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	if err := submit(e, message(newWriter(t, e, testGroup), 2000)); err != nil {
		t.Error(err)
	}
}

func TestObserver(t *testing.T) {
	var seen []storage.Commit
	e := open(t, t.TempDir(), &storage.Options{Partitions: 1, Observe: func(c storage.Commit) { seen = append(seen, c) }})
	w := newWriter(t, e, testGroup)
	if err := submit(e, message(w, 10)); err != nil {
		t.Fatal(err)
	}
	b := message(w, 10)
	b.Lease = ubl.Lease{}
	submit(e, b)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var sum storage.Commit
	for _, c := range seen {
		sum.Batches += c.Batches
		sum.Refused += c.Refused
		sum.Bytes += c.Bytes
		if c.Err != nil || c.Took <= 0 {
			t.Errorf("%+v", c)
		}
	}
	if sum.Batches != 1 || sum.Refused != 1 || sum.Bytes == 0 {
		t.Errorf("in all %+v", sum)
	}
}
