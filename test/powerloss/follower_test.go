//go:build powerloss

package powerloss

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/storage"
	"ubl/test/counter"
	"ubl/test/harness"
	"ubl/test/poll"
)

// listener is outside: it is told of each addition to a counter, by a follower of the ledger.
type listener struct {
	mu   sync.Mutex
	told []tale
}

// tale is one act as the listener was told of it.
type tale struct {
	subject string
	seq     int64
}

func (l *listener) hear(_ context.Context, subject string, list []actors.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range list {
		l.told = append(l.told, tale{subject, e.Seq})
	}
	return nil
}

func (l *listener) heard() []tale {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// openListened is a house with the trial family and a follower that tells the listener.
func openListened(t *testing.T, l *listener, opts harness.Options) *harness.House {
	read := &struct{ ubl.Reader }{}
	opts.Wrap = func(s ubl.Store) ubl.Store { read.Reader = s; return s }
	follow := &actors.Follow{
		Name: "listener", Local: "tail|listener", Every: time.Millisecond, Dids: []ubl.Did{"counter.add"},
		Subject: func(e actors.Entry) string { return e.Pointer("counter_id") },
	}
	opts.Families = []actors.Family{counter.Family(read), actors.Deliverer(read, follow, func(actors.Env) func(context.Context, string, []actors.Entry) error { return l.hear })}
	return harness.Open(t, opts)
}

// followerCut is a power cut: what the disk held, when, and what had been told.
type followerCut struct {
	dir  string
	when time.Time
	told []tale
}

// TestFollowerOverPowerLoss: a follower tells of acts while the power goes at random syncs. What a
// cut leaves has every act that was told, and no cursor ahead of one that wasn't. A house over it
// tells all the rest, each subject in order.
func TestFollowerOverPowerLoss(t *testing.T) {
	r := newRig(t, 13)
	r.quiet = true
	outside := new(listener)
	h := openListened(t, outside, harness.Options{Dir: r.dir, Storage: r.options()})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	var cuts []followerCut
	r.mu.Lock()
	r.fail = func(n int, _ string) error { // what is told next waits for this sync
		if n%5 == 0 && len(cuts) < 12 || r.random.IntN(6) == 0 && len(cuts) < 8 {
			c := followerCut{when: h.Clock.Now(), told: outside.heard()}
			var err error
			if c.dir, err = r.layOut(r.someOf(r.current())); err != nil {
				t.Error(err)
			}
			cuts = append(cuts, c)
		}
		return nil
	}
	r.mu.Unlock()
	const counters, each = 4, 15
	var writers sync.WaitGroup
	for c := range counters {
		writers.Go(func() {
			for range each {
				at := ubl.Name(fmt.Sprint(ana.TenantID, "|n:", c))
				if _, err := h.Ask(context.Background(), at, counter.Add{Request: h.Request(ana), By: 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	poll.Until(t, "all is told", func() bool { return len(outside.heard()) >= counters*each })
	h.Close()
	if len(cuts) < 5 {
		t.Fatalf("only %d power cuts", len(cuts))
	}
	var furthest int64
	for i, c := range cuts {
		t.Run(fmt.Sprint("cut ", i), func(t *testing.T) { furthest = max(furthest, c.check(t, ana)) })
	}
	if furthest == 0 {
		t.Error("no cut left a cursor")
	}
}

// check looks at what a cut left, and opens a house over it. It tells where the cursor was.
func (c *followerCut) check(t *testing.T, ana ubl.Identity) int64 {
	cursor, there := c.left(t, ana)
	for _, tale := range c.told {
		if !slices.Contains(there, tale) {
			t.Errorf("%+v was told, and the disk doesn't have it", tale)
		}
	}
	for _, tale := range there {
		if tale.seq <= cursor && !slices.Contains(c.told, tale) {
			t.Errorf("the cursor is at %d, and %+v was never told", cursor, tale)
		}
	}
	outside := new(listener)
	h := openListened(t, outside, harness.Options{Dir: c.dir, From: c.when})
	h.Enter(ana)
	last := ubl.Name(string(ana.TenantID) + "|n:last")
	harness.Must[counter.Counter](h, last, counter.Add{Request: h.Request(ana), By: 1})
	poll.Until(t, "the newest is told", func() bool {
		return slices.ContainsFunc(outside.heard(), func(one tale) bool { return one.subject == "n:last" })
	})
	h.Close()
	told, newest := outside.heard(), map[string]int64{}
	for _, tale := range told {
		if tale.seq <= newest[tale.subject] {
			t.Errorf("%+v is told behind %d", tale, newest[tale.subject])
		}
		newest[tale.subject] = tale.seq
	}
	for _, tale := range there {
		if !slices.Contains(c.told, tale) && !slices.Contains(told, tale) {
			t.Errorf("%+v is told by neither house", tale)
		}
	}
	return cursor
}

// left is the follower's cursor, and the additions that the disk has.
func (c *followerCut) left(t *testing.T, ana ubl.Identity) (cursor int64, there []tale) {
	t.Helper()
	e, err := storage.Open(c.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.View(t.Context(), ubl.TenantName(ana.TenantID).Group(), func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err != nil {
			return err
		}
		v, err := snap.Get([]byte("i\x03tail|listener"))
		if err != nil {
			return err
		}
		if v != nil {
			var stored struct{ Seq int64 }
			if err := json.Unmarshal(v, &stored); err != nil {
				return err
			}
			cursor = stored.Seq
		}
		for seq := int64(1); seq < head.Seq; seq++ {
			action, err := snap.Atom(seq)
			if err != nil {
				return err
			}
			if _, rest, ok := strings.Cut(string(action), `"did":"counter.add"`); ok {
				_, rest, _ = strings.Cut(rest, `"counter_id":"`)
				subject, _, _ := strings.Cut(rest, `"`)
				there = append(there, tale{subject, seq + 1})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cursor, there
}
