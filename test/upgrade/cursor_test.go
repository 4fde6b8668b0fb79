package upgrade

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/counter"
	"ubl/test/harness"
	"ubl/test/poll"
)

// listener is told by a follower of the ledger which counters were added to, while it is there.
type listener struct {
	mu   sync.Mutex
	away bool
	told []string
}

func (l *listener) hear(_ context.Context, subject string, list []actors.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return ubl.Errorf(ubl.CodeUnavailable, "nobody listens")
	}
	for range list {
		l.told = append(l.told, subject)
	}
	return nil
}

func (l *listener) heard() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// openListened is a house with counters and a follower that tells the listener.
func openListened(t *testing.T, l *listener, dir string) *harness.House {
	store := new(wrapped)
	follow := &actors.Follow{
		Name: "listener", Local: "tail|listener", Every: time.Millisecond, Dids: []ubl.Did{"counter.add"},
		Subject: func(e actors.Entry) string { return e.Pointer("counter_id") },
	}
	deliver := func(actors.Env) func(context.Context, string, []actors.Entry) error { return l.hear }
	return harness.Open(t, harness.Options{
		Dir: dir, Wrap: store.wrap, Families: []actors.Family{counter.Family(store), actors.Deliverer(store, follow, deliver)},
	})
}

// TestCursorFromBefore: when a version stopped, a follower had told of two additions, as its stored
// cursor says, and not of the two behind them. Only these are told, in order, and what comes next.
func TestCursorFromBefore(t *testing.T) {
	outside := new(listener)
	h := openListened(t, outside, harness.Restore(t, "testdata/cursor/data.tar.gz"))
	ana := harness.User("ana@cursor.example")
	told := func(want ...string) {
		t.Helper()
		poll.Until(t, "the listener is told", func() bool { return len(outside.heard()) >= len(want) })
		if got := outside.heard(); !slices.Equal(got, want) {
			t.Errorf("told are %q, want %q", got, want)
		}
	}
	told("n:third", "n:fourth")
	poll.Until(t, "the cursor is kept", func() bool { return h.FollowStats()["listener"].Groups == 0 })
	h.Restart()
	harness.Must[counter.Counter](h, ubl.Name(string(ana.TenantID)+"|n:fifth"), counter.Add{Request: h.Request(ana), By: 1})
	told("n:third", "n:fourth", "n:fifth")
	h.VerifyLedger(ana.TenantID)
}
