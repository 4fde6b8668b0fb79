package main

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl/cluster/mesh"
	"ubl/transport/auth"
)

// TestVotesOnKeys: the node whose key most others don't accept is the odd one; of two
// that differ, each may be.
func TestVotesOnKeys(t *testing.T) {
	for _, test := range []struct {
		accepted, peers string // a peer's keys with commas, "-" for none
		lonely, odd     bool
		against         string
	}{
		{"a", "", false, false, ""},
		{"a", "a a", false, false, ""},
		{"b,a", "a b,a", false, false, ""},
		{"a", "b,a a", false, false, "n1"},
		{"a", "b,a b,a", true, true, "n1 n2"},
		{"a", "b", true, false, "n1"},
		{"a", "b -", true, false, "n1"},
		{"a", "- -", false, false, ""},
		{"a", "a a b b", false, false, "n3 n4"},
	} {
		peers := map[string][]string{}
		for i, keys := range strings.Fields(test.peers) {
			peers["n"+string(rune('1'+i))] = strings.FieldsFunc(keys, func(r rune) bool { return r == ',' || r == '-' })
		}
		v := votesOn(strings.Split(test.accepted, ","), peers)
		n := &node{}
		n.others.Store(&v)
		if v.lonely() != test.lonely || (n.signsAsOthers() != nil) != test.odd || strings.Join(v.against, " ") != test.against {
			t.Errorf("%s among %s: %+v, lonely %v, %v", test.accepted, test.peers, v, v.lonely(), n.signsAsOthers())
		}
	}
}

// keyed are three nodes of a cluster without transports, which look after their keys.
type keyed struct {
	t     *testing.T
	p     *program
	cmds  [3]*serveCmd
	nodes [3]*node
	turns [3]*rotation
}

func newKeyed(t *testing.T) *keyed {
	text, err := mesh.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k := &keyed{t: t, p: &program{now: time.Now, random: rand.Reader, out: io.Discard, err: io.Discard, env: map[string]string{"UBL_CLUSTER_SECRET": text}}}
	for i := range k.cmds {
		k.cmds[i] = &serveCmd{Data: t.TempDir()}
	}
	t.Cleanup(func() { // before the directories go
		for i := range k.nodes {
			k.stop(i)
		}
	})
	for i := range k.cmds {
		k.cmds[i].clusterFlags = clusterFlags{NodeID: "n" + string(rune('1'+i)), ClusterListen: "127.0.0.1:0", ClusterTimeout: time.Second, ClusterLogBytes: 1 << 20}
		k.start(i)
	}
	return k
}

func (k *keyed) start(i int) {
	k.t.Helper()
	c := k.cmds[i]
	c.Join = nil
	for j, n := range k.nodes {
		if j != i && n != nil {
			c.Join = append(c.Join, n.cluster.Addr())
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		k.t.Fatal(err)
	}
	defer ln.Close()
	n, err := c.openMember(k.t.Context(), k.p, &doors{main: ln}, slog.New(slog.DiscardHandler))
	if err != nil {
		k.t.Fatal(err)
	}
	key, _, err := auth.LoadOrCreateKey(c.keyPath(), k.p.random)
	if err != nil {
		k.t.Fatal(err)
	}
	n.key.Store(c.startingKey(key, k.p.now()))
	k.nodes[i], k.turns[i] = n, c.rotateKey(n, func(*auth.Key) {})
}

func (k *keyed) stop(i int) {
	if n := k.nodes[i]; n != nil {
		k.nodes[i] = nil
		if err := n.close(k.t.Context()); err != nil && !errors.Is(err, k.t.Context().Err()) {
			k.t.Error(err)
		}
	}
}

// until has the nodes take steps until what they do is as it should be.
func (k *keyed) until(what string, ok func() bool) {
	k.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		for i, n := range k.nodes {
			if n != nil {
				k.turns[i].once(k.t.Context())
			}
		}
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			k.t.Fatalf("it never came to be that %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// allSign waits until every node signs with a key, and serves.
func (k *keyed) allSign(id string) {
	k.t.Helper()
	k.until("all sign with "+id, func() bool {
		return !slices.ContainsFunc(k.nodes[:], func(n *node) bool { return n != nil && (n.keyIDs()[0] != id || n.serves() != nil || n.ready() != nil) })
	})
}

// TestKeysOfACluster: a node that comes back with another key than the others serves
// nobody. It takes over the one that follows its own, and gets the one that it lost.
func TestKeysOfACluster(t *testing.T) {
	k := newKeyed(t)
	load := func(i int) *auth.Key {
		t.Helper()
		key, err := auth.LoadKey(k.cmds[i].keyPath())
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	k.allSign(load(0).ID())

	k.stop(2) // while the key is rotated
	next, err := load(0).Rotate(rand.Reader, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := auth.ReplaceKey(k.cmds[i].keyPath(), next); err != nil {
			t.Fatal(err)
		}
	}
	k.allSign(next.ID())
	k.start(2)
	if err := k.nodes[2].signsAsOthers(); err == nil || !strings.Contains(err.Error(), "hasn't compared its key") {
		t.Errorf("before it has asked the others it says %v", err)
	}
	k.allSign(next.ID())
	if got := load(2); !slices.Equal(got.IDs(), next.IDs()) {
		t.Errorf("its file has %v, want %v", got.IDs(), next.IDs())
	}

	k.stop(2)
	k.start(2)
	k.until("it has asked the others", func() bool { return k.turns[2].told != nil })
	if told := k.turns[2].told; told[0] != next.ID() {
		t.Errorf("a restart counts as a rotation from %v", told)
	}

	k.stop(2) // and its key is lost
	if err := os.Remove(k.cmds[2].keyPath()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.cmds[2].shared(k.p, slog.New(slog.DiscardHandler), false, true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a node without a key hands out one: %v", err)
	}
	k.start(2)
	k.allSign(next.ID())

	k.stop(2) // and its key is another one
	foreign, err := auth.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := auth.ReplaceKey(k.cmds[2].keyPath(), foreign); err != nil {
		t.Fatal(err)
	}
	k.start(2)
	odd := k.nodes[2]
	k.until("it has asked both", func() bool { return odd.others.Load() != nil && len(odd.differs().against) == 2 })
	for name, ask := range map[string]func() error{"ready": odd.ready, "serves": odd.serves} {
		k.until(name+" says that its key is another one", func() bool { // a moment without a leader comes first
			err := ask()
			return err != nil && strings.Contains(err.Error(), "another than that of n1, n2")
		})
	}
	if got := load(2); !got.Equal(foreign) {
		t.Error("a key that has nothing to do with the others' was replaced")
	}
	k.until("the others serve", func() bool { return k.nodes[0].ready() == nil && k.nodes[1].ready() == nil })
	if files, err := filepath.Glob(filepath.Join(k.cmds[2].Data, "identity.key*")); err != nil || len(files) != 1 {
		t.Errorf("beside the key there is %v, %v", files, err)
	}
}
