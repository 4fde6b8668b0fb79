package actors

import (
	"context"
	"errors"
	"testing"
)

// TestFewDontWaitForMany: a look into the past that reads few events has its place while another
// of the tenant reads many. One that turns out to read many waits for that.
func TestFewDontWaitForMany(t *testing.T) {
	r, over := newReplays(), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	many, few := r.look(t.Context(), "t:acme.com"), r.look(ctx, "t:acme.com")
	if err := many.read(fewEvents + 1); err != nil {
		t.Fatal(err)
	}
	if err := few.read(fewEvents); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(over)
		if err := few.read(1); !errors.Is(err, context.Canceled) {
			t.Errorf("the second that reads many is told %v", err)
		}
	}()
	if err := r.look(t.Context(), "t:acme.com").read(1); err != nil { // it waits for few's place
		t.Fatal(err)
	}
	cancel()
	<-over
	few.end()
	many.end()
}

// TestTooLong: a read that ran out of time is told so, and a write that its outcome isn't known.
func TestTooLong(t *testing.T) {
	for _, c := range []struct {
		cmd  costs
		err  error
		says string
	}{
		{0, context.DeadlineExceeded, "overloaded: the read took too long and was given up; it changes nothing: context deadline exceeded"},
		{1, context.DeadlineExceeded, "context deadline exceeded"},
		{0, context.Canceled, "context canceled"},
	} {
		if got := tooLong(c.cmd, c.err); got.Error() != c.says {
			t.Errorf("%v after a command of cost %d: %q", c.err, c.cmd, got)
		}
	}
}

// costs is a command that costs so much.
type costs int

func (c costs) Cost() int { return int(c) }
