package storage

import (
	"context"
	"fmt"
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
		if failed := e.Stats().Partitions[0].Failed; failed != nil {
			t.Errorf("Stats says %v", failed)
		}
	})
}
