package storage_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"ubl"
	"ubl/storage"
)

// BenchmarkSubmit measures what one message costs the store: two atoms, six
// records and two counters, from 64 submitters that each wait for the disk.
func BenchmarkSubmit(b *testing.B) {
	for _, groups := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			benchmarkSubmit(b, groups, 64)
		})
	}
	b.Run("one_writer", func(b *testing.B) { benchmarkSubmit(b, 1, 1) })
}

func benchmarkSubmit(b *testing.B, groups, submitters int) {
	var mu sync.Mutex
	txs, batches := 0, 0
	e, err := storage.Open(b.TempDir(), &storage.Options{Observe: func(c storage.Commit) {
		mu.Lock()
		defer mu.Unlock()
		txs++
		batches += c.Batches
	}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	writers := make([]*messageWriter, groups)
	for i := range writers {
		writers[i] = newMessageWriter(b, e, i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for s := range submitters {
		n := b.N / submitters
		if s < b.N%submitters {
			n++
		}
		w := writers[s%groups]
		all.Go(func() {
			done := make(chan error, 1)
			for range n {
				w.submit(func(err error) { done <- err })
				if err := <-done; err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
	mu.Lock()
	defer mu.Unlock()
	b.ReportMetric(float64(batches)/float64(max(txs, 1)), "batches/tx")
}

// messageWriter submits messages to one group, as its ledger would.
type messageWriter struct {
	mu    sync.Mutex
	e     *storage.Engine
	group ubl.Group
	lease ubl.Lease
	head  ubl.LedgerHead
	n     int64
}

func newMessageWriter(b *testing.B, e *storage.Engine, i int) *messageWriter {
	w := &messageWriter{e: e, group: ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:bench%d", i)), Shard: "0"}}
	var err error
	if w.lease, w.head, err = e.Begin(b.Context(), w.group); err != nil {
		b.Fatal(err)
	}
	return w
}

func (w *messageWriter) submit(settled func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	key := func(space string) []byte { return binary.BigEndian.AppendUint64([]byte(space), uint64(w.n)) }
	next := ubl.LedgerHead{Seq: w.head.Seq + 2, HeadHash: fmt.Sprintf("h:%064x", w.n)}
	batch := &ubl.Batch{
		Group: w.group, Lease: w.lease, Head: w.head, Next: next,
		Atoms: [][]byte{bytes.Repeat([]byte("a"), 700), bytes.Repeat([]byte("e"), 500)},
		Counters: []ubl.Counter{
			{Key: []byte("croom"), From: w.n - 1, To: w.n},
			{Key: []byte("cstate"), From: w.n - 1, To: w.n},
		},
		Records: []ubl.Record{
			{Key: key("m:r:general:"), Value: bytes.Repeat([]byte("m"), 350)},
			{Key: key("i:key:"), Value: bytes.Repeat([]byte("i"), 80)},
			{Key: key("I:when:"), Value: []byte("x")},
			{Key: []byte("r:last:r:general"), Value: bytes.Repeat([]byte("l"), 80)},
			{Key: key("p:"), Value: bytes.Repeat([]byte("p"), 40)},
			{Key: key("q:"), Value: bytes.Repeat([]byte("q"), 40)},
		},
	}
	w.head = next
	w.e.Submit(batch, settled)
}
