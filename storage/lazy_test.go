package storage_test

import (
	"bytes"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/storage"
)

// These tests are about what lies in an open transaction. Their time is that of
// a bubble: it stands still until all wait for it, so nothing is committed
// behind their back.

// commits counts transactions of an engine.
type commits struct {
	mu   sync.Mutex
	seen []storage.Commit
}

func (c *commits) observe(commit storage.Commit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, commit)
}

func (c *commits) take() []storage.Commit {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = nil
	return seen
}

// someLog is the log of a leader that has written some messages and a note.
func someLog(t *testing.T) (log []storage.Entry, truth map[string]string) {
	t.Helper()
	leader, l := lead(t, t.TempDir(), storage.Options{})
	fill(t, leader, 3, 10, 200)
	if err := leader.PutNote(t.Context(), 0, "table", 0, []byte("value")); err != nil {
		t.Fatal(err)
	}
	log, truth = l.all(0), dump(t, leader)
	if err := leader.Close(); err != nil {
		t.Fatal(err)
	}
	return log, truth
}

// TestAppliedIsVisibleAtOnce: whoever reads sees everything that Apply has
// answered for, though no transaction was committed.
func TestAppliedIsVisibleAtOnce(t *testing.T) {
	log, truth := someLog(t)
	group := ubl.Group{Tenant: "t:fill2", Shard: "0"} // its last message is the entry before the note
	const messages = 10
	readers := map[string]func(t *testing.T, e *storage.Engine) (sees bool, err error){
		"View": func(t *testing.T, e *storage.Engine) (sees bool, err error) {
			err = e.View(t.Context(), group, func(s ubl.Snapshot) error {
				head, err := s.Head()
				sees = head.Seq == 2*messages
				return err
			})
			return sees, err
		},
		"Begin": func(t *testing.T, e *storage.Engine) (bool, error) {
			_, head, err := e.Begin(t.Context(), group)
			return head.Seq == 2*messages, err
		},
		"Note": func(t *testing.T, e *storage.Engine) (bool, error) {
			value, version, err := e.Note(0, "table")
			return version == 1 && string(value) == "value", err
		},
		"GroupsOf": func(t *testing.T, e *storage.Engine) (bool, error) {
			list, err := allGroups(t.Context(), e)
			return len(list) == 3, err
		},
		"Empty": func(t *testing.T, e *storage.Engine) (bool, error) {
			empty, err := e.Empty(t.Context())
			return !empty, err
		},
		"CopyPartition": func(t *testing.T, e *storage.Engine) (bool, error) {
			return maps.Equal(dump(t, e), truth), nil
		},
		"Snapshot": func(t *testing.T, e *storage.Engine) (bool, error) {
			s, err := e.Snapshot(0)
			if err != nil {
				return false, err
			}
			defer s.Release()
			var b bytes.Buffer
			n, err := s.WriteTo(&b)
			if n != int64(b.Len()) || s.Size() > n {
				t.Errorf("WriteTo wrote %d bytes and says %d; Size says %d", b.Len(), n, s.Size())
			}
			if err != nil {
				return false, err
			}
			applied, err := storage.SnapshotApplied(&b)
			return applied == uint64(len(log)), err
		},
	}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var seen commits
				e, _ := lead(t, dir, storage.Options{Observe: seen.observe})
				mustApply(t, e, log)
				if n := e.Applied(0); n != uint64(len(log)) {
					t.Errorf("%d is applied, want %d", n, len(log))
				}
				if have := seen.take(); len(have) != 0 {
					t.Errorf("Apply has committed: %+v", have)
				}
				if sees, err := read(t, e); err != nil || !sees {
					t.Errorf("it sees what was applied: %v, %v", sees, err)
				}
				if have := seen.take(); len(have) != 1 {
					t.Errorf("reading has committed %d times", len(have))
				}
				e.Close()
			})
		})
	}
}

// TestEntriesShareACommit: what nobody reads is committed after a moment, all
// in one transaction.
func TestEntriesShareACommit(t *testing.T) {
	log, truth := someLog(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var seen commits
		e := openReplica(t, dir, newLog(), storage.Options{Observe: seen.observe})
		for round, part := range [][]storage.Entry{log[:20], log[20:]} {
			mustApply(t, e, part)
			time.Sleep(time.Minute)
			synctest.Wait()
			have := seen.take()
			if len(have) != 1 || have[0].Batches != len(part) || have[0].Err != nil || have[0].Bytes == 0 {
				t.Errorf("round %d: %+v, want one commit of %d", round, have, len(part))
			}
		}
		killed := openReplica(t, copyDir(t, dir), newLog(), storage.Options{})
		if !maps.Equal(dump(t, killed), truth) {
			t.Error("what was committed is not in the file")
		}
		killed.Close()
		e.Close()
	})
}

// TestRefusedAreNotCounted: what is observed tells what was written from what
// was refused.
func TestRefusedAreNotCounted(t *testing.T) {
	log, _ := someLog(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var seen commits
		e := openReplica(t, dir, newLog(), storage.Options{Observe: seen.observe})
		later := log[1]
		later.Index, later.Term = 2, 9
		mustApply(t, e, []storage.Entry{log[0], later})
		e.Close()
		if have := seen.take(); len(have) != 1 || have[0].Batches != 1 || have[0].Refused != 1 {
			t.Errorf("%+v", have)
		}
	})
}

// TestKilledProcess copies the files as a kill leaves them. Only the tail is
// gone; what is there is a beginning of the log, and the rest applied again
// gives the same.
func TestKilledProcess(t *testing.T) {
	log, truth := someLog(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		e := openReplica(t, dir, newLog(), storage.Options{})
		for _, committed := range []int{0, 1, 7, 20, len(log)} {
			mustApply(t, e, log[:committed])
			before := dump(t, e) // which commits
			mustApply(t, e, log)
			killed := openReplica(t, copyDir(t, dir), newLog(), storage.Options{})
			if n := killed.Applied(0); n != uint64(committed) {
				t.Errorf("%d is applied, want the %d that were committed", n, committed)
			}
			if !maps.Equal(dump(t, killed), before) {
				t.Errorf("what is left is not the log's beginning of %d", committed)
			}
			mustApply(t, killed, log[killed.Applied(0):])
			if !maps.Equal(dump(t, killed), truth) {
				t.Errorf("applied again from %d, it is not the same", committed)
			}
			killed.Close()
			if err := e.Reset(0); err != nil {
				t.Fatal(err)
			}
		}
		e.Close()
	})
}

// TestCloseLosesNothing: a clean end commits what is open, and the file needs
// neither its log nor this boot any more.
func TestCloseLosesNothing(t *testing.T) {
	log, truth := someLog(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		e := openReplica(t, dir, newLog(), storage.Options{})
		mustApply(t, e, log)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		again := openReplica(t, dir, newLog(), storage.Options{Boot: "another"})
		if !maps.Equal(dump(t, again), truth) {
			t.Error("something was lost")
		}
		again.Close()
	})
}

// TestOpenTransactionIsBounded: much at once is not held until time passes.
func TestOpenTransactionIsBounded(t *testing.T) {
	leader, l := lead(t, t.TempDir(), storage.Options{})
	fill(t, leader, 1, 24, 1<<20)
	log := l.all(0)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var seen commits
		e := openReplica(t, dir, newLog(), storage.Options{Observe: seen.observe})
		for i := range log {
			mustApply(t, e, log[i:i+1])
		}
		if have := seen.take(); len(have) == 0 || len(have) > 12 {
			t.Errorf("24 MiB are committed in %d transactions", len(have))
		}
		e.Close()
	})
}

// TestEntryIsNotKept: the log may use its memory again once Apply returns.
func TestEntryIsNotKept(t *testing.T) {
	log, truth := someLog(t)
	e, _ := lead(t, t.TempDir(), storage.Options{})
	buffer := make([]byte, 1<<16)
	for _, entry := range log {
		entry.Data = buffer[:copy(buffer, entry.Data)]
		mustApply(t, e, []storage.Entry{entry})
		for i := range buffer {
			buffer[i] = 0xAA
		}
	}
	if !maps.Equal(dump(t, e), truth) {
		t.Error("what was applied has changed with the memory it came from")
	}
}
