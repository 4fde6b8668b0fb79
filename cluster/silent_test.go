package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"ubl"
	"ubl/cluster/wire"
	"ubl/test/poll"
)

// TestWayAroundASilentNode: a leader is asked directly, a new one too; where it
// was silent a moment ago another node is asked, and never one that was silent
// itself: a retry that went by way of the old, silent leader took five seconds.
func TestWayAroundASilentNode(t *testing.T) {
	w := newWorld(t, 3, nil)
	n, leader, third := w.nodes[0], w.nodes[1].server, w.nodes[2].server
	poll.Until(t, "all know each other", func() bool { return n.another(leader) == third && n.another(third) == leader })
	silent := func(server string, since time.Time) {
		p := n.pipes.to(server)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.deaf = since
	}
	for _, c := range []struct {
		what          string
		leader, third time.Time // when it was last silent
		want          string
	}{
		{what: "all answer", want: leader},
		{what: "the third is silent", third: time.Now(), want: leader},
		{what: "the leader is silent", leader: time.Now(), want: third},
		{what: "both are silent", leader: time.Now(), third: time.Now(), want: leader},
		{what: "the leader was silent long ago", leader: time.Now().Add(-2 * deafFor), want: leader},
	} {
		silent(leader, c.leader)
		silent(third, c.third)
		if via := n.via(leader, firstPause); via != c.want {
			t.Errorf("%s: it asks %s, want %s", c.what, via, c.want)
		}
	}
	silent(leader, time.Time{})
	silent(third, time.Time{})
	if via := n.via("", firstPause); via != "" {
		t.Errorf("as soon as the leader is lost it asks %s", via)
	}
	if via := n.via("", lastPause); via != leader && via != third {
		t.Errorf("when no leader is heard for long it asks %q", via)
	}
}

// apart gives two nodes their actors, and finds which of them leads the healthy room's partition and which
// has to ask it.
func (w *world) apart(f *fragile) (asker, leader *Node) {
	for _, n := range w.nodes {
		n.Attach(f)
	}
	leader = w.led(w.nodes[0].engine.Partition(healthy.Group()))
	if asker = w.nodes[0]; asker == leader {
		asker = w.nodes[1]
	}
	return asker, leader
}

// TestSlowIsNotSilent: a node that takes long over an answer is not given up, and
// the question is not asked twice.
func TestSlowIsNotSilent(t *testing.T) {
	w := newWorld(t, 2, nil)
	f := &fragile{release: make(chan struct{})}
	asker, leader := w.apart(f)
	done := make(chan error, 1)
	go func() {
		_, err := asker.Ask(t.Context(), healthy, ubl.RoomHead{})
		done <- err
	}()
	p := asker.pipes.to(leader.server)
	poll.Until(t, "the question is on its way", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.now != nil && p.now.awaited() })
	s, began := p.session(), time.Now()
	poll.Until(t, "it was watched for several rounds", func() bool { return time.Since(began) > 8*asker.opts.Timeout })
	if p.session() != s || s.ctx.Err() != nil {
		t.Error("its connection was given up")
	}
	close(f.release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// swallowing is a connection that can fall silent without an end, as one over a cable that was
// pulled: what is written is lost, and nothing comes.
type swallowing struct {
	net.Conn
	silent *atomic.Bool
}

func (c swallowing) Write(b []byte) (int, error) {
	if c.silent.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c swallowing) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if !c.silent.Load() || err != nil {
			return n, err
		}
	}
}

// TestSilentConnection: a question whose connection has fallen silent, while its node answers
// over others, is asked again over a new one. The silent one would be noticed by itself after
// keepaliveEvery, if ever.
func TestSilentConnection(t *testing.T) {
	w := newWorld(t, 2, nil)
	f := &fragile{release: make(chan struct{})}
	close(f.release)
	asker, leader := w.apart(f)
	var silent atomic.Bool
	conn, err := grpc.NewClient("passthrough:///"+leader.server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{})), grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
			c, err := asker.mesh.DialGRPC(ctx, to)
			return swallowing{c, &silent}, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	asker.conns.drop(leader.server)
	asker.conns.mu.Lock()
	asker.conns.open[leader.server] = conn
	asker.conns.mu.Unlock()
	ask := func() {
		if _, err := asker.Ask(t.Context(), healthy, ubl.RoomHead{}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	silent.Store(true)
	ask()
	if conn.GetState() != connectivity.Shutdown {
		t.Error("the silent connection is kept")
	}
}

// TestASessionSleepsWhileNobodyAsks: a node that is asked is watched from then on, not by a clock that
// always ticks, and only while somebody waits and nothing comes.
func TestASessionSleepsWhileNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Second
		n := &Node{opts: Options{Timeout: timeout}}
		n.conns.node = n
		s := &session{pipe: &pipe{node: n, server: "b"}, asked: newSignal(), waiting: make(map[int64]chan *askReply), out: newOutbox(askRequest.size)}
		s.ctx, s.end = context.WithCancel(t.Context())
		var looked atomic.Int64
		var silent atomic.Bool
		go s.watch(func(int64) bool { looked.Add(1); return silent.Load() })
		wait := func(d time.Duration, want int64) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := looked.Load(); got != want {
				t.Fatalf("it was asked whether it lives %d times, want %d", got, want)
			}
		}
		ask := func() (id int64) {
			_, id, err := s.ask(askRequest{})
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		wait(time.Hour+timeout/3, 0)
		first := ask()
		wait(timeout-1, 0)
		wait(1, 1)
		wait(timeout, 2)
		s.heard.Add(1)
		wait(timeout, 2)
		s.forget(first)
		wait(time.Hour+timeout/3, 2)
		ask()
		wait(timeout/2, 2)
		silent.Store(true)
		wait(timeout/2, 3)
		if s.ctx.Err() == nil {
			t.Error("a session with a silent node goes on")
		}
	})
}

// TestWhoStands: a voter stands for election when a quorum hears nothing, the one of
// the newest log first, and never because it alone hears nothing.
func TestWhoStands(t *testing.T) {
	const timeout = time.Second
	for _, c := range []struct {
		what   string
		s      said
		waited time.Duration
		want   bool
	}{
		{"two of three hear nothing", said{answered: 2, silent: 2}, timeout, true},
		{"and it hasn't waited long enough", said{answered: 2, silent: 2}, timeout - 1, false},
		{"it alone hears nothing", said{answered: 3, silent: 1}, time.Hour, false},
		{"another has a newer log", said{answered: 2, silent: 2, fresher: 1}, timeout, false},
		{"which doesn't stand", said{answered: 2, silent: 2, fresher: 1}, timeout * 3 / 2, true},
	} {
		if got := c.s.agree(2, c.waited, timeout); got != c.want {
			t.Errorf("%s: it stands: %t", c.what, got)
		}
	}
}

// TestLooksInTime: a leader that falls silent right after a beat at which it was still heard lately is
// looked after before it has been silent for Timeout, with time left for what a machine that
// stood still hasn't read yet.
func TestLooksInTime(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Second, 3 * time.Second} {
		o := Options{Timeout: timeout, Dir: "d", Listen: "l", Registry: &wire.Registry{}, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler)}
		o, err := o.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		longest := rhythm{every: o.beatEvery()}.patient()
		for unheard := time.Duration(0); unheard < o.Timeout; unheard += o.Timeout / 1000 {
			if at := unheard + longest; calm(unheard, o.Timeout) && at > o.Timeout*71/100 {
				t.Fatalf("Timeout is %s: heard %s ago, it looks %s after it was", o.Timeout, unheard, at)
			}
		}
		if calm(o.Timeout/2, o.Timeout) {
			t.Errorf("Timeout is %s: half of it is calm", o.Timeout)
		}
	}
}

// TestDoesntWaitForASilentLeader: a voter that asks too early asks again soon, instead of waiting for
// what the leader won't say.
func TestDoesntWaitForASilentLeader(t *testing.T) {
	for _, c := range []struct {
		what   string
		s      said
		quorum int
		others bool
		want   bool
	}{
		{"the other one hears nothing either", said{answered: 2, silent: 2}, 2, false, true},
		{"the other one hears the leader still", said{answered: 2, silent: 1}, 2, true, true},
		{"two of four others are still to come", said{answered: 3, silent: 1}, 3, false, false},
		{"one of them is, and a quorum hears nothing", said{answered: 3, silent: 3}, 3, false, true},
		{"the others are no quorum", said{answered: 1, silent: 1}, 2, true, false},
		{"the leader has answered, another hasn't", said{answered: 2, silent: 1}, 2, false, false},
	} {
		if got := c.s.enough(c.quorum, c.others); got != c.want {
			t.Errorf("%s: enough: %t", c.what, got)
		}
	}
}

// TestStandsAtOnce: a follower that stands is elected though the others hear their
// leader: some may not have noticed yet that it is silent.
func TestStandsAtOnce(t *testing.T) {
	w := newWorld(t, 3, nil)
	leader := w.led(0)
	for _, n := range w.nodes {
		if n == leader {
			continue
		}
		g := n.group(0)
		poll.Until(t, "it has what the leader has", func() bool { return g.raft.LastIndex() >= leader.group(0).raft.LastIndex() })
		w.stand(n, 0)
		return
	}
}

// TestVotersSayWhetherTheyHear: what a follower is told by the others of a group that
// has a leader.
func TestVotersSayWhetherTheyHear(t *testing.T) {
	w := newWorld(t, 3, nil)
	leader := w.led(0)
	for _, n := range w.nodes {
		g := n.group(0)
		poll.Until(t, "all answer "+n.server+", and none of them hears nothing", func() bool {
			s := g.hearVoters(g.configuration().voters) // which may still become three
			return s.answered == 3 && s.silent == 0
		})
	}
	w.stop(slices.Index(w.nodes, leader))
	for _, n := range w.running() {
		g := n.group(0)
		if s := g.hearVoters([]string{n.server, leader.server}); s.answered != 1 {
			t.Errorf("with the leader away %s hears %+v", n.server, s)
		}
	}
}

// TestWithoutAReplica: a node that has no replica of a partition says, too, that its
// holders are away.
func TestWithoutAReplica(t *testing.T) {
	w := newWorld(t, 4, nil)
	f := &fragile{release: make(chan struct{})}
	close(f.release)
	partition := w.nodes[0].engine.Partition(healthy.Group())
	var n *Node
	for i := range w.nodes {
		if w.nodes[i].group(partition) == nil {
			n = w.nodes[i]
		}
	}
	n.Attach(f)
	poll.Until(t, "it knows the leader", func() bool { leader, _ := n.routes.to(partition); return leader != "" })
	for i := range w.nodes {
		if w.nodes[i] != n {
			w.stop(i)
		}
	}
	poll.Until(t, "it says that the holders are away", func() bool {
		_, err := n.Ask(t.Context(), healthy, ubl.RoomHead{})
		return ubl.CodeOf(err) == ubl.CodeUnavailable && ubl.AsError(err).RetryAfter() > 0
	})
}

// TestWhatOthersSay: a partition without a leader counts as lost when nobody who has
// it may come to know one, for as long as an election takes.
func TestWhatOthersSay(t *testing.T) {
	n := &Node{opts: Options{Timeout: time.Second}, groups: make(map[int]*group)}
	r := newRoutes(n, 1)
	n.routes = r
	r.led[0].Store(true)
	at := time.Now()
	for i, c := range []struct {
		after       time.Duration
		led, hoped  bool
		known, lost bool
	}{
		{led: true, hoped: true, known: true},
		{after: time.Second, known: true},
		{after: 1500 * time.Millisecond, known: true},
		{after: 2 * time.Second},
		{after: 3 * time.Second, lost: true},
		{after: 4 * time.Second, hoped: true},
		{after: 5 * time.Second, led: true, hoped: true, known: true},
		{after: 6 * time.Second, known: true},
	} {
		if c.led {
			r.hear(0, "n1@0", 1)
		}
		r.listened(0, c.led, c.hoped, at.Add(c.after))
		if known := r.heard[0].leader != ""; known != c.known || r.lost(0) != c.lost {
			t.Errorf("step %d: a leader is known: %t, lost: %t", i, known, r.lost(0))
		}
	}
}

// TestStartAlone: a node that starts has its callers wait for the others for a while, and no
// longer than they would after an election.
func TestStartAlone(t *testing.T) {
	n := &Node{opts: Options{Timeout: time.Second}, groups: make(map[int]*group)}
	r := newRoutes(n, 1)
	n.routes = r
	now := time.Now()
	r.listened(0, false, false, now.Add(-time.Hour))
	r.listened(0, false, false, now)
	for ago, lost := range map[time.Duration]bool{0: false, 2 * time.Second: false, 4 * time.Second: true} {
		if r.began = now.Add(-ago); r.lost(0) != lost {
			t.Errorf("%v after its start the partition counts as lost: %t", ago, !lost)
		}
	}
}

// TestNoQuorum: a node that knows that nobody could be elected for longer than an
// election takes says so, with when to ask again, instead of letting callers wait.
// Before its first leader it waits.
func TestNoQuorum(t *testing.T) {
	w := newWorld(t, 2, nil)
	f := &fragile{release: make(chan struct{})}
	close(f.release)
	n := w.nodes[0]
	n.Attach(f)
	w.stop(1)
	poll.Until(t, "the leader is lost", func() bool { leader, _ := n.routes.to(n.engine.Partition(healthy.Group())); return leader == "" })
	for range 2 {
		began := time.Now()
		_, err := n.Ask(t.Context(), healthy, ubl.RoomHead{})
		if took := time.Since(began); ubl.CodeOf(err) != ubl.CodeUnavailable || ubl.AsError(err).RetryAfter() != 2 || took > askTimeout/2 {
			t.Errorf("without a quorum: %v after %s", err, took)
		}
	}
}

// TestNoQuorumWhileTheMachineStalls: a machine that stands still now and then finds out
// all the same that a quorum is away, and doesn't forget it; only an answer clears it.
func TestNoQuorumWhileTheMachineStalls(t *testing.T) {
	w := newWorld(t, 2, nil)
	g := w.nodes[0].group(0)
	w.stop(1)
	stall := func() { g.awake.Store(time.Now().UnixNano()) }
	poll.Until(t, "the partition counts as lost", func() bool { stall(); return g.lost.Load() })
	var own watching
	for range 3 {
		stall()
		if g.look(&own); !g.lost.Load() {
			t.Fatal("a stall cleared what was known")
		}
	}
	w.start(1)
	poll.Until(t, "it has a leader again", func() bool { return w.leader(0) != nil && !g.lost.Load() })
}
