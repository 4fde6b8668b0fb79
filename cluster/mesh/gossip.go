package mesh

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// GossipOptions are for StartGossip; a zero field takes its default.
type GossipOptions struct {
	// Expect is with how many nodes this one wants to found a cluster (0: it doesn't).
	Expect int
	// Beats says that this node has a BeatLayer.
	Beats bool
	// Keys is a text that is another where this node has other keys (Member.Keys), short and
	// printable. StartGossip and UpdateMeta ask for it. Nil: none.
	Keys func() string
	// ProbeInterval is how often a node is asked whether it lives (1 s), and
	// ProbeTimeout how long it may take to answer (half of it). A dead one is
	// noticed after about five intervals.
	ProbeInterval, ProbeTimeout time.Duration
	// SyncInterval is how often a node compares all it knows with another (15 s).
	SyncInterval time.Duration
	// RejoinInterval is how often the dead are dialed again (10 s): a network that
	// was split longer than gossip remembers them grows together by that.
	RejoinInterval time.Duration
	// ForgetAfter is how long who died or left stays among Members (24 h).
	ForgetAfter time.Duration
}

func (o GossipOptions) withDefaults() GossipOptions {
	if o.Keys == nil {
		o.Keys = func() string { return "" }
	}
	o.ProbeInterval = cmp.Or(o.ProbeInterval, time.Second)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, o.ProbeInterval/2)
	o.SyncInterval = cmp.Or(o.SyncInterval, 15*time.Second)
	o.RejoinInterval = cmp.Or(o.RejoinInterval, 10*time.Second)
	o.ForgetAfter = cmp.Or(o.ForgetAfter, 24*time.Hour)
	return o
}

// Gossip knows which nodes there are. What it says may be old or wrong: it is
// good for finding addresses, not for deciding who votes.
type Gossip struct {
	mesh    *Mesh
	o       GossipOptions
	list    *memberlist.Memberlist
	keys    *memberlist.Keyring
	members *members
	ctx     context.Context // until Shutdown
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	asking  sync.Mutex // before mu

	mu   sync.Mutex // one change of ourselves at a time
	done bool
}

var errGossipEnded = errors.New("gossip has ended")

// StartGossip begins to gossip, alone until Join finds others. One may run at a
// time. It fails where the advertised name can't be resolved; that may be tried
// again.
func (m *Mesh) StartGossip(o GossipOptions) (*Gossip, error) {
	o = o.withDefaults()
	g := &Gossip{mesh: m, o: o, members: &members{
		log: m.o.Log, now: m.o.Now, changed: make(chan struct{}, 1), all: map[string]Member{},
	}}
	own := meta{Version: metaVersion, Server: m.o.ServerID, Node: m.o.NodeID,
		Addr: m.advertise, Cluster: m.o.ClusterID(), Expect: o.Expect, Beats: o.Beats, Keys: o.Keys()}
	if err := g.members.setOwn(func(at *meta) { *at = own }); err != nil {
		return nil, err
	}
	g.ctx, g.cancel = context.WithCancel(m.ctx)
	if err := m.claim(g); err != nil {
		return nil, err
	}
	if err := g.start(); err != nil {
		m.release(g)
		return nil, fmt.Errorf("couldn't start gossip: %w", err)
	}
	return g, nil
}

func (m *Mesh) claim(g *Gossip) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gossip != nil {
		return errors.New("couldn't start gossip: it is running")
	}
	if m.ctx.Err() != nil {
		return errGossipEnded
	}
	m.gossip = g
	return nil
}

func (m *Mesh) release(g *Gossip) {
	g.cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gossip == g {
		m.gossip = nil
	}
}

func (g *Gossip) start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done { // the mesh was closed meanwhile
		return errGossipEnded
	}
	keys, err := g.mesh.Secret().derived("gossip key")
	if err != nil {
		return err
	}
	if g.keys, err = memberlist.NewKeyring(keys, keys[0]); err != nil {
		return err
	}
	t, err := g.mesh.newTransport()
	if err != nil {
		return err
	}
	g.list, err = memberlist.Create(g.config(t))
	if err != nil {
		return errors.Join(err, t.Shutdown())
	}
	g.mesh.o.Panics.Go(&g.wg, "looking for lost nodes", g.rejoin)
	return nil
}

func (g *Gossip) config(t *transport) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	c.Name = g.mesh.o.ServerID // the server's, so that a wiped disk is another member
	c.Transport = t
	c.Keyring = g.keys
	c.GossipVerifyIncoming, c.GossipVerifyOutgoing = true, true
	c.EnableCompression = false // the messages are small
	c.Delegate, c.Events, c.Alive, c.Merge = g.members, g.members, g.members, g.members
	c.Logger = log.New(memberlog{g.mesh.o.Log, newLimiter(g.mesh.o.Now)}, "", 0)
	c.TCPTimeout = g.mesh.o.HandshakeTimeout
	c.ProbeInterval, c.ProbeTimeout = g.o.ProbeInterval, g.o.ProbeTimeout
	c.PushPullInterval = g.o.SyncInterval
	c.GossipInterval = g.o.ProbeInterval / 2 // most news goes with probes
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = 3, 3
	c.AwarenessMaxMultiplier = 4
	// A server that is back on another address is believed three seconds after
	// it was declared dead on the old one; by default it never would be.
	c.DeadNodeReclaimTime = 3 * time.Second
	return c
}

// Join calls nodes, HOST:PORT each, and returns how many of them we now gossip
// with; the error says what went wrong where none is. Names are looked up each
// time, and it may be called as often as one likes. Our own address counts for
// none.
func (g *Gossip) Join(addrs []string) (int, error) {
	var wg sync.WaitGroup
	found := make([]int, len(addrs))
	errs := make([]error, len(addrs))
	for i, addr := range addrs {
		g.mesh.o.Panics.Go(&wg, "joining another node", func() { found[i], errs[i] = g.joinOne(addr) })
	}
	wg.Wait()
	n := 0
	for _, f := range found {
		n += f
	}
	if n > 0 || len(addrs) == 0 {
		return n, nil
	}
	return 0, fmt.Errorf("couldn't join by any node: %w", errors.Join(errs...))
}

// joinOne joins by every address that a name has.
func (g *Gossip) joinOne(addr string) (int, error) {
	ctx, cancel := context.WithTimeout(g.ctx, g.mesh.o.HandshakeTimeout)
	defer cancel()
	found, err := resolve(ctx, addr)
	if err != nil {
		return 0, err
	}
	at := make([]string, len(found))
	for i, a := range found {
		at[i] = a.String()
	}
	return g.list.Join(at)
}

// Members are all nodes gossip knows, ourselves too, in the order of their ids.
// The dead and the left stay for GossipOptions.ForgetAfter.
func (g *Gossip) Members() []Member { return g.members.list() }

// Member is what gossip knows of a server.
func (g *Gossip) Member(serverID string) (Member, bool) { return g.members.get(serverID) }

// AddrOf is where a server was last heard of; it fits Options.Resolve.
func (g *Gossip) AddrOf(serverID string) (addr string, ok bool) {
	m, ok := g.members.get(serverID)
	return m.Addr, ok
}

// Changed gets a value when Members may have changed since the last was taken.
// It is one channel, for one reader.
func (g *Gossip) Changed() <-chan struct{} { return g.members.changed }

// UpdateMeta asks Options.ClusterID and GossipOptions.Keys again and tells the others.
func (g *Gossip) UpdateMeta() error {
	g.asking.Lock() // what was asked last is told last
	defer g.asking.Unlock()
	cluster, keys := g.mesh.o.ClusterID(), g.o.Keys()
	return g.update(time.Second, func(own *meta) { own.Cluster, own.Keys = cluster, keys })
}

func (g *Gossip) update(timeout time.Duration, change func(*meta)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done {
		return errGossipEnded
	}
	if err := g.members.setOwn(change); err != nil {
		return err
	}
	// All it can fail with is that it wasn't sent yet; it will be.
	_ = g.list.UpdateNode(timeout)
	return nil
}

// Leave says goodbye, for at most the timeout; Shutdown follows. It may only be
// told to some: who doesn't hear it finds out by asking.
func (g *Gossip) Leave(timeout time.Duration) error {
	half := max(timeout/2, time.Millisecond) // nothing would mean for ever
	if err := g.update(half, func(own *meta) { own.Leaving = true }); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done { // memberlist would panic
		return errGossipEnded
	}
	if err := g.list.Leave(half); err != nil {
		return fmt.Errorf("couldn't leave: %w", err)
	}
	return nil
}

// Shutdown ends gossip without a word. The mesh stays open.
func (g *Gossip) Shutdown() error {
	g.cancel()
	g.mu.Lock()
	done := g.done
	g.done = true
	g.mu.Unlock()
	var err error
	if !done && g.list != nil {
		err = g.list.Shutdown()
	}
	g.wg.Wait()
	g.mesh.release(g)
	return err
}

// setKeys has gossip use the first key and understand all.
func (g *Gossip) setKeys(keys [][]byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.done || g.keys == nil {
		return nil
	}
	for _, key := range keys {
		if err := g.keys.AddKey(key); err != nil {
			return err
		}
	}
	if err := g.keys.UseKey(keys[0]); err != nil {
		return err
	}
	for _, key := range g.keys.GetKeys() {
		if slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
			continue
		}
		if err := g.keys.RemoveKey(key); err != nil {
			return err
		}
	}
	return nil
}

// rejoin dials the dead from time to time. memberlist gives them up after half
// a minute, and two halves that both did would never meet again.
func (g *Gossip) rejoin() {
	tick := time.NewTicker(g.o.RejoinInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-g.ctx.Done():
			return
		}
		lost := g.members.lost(g.mesh.o.Now().Add(-g.o.ForgetAfter))
		if n, err := g.Join(lost); err == nil && n > 0 {
			g.mesh.o.Log.Info("found lost nodes again", "nodes", n)
		}
	}
}
