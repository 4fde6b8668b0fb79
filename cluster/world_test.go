package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	"ubl/actors/families"
	"ubl/cluster/mesh"
	"ubl/cluster/wire"
	"ubl/storage"
	"ubl/test/poll"
)

// world is a cluster in one process: real files, real TLS and gossip on
// loopback, no actors unless a test attaches them.
type world struct {
	t      testing.TB
	secret mesh.Secret
	change func(*Options)
	nodes  []*Node
	dirs   []string
}

const testPartitions = 2

// newWorld starts a cluster of n nodes in which every partition has its voters.
func newWorld(t testing.TB, n int, change func(*Options)) *world {
	t.Helper()
	text, err := mesh.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := mesh.ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, secret: secret, change: change}
	for range n {
		w.nodes = append(w.nodes, nil)
		w.dirs = append(w.dirs, t.TempDir())
	}
	t.Cleanup(w.close) // before the directories go
	for i := range n {
		w.start(i)
	}
	w.settle()
	return w
}

// start opens a node over its directory.
func (w *world) start(i int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := Open(ctx, w.options(i))
	if err != nil {
		w.t.Fatalf("couldn't start node %d: %v", i, err)
	}
	w.nodes[i] = n
}

func (w *world) options(i int) Options {
	registry, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		w.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() && os.Getenv("UBL_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("node", i)
	}
	o := Options{
		Dir: w.dirs[i], NodeID: string(rune('a' + i)), Listen: "127.0.0.1:0", Secret: w.secret, Registry: registry,
		Timeout: time.Second, SpreadEvery: time.Hour,
		Storage: storage.Options{Partitions: testPartitions},
		Now:     time.Now, Random: rand.Reader, Log: log,
	}
	for j, n := range w.nodes {
		if j != i && n != nil {
			o.Join = append(o.Join, n.Addr())
		}
	}
	if w.change != nil {
		w.change(&o)
	}
	return o
}

// steady is for tests that need one leader throughout: none is deposed because the
// machine was busy for a moment.
func steady(o *Options) { o.Timeout = 3 * time.Second }

// stop closes a node.
func (w *world) stop(i int) {
	w.t.Helper()
	if n := w.nodes[i]; n != nil {
		w.nodes[i] = nil
		if err := n.Close(); err != nil {
			w.t.Errorf("couldn't close node %d: %v", i, err)
		}
	}
}

func (w *world) close() {
	for i := range w.nodes {
		w.stop(i)
	}
}

// settle waits until every partition has a leader and all the voters it can have.
func (w *world) settle() {
	w.t.Helper()
	var running int
	for _, n := range w.nodes {
		if n != nil {
			running++
		}
	}
	poll.Until(w.t, "every partition has a leader and its voters", func() bool {
		for p := range testPartitions {
			n := w.leader(p)
			if n == nil || len(n.group(p).configuration().voters) < min(running, 3) || len(n.group(p).configuration().learners) > 0 {
				return false
			}
		}
		for _, n := range w.nodes {
			if n != nil && n.Ready() != nil {
				return false
			}
		}
		return true
	})
}

// leader is the node that leads a partition, nil if none does: of two that think
// so, the one of the newer term.
func (w *world) leader(partition int) *Node {
	var newest *Node
	var epoch int64
	for _, n := range w.nodes {
		if n != nil && n.engine.Epoch(partition) > epoch {
			newest, epoch = n, n.engine.Epoch(partition)
		}
	}
	return newest
}

// stand has a node lead a partition. It stands again only once an election has had its
// time: what the leader writes meanwhile makes one fail.
func (w *world) stand(n *Node, partition int) {
	w.t.Helper()
	var stood time.Time
	poll.Until(w.t, "the node leads", func() bool {
		if w.leader(partition) != n && time.Since(stood) > 2*time.Second {
			stood = time.Now()
			n.group(partition).stand()
		}
		return w.leader(partition) == n
	})
}

// led waits until a node leads a partition.
func (w *world) led(partition int) (n *Node) {
	w.t.Helper()
	poll.Until(w.t, "a node leads", func() bool {
		n = w.leader(partition)
		return n != nil
	})
	return n
}
