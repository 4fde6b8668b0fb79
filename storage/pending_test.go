package storage

import (
	"testing"

	"ubl"
)

// TestReadersShareAFlush: what was written when a reader came is in the file as soon as
// another reader has had it put there. What was written since may stay open.
func TestReadersShareAFlush(t *testing.T) {
	e, err := Open(t.TempDir(), &Options{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	g := ubl.Group{Tenant: "t:x", Shard: "0"}
	p := e.partition(g)
	p.flusher.Stop()
	lease, head, err := e.Begin(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	write := func() {
		done := make(chan error, 1)
		e.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: []ubl.Record{{Key: []byte("k"), Value: []byte("v")}}},
			func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.flusher.Stop()
	}
	always := func() bool { return true }
	write()
	came := p.flushed.Load() // two readers, the second of which waits for the first
	if err := p.flushFor(g); err != nil || p.state.is().open() {
		t.Fatalf("a reader left the transaction open it was to see: %v", err)
	}
	write()
	if err := p.flushBehind(came, always); err != nil || !p.state.is().open() {
		t.Errorf("a reader committed what was written after it came: %v", err)
	}
	if err := p.flushBehind(p.flushed.Load(), always); err != nil || p.state.is().open() {
		t.Errorf("a reader left open what was written before it came: %v", err)
	}
}
