//go:build powerloss

package powerloss

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// TestReadersUnderPowerLoss: readers have the open transaction committed while
// batches of all sizes fill the journal, begin it again and go round it. What a
// View has shown counts as promised.
func TestReadersUnderPowerLoss(t *testing.T) {
	r := newRig(t, 50)
	e := r.open()
	groups := []ubl.Group{groupOf(0), groupOf(1), groupOf(2)}
	var readers, writers sync.WaitGroup
	stop := make(chan struct{})
	for i, g := range groups {
		writers.Go(func() {
			if err := r.writeSizes(e, g, 15, rand.New(rand.NewPCG(uint64(i), 8))); err != nil {
				t.Error(err)
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := r.shown(e, g); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	r.check("after Close", r.synced, r.promised())
	t.Log(r)
}

// shown reads a group's head, which is promised from then on.
func (a *acks) shown(e *storage.Engine, g ubl.Group) error {
	head, err := headOf(e, g)
	if err != nil {
		return err
	}
	l := a.ledger(g)
	a.mu.Lock()
	defer a.mu.Unlock()
	l.settled = max(l.settled, head.Seq)
	return nil
}

// writeSizes writes n messages with random bytes, which don't compress: most are
// small, some fill half a journal or don't fit into one.
func (a *acks) writeSizes(e *storage.Engine, g ubl.Group, n int, random *rand.Rand) error {
	l := a.ledger(g)
	w, err := storetest.NewWriter(context.Background(), e, g)
	if err != nil {
		return err
	}
	for i := range n {
		b := message(w)
		value := make([]byte, []int{10, 10, 10, 5_000, 300_000, 1_200_000, 2_500_000}[random.IntN(7)])
		for k := range value {
			value[k] = byte(random.Uint32())
		}
		b.Records = append(b.Records, ubl.Record{Key: fmt.Append(nil, "x", i%3), Value: value})
		a.mu.Lock()
		l.heads[b.Next.Seq] = b.Next.HeadHash
		a.mu.Unlock()
		done := make(chan error, 1)
		e.Submit(b, func(err error) { done <- err })
		if err := <-done; err != nil {
			return err
		}
		a.mu.Lock()
		l.settled = max(l.settled, b.Next.Seq)
		a.mu.Unlock()
	}
	return nil
}
