package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
)

// TestDiskFullAfterAcknowledging: a disk that others have filled up has no room for
// what the journal has acknowledged. Nothing is written or shown until there is
// room again; then all of it is there, without a restart.
func TestDiskFullAfterAcknowledging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := Open(t.TempDir(), &Options{Partitions: 1, MaxBytes: 4 << 20, spare: -1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		g := ubl.Group{Tenant: "t:a", Shard: "0"}
		lease, head, err := e.Begin(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		write := func(n int) error {
			done := make(chan error, 1)
			e.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: []ubl.Record{
				{Key: fmt.Appendf(nil, "m%03d", n), Value: make([]byte, 40_000)}}}, func(err error) { done <- err })
			return <-done
		}
		records := 0
		for write(records) == nil { // until the file may hold no more
			records++
		}
		count := func() (n int, err error) {
			err = e.View(context.Background(), g, func(s ubl.Snapshot) error {
				return s.Ascend([]byte("m"), []byte("n"), func(_, _ []byte) bool { n++; return true })
			})
			return n, err
		}
		for range 2 {
			if n, err := count(); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("on a full disk %d records are shown, %v", n, err)
			}
			if err := write(records); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("on a full disk a write settled with %v", err)
			}
			if !e.Stats().Partitions[0].Full {
				t.Error("on a full disk Stats doesn't say so")
			}
			time.Sleep(2 * time.Second) // of the bubble
		}
		p := e.partitions[0]
		p.applying.Lock()
		p.database().MaxSize = 64 << 20
		p.applying.Unlock()
		time.Sleep(3 * time.Second) // of the bubble
		if failed := p.failure(); failed != nil {
			t.Errorf("there is room again, nobody asks, and Stats says %v", failed)
		}
		if lease, head, err = e.Begin(t.Context(), g); err != nil {
			t.Fatalf("there is room again: %v", err)
		}
		if err := write(records); err != nil {
			t.Error(err)
		}
		if n, err := count(); n != records+1 || err != nil {
			t.Errorf("%d records, %v; want %d", n, err, records+1)
		}
		if s := e.Stats().Partitions[0]; s.Failed != nil || s.Full {
			t.Errorf("Stats says %v, full: %v", s.Failed, s.Full)
		}
	})
}

// TestStopOnFullDisk: a store that is closed while its disk is full says so and
// loses nothing. It doesn't open until there is room; then all of it is there.
func TestStopOnFullDisk(t *testing.T) {
	for name, before := range map[string]func(*Engine) error{
		"which nobody has noticed": func(*Engine) error { return nil },
		"after a commit that failed": func(e *Engine) error {
			return e.partitions[0].flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stopOnFullDisk(t, before) })
		})
	}
}

func stopOnFullDisk(t *testing.T, before func(*Engine) error) {
	var committed, failed atomic.Int64 // behind the journal
	dir, o := t.TempDir(), &Options{Partitions: 1, MaxBytes: 4 << 20, spare: -1 << 40}
	o.ObserveFile = func(_ int, _ time.Duration, err error) {
		if committed.Add(1); err != nil {
			failed.Add(1)
		}
	}
	e, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	g := ubl.Group{Tenant: "t:a", Shard: "0"}
	lease, head, err := e.Begin(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	const records = 100 // of which the file takes half
	for n := range records {
		done := make(chan error, 1)
		e.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: []ubl.Record{
			{Key: fmt.Appendf(nil, "m%03d", n), Value: make([]byte, 40_000)}}}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatalf("record %d: %v", n, err)
		}
	}
	if err := before(e); err != nil && !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if err := e.Close(); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "partition 0") {
		t.Errorf("closing on a full disk gave %v", err)
	}
	if all, bad := committed.Load(), failed.Load(); all < 2 || bad != 1 {
		t.Errorf("%d commits behind the journal were told of, of which %d failed; want some, the last of which failed", all, bad)
	}
	if _, err := Open(dir, o); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "partition-0.db") {
		t.Errorf("opening on a full disk gave %v", err)
	}
	o.MaxBytes = 64 << 20
	if e, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	found := 0
	err = e.View(t.Context(), g, func(s ubl.Snapshot) error {
		return s.Ascend([]byte("m"), []byte("n"), func(_, _ []byte) bool { found++; return true })
	})
	if found != records || err != nil {
		t.Errorf("%d records, %v; want %d", found, err, records)
	}
}
