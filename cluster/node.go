package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/storage"
)

// Local is what runs this node's actors: actors.Runtime.
type Local interface {
	ubl.Feed
	// AskHere asks an actor of this node, and tells whether a commit of the
	// command's own stands behind the answer.
	AskHere(ctx context.Context, to ubl.Name, cmd ubl.Command) (answer any, committed bool, err error)
	// Full refuses a write that AskHere has no room for now.
	Full(to ubl.Name, cmd ubl.Command) error
	// Led is told that this node leads a partition from now on, possibly again.
	Led(partition int)
	// Failing lists the tenants with alarms here that have failed for good.
	Failing() []ubl.TenantID
	// Evict stops the actors of the groups.
	Evict(cause error, in func(ubl.Group) bool)
}

// Node is one node of a cluster. It implements [ubl.Asker] and [ubl.Feed] over
// all nodes. Safe for concurrent use.
type Node struct {
	opts    Options
	log     *slog.Logger
	raftLog hclog.Logger
	server  string // server id

	partitions int // of the store, before it serves
	engine     *storage.Engine
	mesh       *mesh.Mesh
	gossip     *mesh.Gossip
	rpc        *grpc.Server
	conns      conns
	pipes      pipes
	beats      *beats
	gone       *gone
	timers     timers
	routes     *routes
	local      atomic.Pointer[Local]
	blobs      atomic.Pointer[Blobs]   // nil before they are served
	uploads    atomic.Pointer[Uploads] // as blobs
	control    controller
	differing  differing
	heard      atomic.Pointer[heard] // nil while every partition is led
	unsettled  signal                // who leads has changed: the others are to be listened to soon
	healing    healing
	clock      clock
	peerKeys   peerKeys

	began    time.Time
	ctx      context.Context // until Close
	cancel   context.CancelFunc
	work     sync.WaitGroup
	stopping atomic.Bool
	waits    atomic.Int64 // how many nodes this one waits for, having founded
	caughtUp atomic.Bool  // since its start
	removed  atomic.Bool  // the cluster has taken this server out

	replicas sync.Mutex // one replica is started or ended at a time

	noting sync.Mutex // what the node remembers is written by one at a time

	mu     sync.Mutex
	member *membership    // guarded by mu once the node serves
	groups map[int]*group // guarded by mu
	closed map[int]error  // why a replica isn't open; guarded by mu
}

// Open starts a node. One that is in no cluster yet founds one or waits until
// it is let in, which may take until ctx ends. Attach the actors, then Close it.
func Open(ctx context.Context, opts Options) (*Node, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{opts: opts, began: time.Now(), log: opts.Log, raftLog: newRaftLog(opts.Log), groups: make(map[int]*group), closed: make(map[int]error)}
	n.conns.node, n.pipes.node, n.control.node = n, n, n
	if !opts.earlier {
		n.peerKeys.of = opts.Keys
	}
	n.beats, n.unsettled, n.control.led = newBeats(n), newSignal(), newSignal()
	n.gone = newGone(opts.Timeout, func(ctx context.Context, server string) bool { return n.mesh.Refuses(ctx, server) }, n.bereaved)
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("couldn't start the cluster's node: %w", err), n.Close())
	}
	return n, nil
}

func (n *Node) open(ctx context.Context) error {
	empty, err := n.identify(ctx)
	if err != nil {
		return err
	}
	if err := n.listen(empty); err != nil {
		return err
	}
	if n.member == nil {
		if err := n.enter(ctx, empty); err != nil {
			return err
		}
	}
	return n.serve()
}

// identify finds out who this node is, and whether it holds data.
func (n *Node) identify(ctx context.Context) (empty bool, err error) {
	if n.member, err = readMembership(n.opts.Dir); err != nil {
		return false, err
	}
	if n.member != nil {
		if n.opts.NodeID != "" && n.opts.NodeID != n.member.NodeID {
			return false, fmt.Errorf("the data directory is that of the node %s", n.member.NodeID)
		}
		n.opts.NodeID, n.server = n.member.NodeID, n.member.ServerID
		return false, nil
	}
	store, err := storage.Open(n.opts.Dir, n.opts.plainStorage())
	if err != nil {
		return false, err
	}
	if empty, err = store.Empty(ctx); err != nil {
		return false, errors.Join(err, store.Close())
	}
	incarnation := store.Incarnation()
	n.partitions = store.Partitions()
	if n.opts.NodeID == "" {
		n.opts.NodeID = "node-" + incarnation[:6]
	}
	n.server = serverID(n.opts.NodeID, incarnation)
	return empty, store.Close()
}

// serverID is a node with its disk: another disk is another server.
func serverID(nodeID, incarnation string) string { return nodeID + "@" + incarnation[:8] }

// nodeOf is the node id in a server id.
func nodeOf(server string) string {
	id, _, _ := strings.Cut(server, "@")
	return id
}

func (n *Node) listen(empty bool) error {
	n.opts.Secret = n.lastSecret()
	credentials, err := n.opts.credentials(n.server)
	if err != nil {
		return err
	}
	n.mesh, err = mesh.Listen(mesh.Options{
		Listen: n.opts.Listen, Advertise: n.opts.Advertise, NodeID: n.opts.NodeID, ServerID: n.server,
		Credentials: credentials, Secret: n.opts.Secret, ClusterID: n.clusterID, Resolve: n.resolve, Called: n.gone.called,
		Log: n.log, Now: n.opts.Now, Panics: n.opts.Panics,
	})
	if err != nil {
		return err
	}
	expect := n.opts.Expect
	if !empty {
		expect = 0 // those who wait for each other must not found without its data
	}
	n.gossip, err = n.mesh.StartGossip(mesh.GossipOptions{Expect: expect, Beats: !n.opts.earlier, Keys: n.peerKeys.own})
	return err
}

// serve starts everything over the node's replicas.
func (n *Node) serve() error {
	var err error
	if n.engine, err = storage.OpenReplicas(n.opts.Dir, n.opts.replicatedStorage(n)); err != nil {
		return err
	}
	if n.server != serverID(n.member.NodeID, n.engine.Incarnation()) {
		return fmt.Errorf("%s and the store are not of one data directory", membershipName)
	}
	n.noteSecret(n.SecretIDs()[0])
	n.routes = newRoutes(n, n.engine.Partitions())
	if !n.opts.earlier {
		n.beats.layer = n.mesh.BeatLayer()
		n.start("taking heartbeats", n.hearBeats)
	}
	n.start("sending heartbeats", n.beats.run)
	if err := n.startReplicas(); err != nil {
		return err
	}
	n.rpc = newServer(n)
	listener := n.mesh.GRPC()
	n.start("answering other nodes", func() {
		if err := n.rpc.Serve(listener); err != nil && n.ctx.Err() == nil {
			n.log.Error("couldn't go on answering other nodes", "error", err)
		}
	})
	n.start("deciding placement", n.control.run)
	n.start("listening to other nodes", n.listenToOthers)
	n.start("catching up", n.catchUp)
	n.start("comparing clocks", n.compareClocks)
	return nil
}

// start runs what Close waits for.
func (n *Node) start(work string, fn func()) { n.opts.Panics.Go(&n.work, work, fn) }

// had are the partitions of which this node has a log, or data whose log is gone.
func (n *Node) had() (list []int) {
	there := hosted(n.opts.Dir, n.engine.Partitions())
	for p := range n.engine.Partitions() {
		if slices.Contains(there, p) || logGone(n.opts.Dir, p, n.engine.Applied(p)) != nil {
			list = append(list, p)
		}
	}
	return list
}

// startReplicas starts what this node had. One that can't be opened now doesn't
// keep the others from working.
func (n *Node) startReplicas() error {
	list := n.had()
	var errs []error
	for _, p := range list {
		if err := n.startReplica(p); err != nil {
			n.log.Error("a replica couldn't be opened", "partition", p, "error", err)
			errs = append(errs, err)
			if logGone(n.opts.Dir, p, n.engine.Applied(p)) == nil { // which no other try mends
				n.start("starting a replica", func() { n.startLater(p) })
			}
		}
	}
	if len(errs) > 0 && len(errs) == len(list) {
		return errors.Join(errs...)
	}
	return nil
}

// Attach has the node run actors, where it leads.
func (n *Node) Attach(local Local) {
	n.local.Store(&local)
	for p := range n.engine.Partitions() {
		if n.engine.Leads(p) {
			local.Led(p)
		}
	}
}

// Store is the node's store, for the actors that run here.
func (n *Node) Store() *storage.Engine { return n.engine }

// ID is the node's name, Addr where other nodes find it.
func (n *Node) ID() string   { return n.opts.NodeID }
func (n *Node) Addr() string { return n.mesh.Addr() }

func (n *Node) clusterID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.member == nil {
		return ""
	}
	return n.member.ClusterID
}

// resolve says where a server is: what gossip says, else where it was last.
func (n *Node) resolve(server string) (string, bool) {
	if n.gossip != nil {
		if addr, ok := n.gossip.AddrOf(server); ok {
			return addr, true
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.member == nil {
		return "", false
	}
	addr, ok := n.member.Peers[server]
	return addr, ok
}

// group is the node's part in a partition's Raft group, nil where it has none or
// one that was halted.
func (n *Node) group(partition int) *group {
	if g := n.held(partition); g != nil && g.halted.Load() == nil {
		return g
	}
	return nil
}

// held is the same, halted or not.
func (n *Node) held(partition int) *group {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.groups[partition]
}

// unopened is why the node's replica of a partition isn't open, nil if it is.
func (n *Node) unopened(partition int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed[partition]
}

func (n *Node) setUnopened(partition int, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed[partition] = why
}

func (n *Node) allGroups() []*group {
	var list []*group
	for p := range n.engine.Partitions() {
		if g := n.group(p); g != nil {
			list = append(list, g)
		}
	}
	return list
}

// propose hands an entry to a partition's log.
func (n *Node) propose(partition int, entry []byte) storage.Proposal {
	g := n.group(partition)
	if g == nil {
		return func() ([]error, error) { return nil, errors.New("there is no replica here") }
	}
	future := g.raft.Apply(entry, proposeTimeout)
	return func() ([]error, error) {
		if err := g.await(future); err != nil {
			return nil, err
		}
		switch answer := future.Response().(type) {
		case []error:
			if answer != nil {
				n.opts.step()("commit: applied") // and told to nobody yet
				return answer, nil
			}
		case error:
			return nil, answer
		}
		return nil, errors.New("the entry was applied without an answer")
	}
}

// halted is told that a replica's file can't be written.
func (n *Node) halted(partition int, err error) {
	if g := n.held(partition); g != nil {
		g.halt(err)
	}
}

// evict stops the actors of a partition that this node no longer leads.
func (n *Node) evict(partition int) {
	if local := n.local.Load(); local != nil {
		cause := ubl.Errorf(ubl.CodeUnavailable, "another node takes over; the outcome is unknown until it is retried")
		(*local).Evict(cause, func(g ubl.Group) bool { return n.engine.Partition(g) == partition })
	}
}

// term is the newest term that this node knows of a partition.
func (n *Node) term(partition int) uint64 {
	if g := n.group(partition); g != nil {
		return g.raft.CurrentTerm()
	}
	return 0
}

// another is a living node that is neither this one nor the given one, and
// answers; a different one each time where there are several.
func (n *Node) another(than string) string {
	members := n.gossip.Members()
	rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	for _, m := range members {
		if m.State == mesh.Alive && m.ServerID != n.server && m.ServerID != than && m.ClusterID == n.clusterID() &&
			!n.pipes.to(m.ServerID).silent(time.Now()) {
			return m.ServerID
		}
	}
	return ""
}
