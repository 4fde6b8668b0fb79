package cluster

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/test/poll"
)

// TestNextKeys: no step cuts a living node off.
func TestNextKeys(t *testing.T) {
	type peers = map[string][]string
	keys := func(s string) []string { return strings.Fields(s) }
	tests := []struct {
		name      string
		now, want string
		peers     peers
		next      string
		waits     string // a part of it; "" for nothing
	}{
		{"nothing to do", "old", "old", peers{"n2": keys("old")}, "old", ""},
		{"a node alone", "old", "new", peers{}, "new", ""},
		{"the first to be told", "old", "new old", peers{"n2": keys("old"), "n3": keys("old")}, "old new", "n2, n3 to accept new"},
		{"one still lacks it", "old new", "new old", peers{"n2": keys("old new"), "n3": keys("old")}, "old new", "n3 to accept new"},
		{"all accept it", "old new", "new old", peers{"n2": keys("old new"), "n3": keys("new old")}, "new old", ""},
		{"the old one is dropped too early", "new old", "new", peers{"n2": keys("old new")}, "new old", "others to stop using old"},
		{"the old one is dropped", "new old", "new", peers{"n2": keys("new old"), "n3": keys("new")}, "new", ""},
		{"replaced at once: it is accepted and waits", "old", "new", peers{"n2": keys("old")}, "old new", "n2 to accept new"},
		{"replaced at once on all: they use it", "old new", "new", peers{"n2": keys("old new")}, "new old", "others to stop using old"},
		{"a node that doesn't answer", "old", "new old", peers{"n2": nil}, "old new", "n2 to accept new"},
		{"nor lets the old one go", "new old", "new", peers{"n2": nil}, "new old", "others to stop using old"},
		{"taken back", "old new", "old", peers{"n2": keys("old new")}, "old", ""},
		{"taken back while it is in use", "new old", "old", peers{"n2": keys("new old")}, "old new", "others to stop using new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			next, waits := NextKeys(keys(test.now), keys(test.want), test.peers)
			if got := strings.Join(next, " "); got != test.next {
				t.Errorf("next %q, want %q", got, test.next)
			}
			if !strings.Contains(waits, test.waits) || (waits == "") != (test.waits == "") {
				t.Errorf("waits for %q, want %q", waits, test.waits)
			}
		})
	}
}

// TestSecretIsRotated: three nodes get a new secret one after the other, with no
// order among them, and never stop agreeing on writes.
func TestSecretIsRotated(t *testing.T) {
	w := newWorld(t, 3, nil)
	text, err := mesh.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := mesh.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	step := func(i int, want mesh.Secret) (waits string) {
		waits, err := w.nodes[i].SetSecret(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	}
	both := fresh.Select(w.secret, []string{fresh.IDs()[0], w.secret.IDs()[0]})
	if waits := step(0, both); !strings.Contains(waits, "b, c to accept") {
		t.Errorf("the first node waits for %q", waits)
	}
	all := func(want mesh.Secret) {
		t.Helper()
		poll.Until(t, "every node has its secret", func() bool {
			done := true
			for i := range w.nodes {
				done = step(i, want) == "" && done
			}
			return done
		})
		for i, n := range w.nodes {
			if !slices.Equal(n.SecretIDs(), want.IDs()) {
				t.Errorf("node %d has %v, want %v", i, n.SecretIDs(), want.IDs())
			}
		}
		w.settle()
	}
	all(w.secret)

	// A node that starts while the others know nothing of the new one still speaks
	// with them, though its file has the new one first.
	was := w.secret
	w.secret = both
	w.stop(2)
	w.start(2)
	w.settle()
	if ids := w.nodes[2].SecretIDs(); ids[0] != was.IDs()[0] {
		t.Errorf("it uses %s, the others only know %s", ids[0], was.IDs()[0])
	}
	all(both)
	all(fresh)
	poll.Until(t, "the status says that all use the fresh one", func() bool { // on a busy machine a node may be suspect for a moment
		status, err := w.nodes[0].Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(status.Nodes, func(n ubl.ClusterNode) bool {
			return n.State != "alive" || !slices.Equal(n.SecretIDs, fresh.IDs())
		})
	})
	w.secret = fresh
	w.stop(2)
	w.start(2) // with the new secret alone
	w.settle()
}
