package storage

import (
	"context"
	"testing"

	"ubl"
)

// opener is an engine whose transaction stays open until somebody reads.
type opener struct {
	t     *testing.T
	e     *Engine
	p     *partition
	group ubl.Group
	lease ubl.Lease
	head  ubl.LedgerHead
}

func newOpener(t *testing.T) *opener {
	t.Helper()
	e, err := Open(t.TempDir(), &Options{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	o := &opener{t: t, e: e, p: e.partitions[0], group: ubl.Group{Tenant: "t:x", Shard: "0"}}
	if o.lease, o.head, err = e.Begin(t.Context(), o.group); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *opener) write(value string) {
	o.t.Helper()
	done := make(chan error, 1)
	o.e.Submit(&ubl.Batch{
		Group: o.group, Lease: o.lease, Head: o.head, Next: o.head, Records: []ubl.Record{{Key: []byte("k"), Value: []byte(value)}},
	}, func(err error) { done <- err })
	if err := <-done; err != nil {
		o.t.Fatal(err)
	}
	o.p.flusher.Stop()
}

// sees reads with a context, and tells whether the transaction stays open.
func (o *opener) sees(ctx context.Context, want string) (open bool) {
	o.t.Helper()
	err := o.e.View(ctx, o.group, func(s ubl.Snapshot) error {
		value, err := s.Get([]byte("k"))
		if string(value) != want {
			o.t.Errorf("a view sees %q, want %q", value, want)
		}
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.p.state.is().open()
}

// TestReadersShareAFlush: what was written when a reader came is in the file as soon as
// another reader has had it put there. What was written since may stay open.
func TestReadersShareAFlush(t *testing.T) {
	o := newOpener(t)
	always := func() bool { return true }
	o.write("first")
	came := o.p.flushed.Load() // two readers, the second of which waits for the first
	if o.sees(t.Context(), "first") {
		t.Fatal("a reader left the transaction open that it was to see")
	}
	o.write("second")
	if err := o.p.flushBehind(came, always); err != nil || !o.p.state.is().open() {
		t.Errorf("a reader committed what was written after it came: %v", err)
	}
	if err := o.p.flushBehind(o.p.flushed.Load(), always); err != nil || o.p.state.is().open() {
		t.Errorf("a reader left open what was written before it came: %v", err)
	}
}

// TestReading: the first view of a reading sees what was written before, and the next ones
// leave open what is written meanwhile. Sessions of other groups, and other views, don't.
func TestReading(t *testing.T) {
	o := newOpener(t)
	reading := ubl.WithReading(t.Context(), o.group)
	o.write("first")
	if o.sees(reading, "first") {
		t.Error("the first view left open what it was to see")
	}
	o.write("second")
	if !o.sees(reading, "first") {
		t.Error("a later view had something committed")
	}
	if o.sees(ubl.WithReading(t.Context(), o.group), "second") {
		t.Error("another reading's first view left open what it was to see")
	}
	o.write("third")
	elsewhere := ubl.WithReading(t.Context(), ubl.Group{Tenant: "t:y", Shard: "0"})
	ubl.ReadingOf(elsewhere, ubl.Group{Tenant: "t:y", Shard: "0"}).Begin()
	if o.sees(elsewhere, "third") || o.sees(reading, "third") {
		t.Error("a view of a group in another's reading left open what it was to see")
	}
}
