package storage

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"ubl"
)

// undurable is an engine with one batch that readers see and the disk doesn't
// have yet: bbolt shows a transaction before its last sync is over. It is made by
// taking back what the partition knows to be durable.
func undurable(t *testing.T) (e *Engine, p *partition, g ubl.Group) {
	t.Helper()
	e, err := Open(t.TempDir(), &Options{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	g = ubl.Group{Tenant: "t:x", Shard: "0"}
	lease, head, err := e.Begin(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	e.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: []ubl.Record{{Key: []byte("k"), Value: []byte("v")}}},
		func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	p = e.partition(g)
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	p.durable.Add(^uint64(0)) // minus one
	return e, p, g
}

// TestViewShowsWhatIsDurable: what a View has read it tells once that is durable,
// and not before; what it says of it, an error, likewise.
func TestViewShowsWhatIsDurable(t *testing.T) {
	fault := errors.New("what was read made no sense")
	for name, want := range map[string]error{"a value": nil, "an error": fault} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, p, g := undurable(t)
				defer e.Close()
				told, read := make(chan error, 1), false
				go func() {
					told <- e.View(t.Context(), g, func(s ubl.Snapshot) error {
						value, err := s.Get([]byte("k"))
						read = string(value) == "v" && err == nil
						return want
					})
				}()
				synctest.Wait()
				select {
				case err := <-told:
					t.Fatalf("it told, with %v, what may still be lost", err)
				default:
				}
				if !read {
					t.Fatal("it waits before it has read; the test has to be about another View")
				}
				p.advance(p.durable.Load()+1, nil)
				if err := <-told; !errors.Is(err, want) {
					t.Errorf("once it is durable: %v", err)
				}
			})
		})
	}
}

// TestViewOfWhatIsLost: where the sync fails, or the reader's time is over, it gets
// an error in place of what it has seen. So does who lists the groups.
func TestViewOfWhatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, p, g := undurable(t)
		defer e.Close()
		ctx, cancel := context.WithCancel(t.Context())
		if err := e.View(ctx, g, func(ubl.Snapshot) error { cancel(); return nil }); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("a reader whose time was over got %v", err)
		}
		lost := ubl.Errorf(ubl.CodeUnavailable, "the sync failed")
		reads := map[string]func() error{
			"View":     func() error { return e.View(t.Context(), g, func(ubl.Snapshot) error { return nil }) },
			"GroupsOf": func() error { _, err := e.GroupsOf(t.Context(), 0); return err },
		}
		told := make(chan error, len(reads))
		for _, read := range reads {
			go func() { told <- read() }()
		}
		synctest.Wait()
		p.advance(0, lost)
		for range reads {
			if err := <-told; !errors.Is(err, lost) {
				t.Errorf("a read of what is lost got %v", err)
			}
		}
	})
}
