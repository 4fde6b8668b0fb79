package cluster

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ubl/test/poll"
)

// keyed is a cluster whose nodes have keys, and counts how often each is asked for them.
func keyed(t *testing.T, earlier string) (w *world, keys map[string]*atomic.Pointer[[]string], asked map[string]*atomic.Int64) {
	keys, asked = make(map[string]*atomic.Pointer[[]string]), make(map[string]*atomic.Int64)
	for _, id := range []string{"a", "b", "c"} {
		keys[id], asked[id] = new(atomic.Pointer[[]string]), new(atomic.Int64)
		keys[id].Store(&[]string{"old"})
	}
	return newWorld(t, 3, func(o *Options) {
		steady(o)
		id := o.NodeID
		o.earlier = id == earlier
		o.Keys = func() []string {
			asked[id].Add(1)
			return *keys[id].Load()
		}
	}), keys, asked
}

// TestNobodyIsAskedForTheSameKeys again, and a node is asked as soon as it tells that it has others.
func TestNobodyIsAskedForTheSameKeys(t *testing.T) {
	w, keys, asked := keyed(t, "")
	a, b := w.nodes[0], w.nodes[1]
	is := func(ofB ...string) func() bool {
		want := map[string][]string{"b": ofB, "c": {"old"}}
		return func() bool { return maps.EqualFunc(a.PeerKeys(t.Context()), want, slices.Equal) }
	}
	rest := func() {
		t.Helper()
		before := asked["b"].Load() + asked["c"].Load()
		const often = 200
		for range often {
			a.PeerKeys(t.Context())
		}
		// Reports are also asked for to compare clocks, and by who decides placement.
		if now := asked["b"].Load() + asked["c"].Load(); now-before >= often {
			t.Errorf("they were asked %d times for what a knows", now-before)
		}
	}
	poll.Until(t, "all are known", is("old"))
	rest()
	keys["b"].Store(&[]string{"new", "old"})
	if err := b.TellKeys(); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "b has others", is("new", "old"))
	rest()
	keys["b"].Store(&[]string{"old", "new"})
	if err := b.TellKeys(); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "b uses the other one", is("old", "new"))
}

// TestANodeThatDoesntTell is asked each time: it is of an earlier version.
func TestANodeThatDoesntTell(t *testing.T) {
	w, keys, _ := keyed(t, "b")
	a := w.nodes[0]
	for _, key := range []string{"old", "new", "old"} {
		keys["b"].Store(&[]string{key})
		if got := a.PeerKeys(t.Context())["b"]; strings.Join(got, " ") != key {
			t.Errorf("it has %q, want %q", got, key)
		}
	}
	// Nor does what it said before count when it doesn't answer.
	w.nodes[1].cut()
	if got := a.PeerKeys(t.Context())["b"]; got != nil {
		t.Errorf("a node that doesn't answer has %q", got)
	}
}
