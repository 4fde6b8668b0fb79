package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// memoryLog is to an engine what Raft is: it keeps the entries of all
// partitions in order, and has them applied when their proposals are waited
// for. It outlives the engine.
type memoryLog struct {
	mu      sync.Mutex
	term    uint64
	entries map[int][]storage.Entry
	down    error         // what becomes of new proposals
	held    chan struct{} // proposals wait until it is closed
	engine  *storage.Engine
}

func newLog() *memoryLog { return &memoryLog{entries: map[int][]storage.Entry{}} }

var errAppliedBefore = errors.New("the entry was applied by another")

func (l *memoryLog) propose(partition int, data []byte) storage.Proposal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.down; err != nil {
		return func() ([]error, error) { return nil, err }
	}
	entry := storage.Entry{Index: uint64(len(l.entries[partition]) + 1), Term: l.term, Data: data}
	l.entries[partition] = append(l.entries[partition], entry)
	engine, held := l.engine, l.held
	return func() ([]error, error) {
		if held != nil {
			<-held
		}
		results, err := engine.Apply(partition, []storage.Entry{entry})
		if err == nil && results[0] == nil {
			err = errAppliedBefore
		}
		if err != nil {
			return nil, err
		}
		return results[0], nil
	}
}

// all are the entries of a partition so far.
func (l *memoryLog) all(partition int) []storage.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]storage.Entry(nil), l.entries[partition]...)
}

// hold lets entries into the log, but has none applied until release.
func (l *memoryLog) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := make(chan struct{})
	l.held = held
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = nil
		close(held)
	}
}

func (l *memoryLog) setDown(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = err
}

// elect begins a new term; the log's engine leads if asked to.
func (l *memoryLog) elect(lead bool) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.term++
	for p := range l.engine.Partitions() {
		if lead {
			l.engine.Lead(p, int64(l.term))
		} else {
			l.engine.Lead(p, 0)
		}
	}
	return int64(l.term)
}

// openReplica opens a replica over a log that proposals go to.
func openReplica(t testing.TB, dir string, l *memoryLog, o storage.Options) *storage.Engine {
	t.Helper()
	e, err := tryReplica(dir, l, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func tryReplica(dir string, l *memoryLog, o storage.Options) (*storage.Engine, error) {
	if o.Partitions == 0 {
		o.Partitions = 1
	}
	o.Propose = l.propose
	e, err := storage.OpenReplicas(dir, &o)
	if err == nil {
		l.mu.Lock()
		l.engine = e
		l.mu.Unlock()
	}
	return e, err
}

// lead opens a replica of one partition that leads.
func lead(t testing.TB, dir string, o storage.Options) (*storage.Engine, *memoryLog) {
	t.Helper()
	l := newLog()
	e := openReplica(t, dir, l, o)
	l.elect(true)
	return e, l
}

func mustApply(t testing.TB, e *storage.Engine, entries []storage.Entry) [][]error {
	t.Helper()
	results, err := e.Apply(0, entries)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// dump is all that partition 0 has, how far it is and its notes included, but
// not whose it is.
func dump(t testing.TB, e *storage.Engine) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	if err := e.CopyPartition(t.Context(), 0, path); err != nil {
		t.Fatal(err)
	}
	return dumpFile(t, path)
}

func dumpFile(t testing.TB, path string) map[string]string {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if string(k) != "format" {
					all[fmt.Sprintf("%s %q", name, k)] = string(v)
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// copyDir is what a process that is killed now would leave: what it has
// written, synced or not.
func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// replicaHarness runs the conformance suite on replicas of one node.
type replicaHarness struct {
	t   *testing.T
	dir string
	log *memoryLog
}

func (h *replicaHarness) Store() ubl.Store { return h.log.engine }

func (h *replicaHarness) Reopen() error {
	if err := h.log.engine.Close(); err != nil {
		return err
	}
	if _, err := tryReplica(h.dir, h.log, *harnessOptions()); err != nil {
		return err
	}
	h.log.elect(true)
	return nil
}

func TestReplicaConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		h := &replicaHarness{t: t, dir: t.TempDir(), log: newLog()}
		openReplica(t, h.dir, h.log, *harnessOptions())
		h.log.elect(true)
		t.Cleanup(func() { h.log.engine.Close() })
		return h
	})
}

func TestWhoMayOpenHow(t *testing.T) {
	propose := &storage.Options{Propose: newLog().propose}
	if e, err := storage.Open(t.TempDir(), propose); err == nil {
		e.Close()
		t.Error("Open took a log that it would not use")
	}
	for _, o := range []*storage.Options{nil, {}} {
		if e, err := storage.OpenReplicas(t.TempDir(), o); err == nil {
			e.Close()
			t.Error("OpenReplicas did without a log")
		}
	}
}

// TestApplySkipsWhatIsApplied hands entries over again, as Raft does after
// every start.
func TestApplySkipsWhatIsApplied(t *testing.T) {
	leader, l := lead(t, t.TempDir(), storage.Options{})
	fill(t, leader, 2, 5, 100)
	log, truth := l.all(0), dump(t, leader)
	if len(log) != 10 {
		t.Fatalf("the log has %d entries", len(log))
	}
	dir := t.TempDir()
	e := openReplica(t, dir, newLog(), storage.Options{})
	again := func(entries []storage.Entry, before int) {
		t.Helper()
		for i, have := range mustApply(t, e, entries) {
			if (have == nil) != (i < before) {
				t.Errorf("entry %d of %d, where %d were applied: %v", i, len(entries), before, have)
			}
		}
	}
	again(log[:4], 0)
	again(log[:4], 4)
	again(log[2:7], 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openReplica(t, dir, newLog(), storage.Options{})
	if n := e.Applied(0); n != 7 {
		t.Errorf("after a restart %d entries are applied, want 7", n)
	}
	again(log, 7)
	if !maps.Equal(dump(t, e), truth) {
		t.Error("the replicas differ")
	}
}

// TestDrain: what was submitted is settled, nothing more is taken, and the
// replica goes on applying what others propose.
func TestDrain(t *testing.T) {
	e, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, e, testGroup)
	const batches = 50
	results := make(chan error, batches)
	for range batches {
		e.Submit(message(w, 10), func(err error) { results <- err })
	}
	e.Drain()
	if len(results) != batches {
		t.Errorf("%d of %d were settled when Drain returned", len(results), batches)
	}
	for range len(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	head := w.Head
	_, _, errBegin := e.Begin(t.Context(), testGroup)
	errNote := e.PutNote(t.Context(), 0, "table", 0, nil)
	for _, err := range []error{submit(e, message(w, 10)), errBegin, errNote} {
		if ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("after Drain: %v", err)
		}
	}
	err := e.View(t.Context(), testGroup, func(s ubl.Snapshot) error {
		if have, err := s.Head(); err != nil || have != head {
			t.Errorf("head %v, %v; want %v", have, err, head)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	next := e.Applied(0) + 1
	mustApply(t, e, []storage.Entry{{Index: next, Term: 9, Data: l.all(0)[0].Data}})
	if n := e.Applied(0); n != next {
		t.Errorf("%d is applied, want %d", n, next)
	}
	e.Drain() // a second time does nothing
}

// TestMarkApplied: a node alone goes on as it did, and as a replica it takes
// the log from there.
func TestMarkApplied(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &storage.Options{Partitions: 2})
	fill(t, e, 6, 3, 100)
	if err := e.MarkApplied(7); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for i := range 6 { // some of either partition
		g := ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:fill%d", i)), Shard: "0"}
		if err := e.View(ctx, g, func(ubl.Snapshot) error { return nil }); err != nil {
			t.Fatalf("reading right after it: %v", err)
		}
	}
	truth := mustContents(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	l := newLog()
	e = openReplica(t, dir, l, storage.Options{})
	for p := range e.Partitions() {
		if n := e.Applied(p); n != 7 {
			t.Errorf("partition %d: %d is applied, want 7", p, n)
		}
	}
	l.elect(true)
	if !maps.Equal(mustContents(t, e), truth) {
		t.Error("the data has changed")
	}
	results := mustApply(t, e, []storage.Entry{{Index: 7, Term: 1}, {Index: 8, Term: 1, Data: emptyEntry}})
	if results[0] != nil || results[1] == nil || e.Applied(0) != 8 {
		t.Errorf("the next entries: %v; %d is applied", results, e.Applied(0))
	}
}

// emptyEntry is an entry that does nothing.
var emptyEntry = []byte{1, 0}

// garbage is an entry that no replica can read.
var garbage = bytes.Repeat([]byte{0xff}, 20)

// TestApplyAfterClose: an engine that is closed is no broken one. Its file stays
// whole.
func TestApplyAfterClose(t *testing.T) {
	dir := t.TempDir()
	e, l := lead(t, dir, storage.Options{Halted: func(_ int, err error) { t.Errorf("halted: %v", err) }})
	fill(t, e, 2, 3, 100)
	truth := mustContents(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	next := storage.Entry{Index: e.Applied(0) + 1, Term: 1, Data: emptyEntry}
	_, errApply := e.Apply(0, []storage.Entry{next})
	errInstall := e.Install(0, bytes.NewReader(nil))
	for _, err := range []error{errApply, errInstall, e.Resume(0), e.Reset(0)} {
		if err == nil {
			t.Error("a closed engine does something")
		}
	}
	e = openReplica(t, dir, l, storage.Options{})
	l.elect(true)
	if !maps.Equal(mustContents(t, e), truth) {
		t.Error("the data has changed")
	}
}

// TestCloseWhileApplying: closing doesn't wait for the log to end.
func TestCloseWhileApplying(t *testing.T) {
	dir := t.TempDir()
	l := newLog()
	for range 20 {
		e := openReplica(t, dir, l, storage.Options{Halted: func(_ int, err error) { t.Errorf("halted: %v", err) }})
		first, started := e.Applied(0), make(chan struct{})
		var applying sync.WaitGroup
		applying.Go(func() {
			for n := first + 1; ; n++ {
				if _, err := e.Apply(0, []storage.Entry{{Index: n, Term: 1, Data: emptyEntry}}); err != nil {
					return
				}
				if n == first+10 {
					close(started)
				}
			}
		})
		<-started
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		applying.Wait()
		last := e.Applied(0)
		e = openReplica(t, dir, l, storage.Options{})
		if n := e.Applied(0); n != last {
			t.Fatalf("%d is applied after reopening, want %d", n, last)
		}
		e.Close()
	}
}
