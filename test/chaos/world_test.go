//go:build linux

package chaos

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// operator owns tenant 0 in every world.
const operator = "ops@operators.example"

// world is some nodes, the network between them, and the clients' way in.
type world struct {
	plan
	t        *testing.T
	seed     uint64
	binary   string
	hasClock bool // the program's clock can be moved
	counts   bool // the program has the trial family
	hook     *hook
	dir      string
	secret   string
	net      network
	http     *http.Client
	began    time.Time // of the clock that histories are told in

	// life ends with the world's clients: at the end of the test, or with the first
	// thing that is wrong, which is its cause. All that waits ends with it.
	life context.Context
	end  context.CancelCauseFunc

	backoffs atomic.Int64 // how many were begun

	operatorOnce  sync.Once
	operatorToken string

	mu       sync.Mutex
	nodes    []*node
	problems []string // what went wrong in the background
	broken   string   // what is being done to it
}

// plan is what a world is made of.
type plan struct {
	count int // of nodes
	// alone makes nodes that know nothing of a cluster.
	alone bool
	// expect founds the cluster with --bootstrap-expect, else the first node
	// founds it and the others join.
	expect bool
	// smallDisks are the nodes, from 1, that get a small disk.
	smallDisks []int
	flags      []string // of every node
	// silence is how long a leader may say nothing before another is elected: by
	// default longer than a user's node lets it, since a machine that runs tests
	// may stand still for longer than that.
	silence  time.Duration
	loopback bool // even where there are namespaces
}

// newWorld makes the nodes and starts none.
func newWorld(t *testing.T, seed uint64, p plan) *world {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", prefix()+"world-")
	if err != nil {
		t.Fatal(err)
	}
	p.silence = cmp.Or(p.silence, time.Second)
	w := &world{plan: p, t: t, seed: seed, binary: path, hasClock: knows(t, path, "UBL_CHAOS_CLOCK"), counts: knows(t, path, "UBL_COUNTER_HOOK"), hook: newHook(),
		dir: dir, secret: newSecret(), net: newNetwork(t, p.loopback), began: time.Now()}
	w.life, w.end = context.WithCancelCause(context.Background())
	dial := func(ctx context.Context, _, address string) (net.Conn, error) { return w.net.dial(ctx, 0, address) }
	w.http = &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 128}}
	t.Cleanup(w.close)
	for i := range p.count {
		n := w.add(t)
		n.founder = i == 0 && !p.expect
		if p.expect && !p.alone {
			n.flags = append(n.flags, "--bootstrap-expect", fmt.Sprint(p.count))
		}
	}
	for _, i := range p.smallDisks {
		w.giveSmallDisk(w.node(i))
	}
	return w
}

// knows reports whether the program under test has heard of something.
func knows(t *testing.T, path, what string) bool {
	t.Helper()
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(program, []byte(what))
}

// needsCluster skips a test where the program can't form one.
func needsCluster(t *testing.T) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if !knows(t, path, "UBL_CLUSTER_SECRET") {
		t.Skip("this program has no cluster")
	}
}

// newSecret is what gossip and the cluster's own CA come from.
func newSecret() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	return base64.StdEncoding.EncodeToString(secret[:])
}

// add makes one more node, which doesn't run yet.
func (w *world) add(t *testing.T) *node {
	t.Helper()
	w.mu.Lock()
	i := len(w.nodes) + 1
	w.mu.Unlock()
	n := &node{world: w, index: i, id: fmt.Sprintf("n%d", i), secret: w.secret}
	n.home = filepath.Join(w.dir, n.id)
	if err := errors.Join(os.Mkdir(n.home, 0o700), w.net.add(i)); err != nil {
		t.Fatal(err)
	}
	ln, at, err := w.net.beside(i)
	if err != nil {
		t.Fatal(err)
	}
	n.hook, n.endHook = "http://"+at, w.hook.serve(ln)
	if err := n.move(); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.nodes = append(w.nodes, n)
	w.mu.Unlock()
	return n
}

// move gives the node another address, for its next start.
func (n *node) move() error {
	at, err := n.world.net.addresses(n.index)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = at
	return err
}

func (w *world) giveSmallDisk(n *node) {
	w.t.Helper()
	d, err := newDisk(filepath.Join(n.home, "disk"))
	if err != nil {
		w.t.Logf("no full disks: %v", err)
		return
	}
	n.disk = d
}

// node is the one with the number, from 1.
func (w *world) node(i int) *node { return w.all()[i-1] }

func (w *world) all() []*node {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.nodes)
}

// members are the nodes that clients use.
func (w *world) members() []*node {
	return slices.DeleteFunc(w.all(), func(n *node) bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return !n.member
	})
}

// admit lets clients use a node, or not.
func (w *world) admit(member bool, nodes ...*node) {
	for _, n := range nodes {
		n.mu.Lock()
		n.member = member
		n.mu.Unlock()
	}
}

// clusterAddresses are those of all nodes but one.
func (w *world) clusterAddresses(but *node) []string {
	var out []string
	for _, n := range w.all() {
		if n != but {
			out = append(out, n.addresses().cluster)
		}
	}
	return out
}

// now is the time that histories are told in.
func (w *world) now() int64 { return int64(time.Since(w.began)) }

// close ends every process and removes everything.
func (w *world) close() {
	w.end(errOver)
	for _, n := range w.all() {
		n.kill()
		if w.t.Failed() {
			w.t.Logf("the end of the log of %s:\n%s", n, n.logTail())
		}
		if n.disk != nil {
			_ = n.disk.close()
		}
		_ = n.endHook()
	}
	for _, p := range w.complaints() {
		w.t.Error(p)
	}
	w.http.CloseIdleConnections()
	if err := w.net.close(); err != nil {
		w.t.Errorf("couldn't remove the network: %v", err)
	}
	if os.Getenv("CHAOS_KEEP") != "" {
		w.t.Logf("kept %s", w.dir)
		return
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Errorf("couldn't remove the data: %v", err)
	}
}
