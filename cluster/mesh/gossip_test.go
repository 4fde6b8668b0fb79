package mesh

import (
	"crypto/rand"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl/test/poll"
)

// quick makes failures show within seconds.
func quick() GossipOptions {
	return GossipOptions{ProbeInterval: 200 * time.Millisecond, SyncInterval: time.Second, RejoinInterval: time.Second}
}

// gossiper is a node that gossips.
type gossiper struct {
	*Gossip
	mesh    *Mesh
	log     *journal
	cluster *atomic.Value // of string
}

func gossip(t *testing.T, s Secret, serverID string, change ...func(*Options)) gossiper {
	t.Helper()
	g := gossiper{cluster: &atomic.Value{}}
	g.cluster.Store("")
	change = append([]func(*Options){func(o *Options) {
		o.ClusterID = func() string { return g.cluster.Load().(string) }
	}}, change...)
	g.mesh, g.log = listen(t, s, &directory{}, serverID, change...)
	started, err := g.mesh.StartGossip(quick())
	if err != nil {
		t.Fatal(err)
	}
	g.Gossip = started
	return g
}

func inCluster(id string) func(*Options) {
	return func(o *Options) { o.ClusterID = func() string { return id } }
}

func (g gossiper) join(t *testing.T, others ...gossiper) {
	t.Helper()
	var addrs []string
	for _, o := range others {
		addrs = append(addrs, o.mesh.Addr())
	}
	if n, err := g.Join(addrs); err != nil || n != len(others) {
		t.Fatalf("joined %d of %d: %v", n, len(others), err)
	}
}

// sees waits until the members are as said, such as "n1@a alive, n2@b dead".
func (g gossiper) sees(t *testing.T, want string) {
	t.Helper()
	view := func() string {
		var seen []string
		for _, m := range g.Members() {
			seen = append(seen, fmt.Sprintf("%s %s", m.ServerID, m.State))
		}
		return strings.Join(seen, ", ")
	}
	defer func() {
		if t.Failed() {
			t.Logf("%s sees %s\n%s", g.mesh.o.ServerID, view(), g.log)
		}
	}()
	poll.Within(t, beforeForgotten, g.mesh.o.ServerID+" sees "+want, func() bool { return view() == want })
}

func (g gossiper) member(serverID string) Member {
	m, _ := g.members.get(serverID)
	return m
}

// TestThreeNodesGossip: what each tells of itself reaches all, changes too.
func TestThreeNodesGossip(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a := gossip(t, s, "n1@a")
	b := gossip(t, s, "n2@b", func(o *Options) { o.Advertise = "localhost:0" })
	c := gossip(t, s, "n3@c")
	<-c.Changed() // it has seen itself
	a.join(t, b)
	c.join(t, a)
	for _, g := range []gossiper{a, b, c} {
		g.sees(t, "n1@a alive, n2@b alive, n3@c alive")
	}
	if m := c.member("n2@b"); m.NodeID != "n2" || m.Addr != b.mesh.Addr() || m.Self || !strings.HasPrefix(m.Addr, "localhost:") {
		t.Errorf("n3 knows n2 as %+v", m)
	}
	if m := c.member("n3@c"); !m.Self {
		t.Errorf("n3 knows itself as %+v", m)
	}
	if addr, ok := c.AddrOf("n1@a"); !ok || addr != a.mesh.Addr() {
		t.Errorf("n1 is at %s, %v", addr, ok)
	}
	if _, ok := c.AddrOf("n9@x"); ok {
		t.Error("an unknown server has an address")
	}

	drain(c.Changed())
	a.cluster.Store("c1")
	if err := a.UpdateMeta(); err != nil {
		t.Fatal(err)
	}
	poll.Within(t, beforeForgotten, "n3 is told of a change", func() bool { return len(c.Changed()) == 1 })
	poll.Within(t, beforeForgotten, "n3 sees n1's cluster", func() bool { return c.member("n1@a").ClusterID == "c1" })
	if n := a.log.count("level=WARN"); n != 0 {
		t.Errorf("%d warnings:\n%s", n, a.log)
	}
}

func drain(c <-chan struct{}) {
	select {
	case <-c:
	default:
	}
}

func TestExpectIsTold(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a := gossip(t, s, "n1@a")
	m, _ := listen(t, s, &directory{}, "n2@b")
	o := quick()
	o.Expect = 3
	g, err := m.StartGossip(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Join([]string{a.mesh.Addr()}); err != nil {
		t.Fatal(err)
	}
	poll.Within(t, beforeForgotten, "n1 hears it", func() bool { return a.member("n2@b").Expect == 3 })
}

// TestDeadNodeReturnsOnAnotherAddress: its death is seen, and reported until it
// is back; a second move is too quick for the others to have noticed the death.
func TestDeadNodeReturnsOnAnotherAddress(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b, c := gossip(t, s, "n1@a"), gossip(t, s, "n2@b"), gossip(t, s, "n3@c")
	b.join(t, a)
	c.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive, n3@c alive")
	b.sees(t, "n1@a alive, n2@b alive, n3@c alive")

	c.mesh.Close()
	a.sees(t, "n1@a alive, n2@b alive, n3@c dead")
	b.sees(t, "n1@a alive, n2@b alive, n3@c dead")
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return a.log.count("a node stopped answering") == 1 })

	for range 2 {
		c = gossip(t, s, "n3@c")
		c.join(t, a)
		for _, g := range []gossiper{a, b, c} {
			poll.Within(t, beforeForgotten, "n3 is found on its new address", func() bool {
				m := g.member("n3@c")
				return m.State == Alive && m.Addr == c.mesh.Addr()
			})
		}
		c.mesh.Close()
	}
}

// TestLeavingIsNotDying.
func TestLeavingIsNotDying(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive")
	if err := b.Leave(4 * time.Second); err != nil {
		t.Fatal(err)
	}
	a.sees(t, "n1@a alive, n2@b left")
	addr := b.mesh.Addr()
	b.mesh.Close()

	back := gossip(t, s, "n2@b", at(addr))
	back.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive")
}

// TestGossipStartsAgain on the same mesh, after it ended; one runs at a time.
func TestGossipStartsAgain(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	if _, err := a.mesh.StartGossip(quick()); err == nil {
		t.Fatal("it runs twice")
	}
	for range 2 {
		if err := a.Shutdown(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := b.Join([]string{a.mesh.Addr()}); err == nil {
		t.Fatalf("joined %d that don't gossip", n)
	}
	again, err := a.mesh.StartGossip(quick())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := again.Join([]string{b.mesh.Addr()}); n != 1 {
		t.Fatal(err)
	}
	b.sees(t, "n1@a alive, n2@b alive")
}

// TestSplitHalvesMeetAgain without anyone calling Join: who is dead to both is
// dialed from time to time.
func TestSplitHalvesMeetAgain(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive")
	addr := b.mesh.Addr()
	b.mesh.Close()
	a.sees(t, "n1@a alive, n2@b dead")
	back := gossip(t, s, "n2@b", at(addr)) // and calls nobody
	a.sees(t, "n1@a alive, n2@b alive")
	back.sees(t, "n1@a alive, n2@b alive")
}

func TestTheLostAreForgottenInTime(t *testing.T) {
	now := time.Unix(2e9, 0)
	members := members{all: map[string]Member{
		"n1@a": {Addr: "a:1", State: Alive}, "n2@b": {Addr: "b:1", State: Dead, Since: now},
		"n3@c": {Addr: "c:1", State: Dead, Since: now.Add(-time.Hour)}, "n4@d": {Addr: "d:1", State: Left, Since: now},
		"n1@old": {Addr: "a:1", State: Dead, Since: now},
	}}
	if got := members.lost(now.Add(-time.Minute)); fmt.Sprint(got) != "[b:1]" {
		t.Errorf("to be dialed: %v", got)
	}
	if _, ok := members.get("n3@c"); ok || len(members.all) != 4 {
		t.Errorf("remembered: %v", members.all)
	}
}

// TestJoinSaysWhatIsWrong, and may be called again.
func TestJoinSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a := gossip(t, s, "n1@a")
	gone, _ := listen(t, s, &directory{}, "n2@b")
	gone.Close()
	for name, tc := range map[string]struct{ addr, want string }{
		"nobody there": {gone.Addr(), "connection refused"},
		"itself":       {a.mesh.Addr(), "this node itself"},
		"no port":      {"127.0.0.1", "missing port"},
		"a port name":  {"127.0.0.1:raft", "must be a number"},
		"no such name": {"nosuchhost.invalid:1", "couldn't look nosuchhost.invalid up"},
	} {
		if n, err := a.Join([]string{tc.addr}); n != 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if n, err := a.Join(nil); n != 0 || err != nil {
		t.Errorf("nobody: %d, %v", n, err)
	}
	b := gossip(t, s, "n2@b", at(gone.Addr()))
	if n, err := a.Join([]string{a.mesh.Addr(), b.mesh.Addr(), "127.0.0.1:1"}); n != 1 || err != nil {
		t.Errorf("one of three: %d, %v", n, err)
	}
	if a.log.count("level=WARN") != 0 {
		t.Errorf("the log says %s", a.log)
	}
}

// TestForeignSecretsGetNowhere: neither by the streams nor by datagrams, even
// where an own PKI lets them through TLS.
func TestForeignSecretsGetNowhere(t *testing.T) {
	t.Parallel()
	p := newPKI(t)
	cert, key := p.node(plain)
	own, err := FromFiles(p.ca(), cert, key, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	with := func(o *Options) { o.Credentials = own }
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a", with), gossip(t, s, "n2@b", with)
	b.join(t, a)
	for name, change := range map[string][]func(*Options){"other authority": nil, "same authority": {with}} {
		x := gossip(t, newSecret(t), "n9@x", change...)
		if n, err := x.Join([]string{a.mesh.Addr()}); n != 0 || err == nil {
			t.Errorf("%s: joined %d, %v", name, n, err)
		}
		x.sees(t, "n9@x alive")
	}
	a.sees(t, "n1@a alive, n2@b alive")
	poll.Within(t, beforeForgotten, "the one is logged", func() bool { return a.log.count("refused a connection") == 1 })
	poll.Within(t, beforeForgotten, "the other is logged", func() bool { return a.log.count("no installed keys could decrypt") == 1 })
}

// TestGarbageDatagrams neither disturb gossip nor fill the log.
func TestGarbageDatagrams(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	c, err := net.Dial("udp", a.mesh.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for size := range 3000 {
		garbage := make([]byte, size)
		rand.Read(garbage)
		c.Write(garbage)
	}
	for first := range 256 { // every type of message and of encryption, in plain text
		c.Write([]byte{byte(first), 1, 2, 3, 4, 5, 6, 7, 8})
	}
	cc := gossip(t, s, "n3@c")
	cc.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive, n3@c alive")
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return a.log.count("Decrypt packet failed") > 0 })
	if lines := strings.Count(a.log.String(), "\n"); lines > 10 {
		t.Errorf("%d lines in the log:\n%s", lines, a.log)
	}
}

// TestOneNodeIDOneServer: who was there first keeps the id. The later one can't
// join, is seen by nobody, and gets in when the first is gone.
func TestOneNodeIDOneServer(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive")
	later := gossip(t, s, "n2@later")
	for _, first := range []gossiper{a, b} {
		if n, err := later.Join([]string{first.mesh.Addr()}); n != 0 || err == nil || !strings.Contains(err.Error(), "the node id n2 is taken: n2@b at "+b.mesh.Addr()) {
			t.Errorf("joined %d, %v", n, err)
		}
	}
	a.sees(t, "n1@a alive, n2@b alive")
	b.sees(t, "n1@a alive, n2@b alive")
	later.sees(t, "n2@later alive")
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return a.log.count("the node id n2 is taken") > 0 })

	b.mesh.Close()
	a.sees(t, "n1@a alive, n2@b dead")
	poll.Within(t, beforeForgotten, "the later one is let in", func() bool {
		n, _ := later.Join([]string{a.mesh.Addr()})
		return n == 1
	})
	a.sees(t, "n1@a alive, n2@b dead, n2@later alive")
}

// TestWipedDiskOnTheSameAddress is let in at once: the server it was must be
// gone, though gossip takes some seconds to say so.
func TestWipedDiskOnTheSameAddress(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a"), gossip(t, s, "n2@b")
	b.join(t, a)
	addr := b.mesh.Addr()
	b.mesh.Close()
	gossip(t, s, "n2@new", at(addr)).join(t, a)
	a.sees(t, "n1@a alive, n2@b dead, n2@new alive")
}

// TestClustersDontMix, at the join or later.
func TestClustersDontMix(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a, b := gossip(t, s, "n1@a", inCluster("c1")), gossip(t, s, "n2@b", inCluster("c1"))
	b.join(t, a)
	other := gossip(t, s, "n3@c", inCluster("c2"))
	if n, err := other.Join([]string{a.mesh.Addr()}); n != 0 || err == nil || !strings.Contains(err.Error(), "belongs to cluster c1, not to c2") {
		t.Errorf("joined %d, %v", n, err)
	}
	a.sees(t, "n1@a alive, n2@b alive")
	other.sees(t, "n3@c alive")
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return a.log.count("belongs to cluster c2, not to c1") > 0 })

	fresh := gossip(t, s, "n4@d") // of no cluster yet
	fresh.join(t, a)
	a.sees(t, "n1@a alive, n2@b alive, n4@d alive")
	fresh.cluster.Store("c3")
	if err := fresh.UpdateMeta(); err != nil {
		t.Fatal(err)
	}
	a.sees(t, "n1@a alive, n2@b alive")
	b.sees(t, "n1@a alive, n2@b alive")
}
