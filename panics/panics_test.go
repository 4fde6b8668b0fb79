package panics

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestCatcher: a panic becomes an error, is counted, and its stack is in the log.
func TestCatcher(t *testing.T) {
	var log bytes.Buffer
	c := New(slog.New(slog.NewTextHandler(&log, nil)))
	if err := c.Try("reading", func() error { return nil }); err != nil || c.Caught() != 0 {
		t.Fatalf("work that didn't panic: %v, %d caught", err, c.Caught())
	}
	fault := errors.New("fault")
	if err := c.Try("reading", func() error { return fault }); !errors.Is(err, fault) {
		t.Fatalf("its error became %v", err)
	}
	if err := c.Try("reading", func() error { return poison() }); !errors.Is(err, ErrPanic) {
		t.Fatalf("a panic became %v", err)
	}
	var group sync.WaitGroup
	c.Go(&group, "working", func() { _ = poison() })
	group.Wait()
	c.Do("working", func() { _ = poison() })
	if c.Caught() != 3 {
		t.Fatalf("%d panics are counted, want 3", c.Caught())
	}
	for _, want := range []string{"work=reading", "work=working", "poisoned", "panics.poison("} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log doesn't say %q:\n%s", want, log.String())
		}
	}
}

// TestGoAlone: a goroutine that nobody waits for is guarded too.
func TestGoAlone(t *testing.T) {
	c := New(nil)
	ran := make(chan struct{})
	c.Go(nil, "working", func() {
		defer close(ran)
		_ = poison()
	})
	<-ran
}

func poison() error { panic("poisoned") }
