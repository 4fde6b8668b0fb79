//go:build powerloss

package powerloss

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/storage"
)

func groupOf(i int) ubl.Group {
	return ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:g%d", i)), Shard: "0"}
}

// TestPowerLossUnderLoad loses the power at every sync of a store that several
// writers keep busy.
func TestPowerLossUnderLoad(t *testing.T) {
	r := newRig(t, 1)
	e := r.open()
	defer e.Close()
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 16 { // short runs, so that there are many syncs
				if err := r.write(e, groupOf(i), 5); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	r.check("after Close", r.synced, r.promised())
	if r.syncs < 50 {
		t.Errorf("only %v: does the hook see the store?", r)
	}
	t.Log(r)
}

// TestLifeAfterLife loses the power again and again: each life begins with one
// of the images that the last one left, and goes on writing.
func TestLifeAfterLife(t *testing.T) {
	r := newRig(t, 2)
	for life := range 25 {
		e := r.open()
		if err := r.verify(e, r.promised()); err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		lost := 1 + r.random.IntN(12) // the power goes at this sync
		var image *disk
		r.syncs, r.quiet = 0, true
		r.fail = func(n int, _ string) error {
			if n < lost {
				return nil
			}
			if image == nil {
				some := r.someOf(r.current())
				image = &some
			}
			return syscall.EIO
		}
		var writers sync.WaitGroup
		for i := range 3 {
			writers.Go(func() { _ = r.write(e, groupOf(i), 40) })
		}
		writers.Wait()
		_ = e.Close()
		r.fail = nil
		if image != nil {
			r.becomes(*image)
		}
		r.check("between two lives", r.synced, r.promised())
	}
	r.check("at the end", r.synced, r.promised())
}

// TestEnumeratedCrashPoints fails each sync of a commit in turn, as a disk does
// that breaks: the data's, the meta page's, and the one of a file that grows.
// The process sees the error, and another finds each image.
func TestEnumeratedCrashPoints(t *testing.T) {
	for point := 1; point <= 16; point++ {
		t.Run(fmt.Sprint("sync ", point), func(t *testing.T) {
			r := newRig(t, uint64(100+point))
			r.quiet = true
			e := r.open()
			if err := r.write(e, groupOf(0), 20); err != nil {
				t.Fatal(err)
			}
			r.syncs, r.quiet = 0, false
			r.fail = func(n int, _ string) error {
				if n >= point {
					return syscall.EIO
				}
				return nil
			}
			err := r.write(e, groupOf(0), 400)
			if ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Fatalf("the write after a failed sync: %v", err)
			}
			failedAt := r.syncs
			if err := r.write(e, groupOf(1), 1); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("the partition takes writes after a failed sync: %v", err)
			}
			if r.syncs != failedAt {
				t.Error("the partition went on syncing")
			}
			if e.Stats().Partitions[0].Failed == nil {
				t.Error("Stats does not say that the partition failed")
			}
			// bbolt may show a transaction that never became durable; View must not.
			if head, err := headOf(e, groupOf(0)); err == nil && head.Seq != r.promised()[groupOf(0).String()] ||
				err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("View shows head %v, %v after a failed sync", head, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			// The process is started again on the same machine: nothing was lost.
			r.fail = nil
			e = r.open()
			defer e.Close()
			if err := r.verify(e, r.promised()); err != nil {
				t.Error(err)
			}
			if err := r.write(e, groupOf(0), 5); err != nil {
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestViewWaitsForTheDisk holds the last sync of bbolt's commit back: a View that
// saw the commit must not return.
func TestViewWaitsForTheDisk(t *testing.T) {
	r := newRig(t, 3)
	r.quiet = true
	e := r.open()
	defer e.Close()
	if err := r.write(e, groupOf(0), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := headOf(e, groupOf(0)); err != nil { // commits
		t.Fatal(err)
	}
	release := make(chan struct{})
	syncs := 0 // of the partition's file
	r.fail = func(_ int, file string) error {
		if file == partitionFile {
			syncs++
		}
		if syncs == 2 { // the first was for the data, this one is for the meta page
			<-release
		}
		return nil
	}
	written := make(chan error, 1)
	go func() { written <- r.write(e, groupOf(0), 1) }()

	returned := make(chan ubl.LedgerHead, 1)
	go func() {
		for {
			head, err := headOf(e, groupOf(0))
			if err != nil {
				t.Error(err)
			}
			if err != nil || head.Seq > 6 {
				returned <- head
				return
			}
		}
	}()
	select {
	case head := <-returned:
		t.Errorf("View returned head %v before it was durable", head)
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	if err := <-written; err != nil {
		t.Error(err)
	}
	if head := <-returned; head.Seq != 8 {
		t.Errorf("View returned head %v", head)
	}
}

func headOf(e *storage.Engine, g ubl.Group) (head ubl.LedgerHead, err error) {
	err = e.View(context.Background(), g, func(s ubl.Snapshot) (err error) {
		head, err = s.Head()
		return err
	})
	return head, err
}
