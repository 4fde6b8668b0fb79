package storage_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	bolt "go.etcd.io/bbolt"

	"ubl"
	"ubl/storage"
)

// snapshotOf is a snapshot of a partition as it is written.
func snapshotOf(t testing.TB, e *storage.Engine, partition int) []byte {
	t.Helper()
	s, err := e.Snapshot(partition)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// snapshotOfSome is the snapshot of a leader, the log behind it, and what is in
// it.
func snapshotOfSome(t *testing.T) (snapshot []byte, log []storage.Entry, truth map[string]string) {
	t.Helper()
	log, truth = someLog(t)
	e := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	mustApply(t, e, log)
	return snapshotOf(t, e, 0), log, truth
}

// oldReplica is a replica that has something else than the snapshot.
func oldReplica(t *testing.T, dir string, o storage.Options) (e *storage.Engine, old map[string]string) {
	t.Helper()
	leader, l := lead(t, t.TempDir(), storage.Options{})
	w := newWriter(t, leader, testGroup)
	for range 40 {
		if err := submit(leader, message(w, 2000)); err != nil {
			t.Fatal(err)
		}
	}
	e = openReplica(t, dir, newLog(), o)
	mustApply(t, e, l.all(0)[:20])
	return e, dump(t, e)
}

// TestInstall: the replica is what the snapshot is, goes on applying from there,
// and is still that after a restart.
func TestInstall(t *testing.T) {
	log, truth := someLog(t)
	const at = 25
	leader := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	mustApply(t, leader, log[:at])
	snapshot := snapshotOf(t, leader, 0)
	if n, err := storage.SnapshotApplied(bytes.NewReader(snapshot)); err != nil || n != at {
		t.Errorf("the snapshot says %d, %v; want %d", n, err, at)
	}
	dir := t.TempDir()
	e, _ := oldReplica(t, dir, storage.Options{})
	incarnation := e.Incarnation()
	mustApply(t, e, []storage.Entry{{Index: 21, Term: 1, Data: emptyEntry}}) // it is in an open transaction
	// A network gives it in pieces.
	if err := e.Install(0, iotest.HalfReader(bytes.NewReader(snapshot))); err != nil {
		t.Fatal(err)
	}
	if n := e.Applied(0); n != at {
		t.Errorf("%d is applied, want %d", n, at)
	}
	if !maps.Equal(dump(t, e), dump(t, leader)) {
		t.Error("the replicas differ")
	}
	results := mustApply(t, e, log)
	if results[at-1] != nil || results[at] == nil {
		t.Errorf("entries %d and %d: %v, %v", at, at+1, results[at-1], results[at])
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openReplica(t, dir, newLog(), storage.Options{})
	if !maps.Equal(dump(t, e), truth) {
		t.Error("after a restart the replicas differ")
	}
	if e.Incarnation() != incarnation {
		t.Error("it has become another directory")
	}
}

// TestSnapshotIsAMoment writes snapshots out while the partition goes on.
func TestSnapshotIsAMoment(t *testing.T) {
	leader, l := lead(t, t.TempDir(), storage.Options{})
	fill(t, leader, 3, 60, 3000)
	log := l.all(0)
	e := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	start := make(chan struct{})
	var applying sync.WaitGroup
	applying.Go(func() {
		for i := range log {
			if _, err := e.Apply(0, log[i:i+1]); err != nil {
				t.Error(err)
			}
			if i == 5 {
				close(start)
			}
		}
	})
	<-start
	var snapshots [][]byte
	for range 5 {
		snapshots = append(snapshots, snapshotOf(t, e, 0))
	}
	held, err := e.Snapshot(0)
	if err != nil {
		t.Fatal(err)
	}
	applying.Wait()
	dump(t, e) // which commits, over the pages that the snapshot doesn't need
	var late bytes.Buffer
	if _, err := held.WriteTo(&late); err != nil {
		t.Fatal(err)
	}
	held.Release()
	held.Release()
	follower := openReplica(t, t.TempDir(), newLog(), storage.Options{})
	for _, snapshot := range append(snapshots, late.Bytes()) {
		if err := follower.Install(0, bytes.NewReader(snapshot)); err != nil {
			t.Fatal(err)
		}
		n, err := storage.SnapshotApplied(bytes.NewReader(snapshot))
		if err != nil || n != follower.Applied(0) {
			t.Errorf("it says %d, %v and has %d", n, err, follower.Applied(0))
		}
		have := dump(t, follower)
		replayed := openReplica(t, t.TempDir(), newLog(), storage.Options{})
		mustApply(t, replayed, log[:n])
		if !maps.Equal(have, dump(t, replayed)) {
			t.Errorf("the snapshot of entry %d is not the log's beginning", n)
		}
		replayed.Close()
	}
}

// TestRefusedSnapshots: whatever comes instead of a snapshot, the old data stays
// and goes on.
func TestRefusedSnapshots(t *testing.T) {
	snapshot, _, truth := snapshotOfSome(t)
	magic := bytes.Clone(snapshot)
	magic[0] ^= 1
	meta := bytes.Clone(snapshot)
	meta[24+60] ^= 1
	wide := openReplica(t, t.TempDir(), newLog(), storage.Options{Partitions: 2})
	gone := errors.New("the connection is gone")
	tests := []struct {
		name string
		r    io.Reader
		want error
	}{
		{"nothing", bytes.NewReader(nil), storage.ErrDamaged},
		{"its first bytes", bytes.NewReader(snapshot[:10]), storage.ErrDamaged},
		{"no snapshot", bytes.NewReader(magic), storage.ErrDamaged},
		{"only the beginning", bytes.NewReader(snapshot[:24]), storage.ErrDamaged},
		{"one meta page", bytes.NewReader(snapshot[:24+4096]), storage.ErrDamaged},
		{"all but the last page", bytes.NewReader(snapshot[:len(snapshot)-4096]), storage.ErrDamaged},
		{"all but the last byte", bytes.NewReader(snapshot[:len(snapshot)-1]), storage.ErrDamaged},
		{"a damaged meta page", bytes.NewReader(meta), storage.ErrDamaged},
		{"of a store with more partitions", bytes.NewReader(snapshotOf(t, wide, 0)), storage.ErrDamaged},
		{"of another partition", bytes.NewReader(snapshotOf(t, wide, 1)), storage.ErrDamaged},
		{"of a later format", bytes.NewReader(laterFormat(t, snapshot)), storage.ErrNewerFormat},
		{"a connection that breaks", io.MultiReader(bytes.NewReader(snapshot[:len(snapshot)/2]), iotest.ErrReader(gone)), gone},
	}
	dir := t.TempDir()
	e, old := oldReplica(t, dir, storage.Options{Halted: func(_ int, err error) { t.Errorf("halted: %v", err) }})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := e.Install(0, test.r); !errors.Is(err, test.want) {
				t.Errorf("Install: %v, want %v", err, test.want)
			}
			if e.Applied(0) != 20 || !maps.Equal(dump(t, e), old) {
				t.Error("the old data has changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "store", "*.installing")); len(left) != 0 {
				t.Errorf("it leaves %q", left)
			}
		})
	}
	mustApply(t, e, []storage.Entry{{Index: 21, Term: 1, Data: emptyEntry}})
	if err := e.Install(0, bytes.NewReader(snapshot)); err != nil || !maps.Equal(dump(t, e), truth) {
		t.Errorf("a good one afterwards: %v", err)
	}
}

// laterFormat is the snapshot as a later version of this program might make it,
// with another meaning of what is in it.
func laterFormat(t *testing.T, snapshot []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, snapshot[24:], 0o600); err != nil {
		t.Fatal(err)
	}
	setFormat(t, path, 4)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(snapshot[:24], file)
}

// setFormat says in a partition's file that it is of a format, and tells which
// it was.
func setFormat(t *testing.T, path string, format int) (was int) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		meta, key := tx.Bucket([]byte("meta")), []byte("format")
		var label map[string]any
		if err := json.Unmarshal(meta.Get(key)[4:], &label); err != nil {
			return err
		}
		was = int(label["format"].(float64))
		label["format"] = format
		text, err := json.Marshal(label)
		if err != nil {
			return err
		}
		sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(append(key, text...), crc32.MakeTable(crc32.Castagnoli)))
		return meta.Put(key, append(sum, text...))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return was
}

// TestDamagedSnapshots flips bytes: what is not refused has nothing wrong in it.
func TestDamagedSnapshots(t *testing.T) {
	snapshot, _, truth := snapshotOfSome(t)
	e, _ := oldReplica(t, t.TempDir(), storage.Options{})
	refused := 0
	for seed := range uint64(150) {
		damaged := damageSnapshot(snapshot, rand.New(rand.NewPCG(5, seed)))
		before := dump(t, e)
		switch err := e.Install(0, bytes.NewReader(damaged)); {
		case err == nil:
			if !maps.Equal(dump(t, e), truth) {
				t.Fatalf("seed %d: the damage was not noticed", seed)
			}
		case errors.Is(err, storage.ErrDamaged), errors.Is(err, storage.ErrNewerFormat):
			refused++
			if !maps.Equal(dump(t, e), before) {
				t.Fatalf("seed %d: a refused snapshot has changed the data", seed)
			}
		default:
			t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
		}
	}
	if refused < 40 {
		t.Errorf("only %d of 150 damages were noticed: does the test reach the data?", refused)
	}
}

func damageSnapshot(snapshot []byte, r *rand.Rand) []byte {
	damaged := bytes.Clone(snapshot)
	at := r.IntN(len(snapshot) - 24)
	if r.IntN(3) == 0 { // the structure at the beginning of a page
		at = at/4096*4096 + r.IntN(96)
	}
	damaged[24+at] ^= byte(1 + r.IntN(255))
	return damaged
}

// TestDamagedLargeSnapshots is for those of which not every page is looked at
// before they are taken: nothing crashes, and no wrong value is read.
func TestDamagedLargeSnapshots(t *testing.T) {
	snapshot, _, truth := snapshotOfSome(t)
	l := newLog()
	e := openReplica(t, t.TempDir(), l, storage.Options{VerifyBytes: -1})
	l.elect(true)
	for seed := range uint64(150) {
		damaged := damageSnapshot(snapshot, rand.New(rand.NewPCG(6, seed)))
		if err := e.Install(0, bytes.NewReader(damaged)); err != nil {
			if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrNewerFormat) {
				t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
			}
			// It may have been found out only when the old file had gone.
			if err := e.Reset(0); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := contents(t, e)
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
		}
		for key, value := range have {
			group, key, _ := strings.Cut(key, " ")
			if full := fmt.Sprintf("data %q", group+"\x00"+key); truth[full][4:] != value {
				t.Errorf("seed %d: a wrong value of %s", seed, full)
			}
		}
	}
}

// stepper copies the directory at every step, as a kill there would leave it.
type stepper struct {
	t      *testing.T
	dir    string
	steps  []string
	copies []string
}

func (s *stepper) step(step string) {
	s.steps = append(s.steps, step)
	s.copies = append(s.copies, copyDir(s.t, s.dir))
}

// checkCopies opens what a kill at each step leaves: the old or, from the step
// named on, the new.
func (s *stepper) checkCopies(want []string, newFrom string, old, new map[string]string) {
	s.t.Helper()
	if !slices.Equal(s.steps, want) {
		s.t.Fatalf("the steps are %q, want %q", s.steps, want)
	}
	expected := old
	for i, dir := range s.copies {
		if s.steps[i] == newFrom {
			expected = new
		}
		e, err := tryReplica(dir, newLog(), storage.Options{})
		if err != nil {
			s.t.Errorf("killed at %q: %v", s.steps[i], err)
			continue
		}
		if !maps.Equal(dump(s.t, e), expected) {
			s.t.Errorf("killed at %q: it has neither the one nor the other, or the wrong one", s.steps[i])
		}
		if err := e.Close(); err != nil {
			s.t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "store", "*.installing")); len(left) != 0 {
			s.t.Errorf("killed at %q: %q is left", s.steps[i], left)
		}
	}
}

func TestInterruptedInstall(t *testing.T) {
	snapshot, _, truth := snapshotOfSome(t)
	s := &stepper{t: t, dir: t.TempDir()}
	e, old := oldReplica(t, s.dir, storage.Options{Step: s.step})
	if err := e.Install(0, bytes.NewReader(snapshot)); err != nil {
		t.Fatal(err)
	}
	s.checkCopies([]string{"install: written", "install: staged", "install: renamed"}, "install: renamed", old, truth)
}

// TestReset empties a partition; interrupted, it is as it was or empty, and
// never a file that keeps the whole directory from being opened.
func TestReset(t *testing.T) {
	s := &stepper{t: t, dir: t.TempDir()}
	e, old := oldReplica(t, s.dir, storage.Options{Step: s.step})
	if err := e.Reset(0); err != nil {
		t.Fatal(err)
	}
	if n := e.Applied(0); n != 0 {
		t.Errorf("%d is applied", n)
	}
	s.checkCopies([]string{"reset: staged", "reset: renamed"}, "reset: renamed", old, map[string]string{})
	log, truth := someLog(t)
	checkBeginsAnew(t, e, log, truth)
}

// TestInterruptedResume is about a replica that can't believe its file: killed
// while that is thrown away, it still begins with nothing.
func TestInterruptedResume(t *testing.T) {
	s := &stepper{t: t, dir: t.TempDir()}
	e, _ := oldReplica(t, s.dir, storage.Options{Step: s.step})
	file, err := os.OpenFile(filepath.Join(s.dir, "store", "partition-0.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := breakages(nil)["a damaged file"](t, file, e); err == nil {
		t.Fatal("a damaged file took an entry")
	}
	if err := e.Resume(0); err != nil {
		t.Fatal(err)
	}
	s.checkCopies([]string{"reset: staged", "reset: renamed"}, "", map[string]string{}, nil)
}

// TestReadersDuringInstall: they see the old, the new, or that there is nothing
// to read now. None waits for a transaction that never comes: those of the new
// file may have smaller numbers.
func TestReadersDuringInstall(t *testing.T) {
	snapshot, _, truth := snapshotOfSome(t)
	e, old := oldReplica(t, t.TempDir(), storage.Options{})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := e.Empty(t.Context()); err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
					t.Error(err)
				}
			}
		})
	}
	before := snapshotOf(t, e, 0)
	for range 20 {
		for _, s := range []struct {
			snapshot []byte
			truth    map[string]string
		}{{snapshot, truth}, {before, old}} {
			if err := e.Install(0, bytes.NewReader(s.snapshot)); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(dump(t, e), s.truth) {
				t.Fatal("the data is not the snapshot's")
			}
		}
	}
	close(stop)
	readers.Wait()
}
