package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"ubl/storage"
)

// group is this node's part in the Raft group of one partition.
type group struct {
	node      *Node
	partition int
	began     time.Time

	files     *files
	raft      *raft.Raft
	peers     *severable
	transport *raft.NetworkTransport
	calls     *transport
	observer  *raft.Observer
	notify    chan bool
	seen      chan raft.Observation
	lookNow   signal        // the leader is to be looked after
	stop      chan struct{} // closed when the group is to end
	ended     chan struct{} // closed when Raft has ended: its futures stay unanswered
	closed    chan struct{} // closed when the files are, too
	closeErr  error         // before closed is
	work      sync.WaitGroup
	ending    sync.Once
	closing   sync.Once

	beating sync.Mutex // held while Raft takes a heartbeat that came with others

	// snapshots is held while one is taken or installed. Who takes one asks Raft's
	// main goroutine, which waits for what it installs, which waits for all who read
	// the file that it replaces, and who takes one does.
	snapshots sync.Mutex

	transfers sync.Mutex // one at a time
	failed    time.Time  // the newest transfer that did

	confirms    confirmer
	lost        atomic.Bool   // a quorum of the voters doesn't answer
	awake       atomic.Int64  // when this machine last began again after it stood still, in Unix nanoseconds
	configIndex atomic.Uint64 // the index of the newest committed configuration
	logged      atomic.Int64  // bytes in the log since the newest snapshot, about
	grown       signal        // those are many
	halted      atomic.Pointer[error]
}

const (
	// logCache is how many of the newest entries are in memory, for followers.
	logCache = 128
	// trailingLogs stay in the log when it is cut, for followers that are not far behind.
	trailingLogs = 1024
	// maxPool is how many idle connections to another node a group keeps.
	maxPool = 3
	// proposeTimeout bounds how long an entry waits to enter a leader's log.
	proposeTimeout = 5 * time.Second
	// snapshotCheck is how often the size of a log that has grown is looked at, at most.
	snapshotCheck = 2 * time.Second
	// by itself Raft would count entries; a log is cut by its bytes (see maintain).
	never = 1 << 62
)

// openGroup starts the partition's Raft group over what the directory has.
func (n *Node) openGroup(partition int) (*group, error) {
	g := &group{
		node: n, partition: partition, began: time.Now(),
		// Raft waits for whoever takes notifications: they must never fill up.
		notify: make(chan bool, 64), seen: make(chan raft.Observation, 64), lookNow: newSignal(), grown: newSignal(),
		stop: make(chan struct{}), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	if err := g.open(); err != nil {
		return nil, fmt.Errorf("couldn't open partition %d: %w", partition, err)
	}
	g.confirms.group = g
	g.start("following who leads", g.lead)
	g.start("watching the leader", g.watch)
	g.start("cutting a log", g.maintain)
	return g, nil
}

// start runs what finish waits for.
func (g *group) start(work string, fn func()) { g.node.opts.Panics.Go(&g.work, work, fn) }

func (g *group) open() (err error) {
	n := g.node
	if err := logGone(n.opts.Dir, g.partition, n.engine.Applied(g.partition)); err != nil {
		return err
	}
	if err := n.engine.Resume(g.partition); err != nil {
		return err
	}
	if g.files, err = g.openFiles(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.files.close())
		}
	}()
	if err := g.catchUp(); err != nil {
		return err
	}
	// Less the newest segment, which is allocated ahead.
	g.grow(max(0, dirBytes(filepath.Join(groupDir(n.opts.Dir, g.partition), logDir))-segmentBytes))
	cache, err := raft.NewLogCache(logCache, watched{g.files.log, g.files.promise, n.opts.Logged, g.halt})
	if err != nil {
		return err
	}
	g.peers = newSeverable(n.mesh.RaftLayer(g.partition), n.opts.Panics)
	g.transport = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: g.peers, MaxPool: maxPool, Timeout: n.opts.peerTimeout(), Logger: n.raftLog,
		// One at a time: a follower that refuses one of several can leave the leader's
		// goroutine waiting for ever (hashicorp/raft issue 612).
		MaxRPCsInFlight: 1,
	})
	g.calls = (&transport{
		NetworkTransport: g.transport, partition: g.partition, timeout: n.opts.Timeout, beats: n.beats, snapshots: &g.snapshots,
		holds: g.holds, whole: g.files.promise.whole, stop: g.stop, panics: n.opts.Panics,
	}).start()
	if err := g.mustHaveOthers(cache); err != nil {
		g.end()
		return errors.Join(err, g.transport.Close())
	}
	g.raft, err = raft.NewRaft(g.config(), fsm{g}, cache, patient{g.files.log, n.log.With("partition", g.partition), g.stop}, g.files.snapshots, g.calls)
	if err != nil {
		g.end()
		return errors.Join(err, g.transport.Close())
	}
	g.observer = raft.NewObserver(g.seen, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	g.raft.RegisterObserver(g.observer)
	return nil
}

// mustHaveOthers refuses a log that lacks what it promised where no other node has
// it: it would elect itself. Else it tells that the others are waited for.
func (g *group) mustHaveOthers(cache raft.LogStore) error {
	p := g.files.promise
	if p.whole() {
		return nil
	}
	last, err := g.files.log.LastIndex()
	if err != nil {
		return err
	}
	c, err := raft.GetConfiguration(g.config(), fsm{g}, cache, g.files.log, g.files.snapshots, g.calls)
	if err != nil {
		return err
	}
	lost := fmt.Sprintf("entries %d to %d of its log were acknowledged and can't be read", last+1, p.owes)
	others := slices.ContainsFunc(c.Servers, func(s raft.Server) bool {
		return s.Suffrage == raft.Voter && string(s.ID) != g.node.server
	})
	if len(c.Servers) > 0 && !others { // without a configuration it elects nobody (see rebuild.go)
		return fmt.Errorf("%s, and no other node has them; restore a backup", lost)
	}
	log := g.node.log.With("partition", g.partition, "from", last+1, "to", p.owes)
	log.Error("a replica's log is damaged; it doesn't vote until it has from the others what it lost")
	p.healed = func() { log.Info("a replica has again what its log had lost, and votes") }
	return nil
}

func (g *group) config() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(g.node.server)
	timeout := g.node.opts.raftTimeout()
	// The lease is as long as followers wait: a leader whose machine stood still for a moment would
	// else resign though nobody missed it. Reads don't rely on it (see confirm).
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = timeout, timeout, timeout
	// How soon idle followers learn what was committed; nobody waits for that.
	c.CommitTimeout = g.node.opts.Timeout
	// With a buffer, entries that wait in it when Raft ends are never answered.
	c.BatchApplyCh = false
	c.TrailingLogs = trailingLogs
	c.SnapshotInterval, c.SnapshotThreshold = time.Hour, never
	c.NoSnapshotRestoreOnStart = true
	c.NoLegacyTelemetry = true
	c.NotifyCh = g.notify
	c.Logger = g.node.raftLog.With("partition", g.partition)
	return c
}

// catchUp installs the newest snapshot where the file is behind it: it was lost
// with the machine's power, or a snapshot came and the process ended before it
// was installed.
func (g *group) catchUp() error {
	applied := g.node.engine.Applied(g.partition)
	meta, err := g.files.newest()
	if err != nil {
		return err
	}
	if meta == nil {
		first, err := g.files.log.FirstIndex()
		if err == nil && first > 1 && applied+1 < first {
			err = errors.New("its log begins behind what its file has, and there is no snapshot")
		}
		return err
	}
	g.configIndex.Store(meta.ConfigurationIndex)
	if err := g.dropBefore(meta.Index); err != nil {
		return err
	}
	has, err := g.snapshotApplied(meta.ID)
	if err != nil || has <= applied {
		return err
	}
	_, r, err := g.files.snapshots.Open(meta.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	defer g.node.installed(g.partition)
	return g.node.engine.Install(g.partition, r)
}

// dropBefore empties a log that ends before a snapshot: the process ended when a
// leader's snapshot had come and the entries before it were still there. Raft
// could not append to it.
func (g *group) dropBefore(index uint64) error {
	first, err := g.files.log.FirstIndex()
	if err != nil {
		return err
	}
	last, err := g.files.log.LastIndex()
	if err != nil || last == 0 || last >= index {
		return err
	}
	return g.files.log.DeleteRange(first, last)
}

// snapshotApplied is the index of the newest entry in a snapshot.
func (g *group) snapshotApplied(id string) (uint64, error) {
	_, r, err := g.files.snapshots.Open(id)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return storage.SnapshotApplied(r)
}

// halt takes this replica out of its group because its file can't be written.
// Another leads meanwhile; it comes back when it can work again.
func (g *group) halt(cause error) {
	if !g.halted.CompareAndSwap(nil, &cause) {
		return
	}
	g.node.log.Error("a replica stopped", "partition", g.partition, "error", cause)
	g.node.opts.Panics.Go(nil, "bringing a replica back", func() { g.node.reopen(g) })
}

// end has the group serve no more; what is in flight may still settle.
func (g *group) end() { g.ending.Do(func() { close(g.stop) }) }

// grow counts bytes that were logged.
func (g *group) grow(bytes int64) {
	if g.logged.Add(bytes) >= g.node.opts.LogBytes {
		g.grown.raise()
	}
}

// maintain cuts the log when it has grown.
func (g *group) maintain() {
	for {
		select {
		case <-g.stop:
			return
		case <-g.grown:
			g.cut()
		}
		select {
		case <-g.stop:
			return
		case <-time.After(snapshotCheck):
		}
	}
}

// cut takes a snapshot when much was logged, also in proportion to the data:
// the cost of copying stays in proportion to what is written. Entries are
// compressed to about a quarter, hence the eighth.
func (g *group) cut() {
	logged := g.logged.Load()
	if logged < max(g.node.opts.LogBytes, g.node.engine.PartitionStats(g.partition).FileBytes/8) {
		return // the next entry asks again
	}
	switch err := g.node.opts.Panics.Try("cutting a log", g.takeSnapshot); {
	case err == nil, errors.Is(err, raft.ErrNothingNewToSnapshot):
		g.grow(-logged)
	case !errors.Is(err, raft.ErrRaftShutdown):
		g.node.log.Warn("couldn't cut a partition's log", "partition", g.partition, "error", err)
		g.grow(0) // again, soon
	}
}

func (g *group) takeSnapshot() error {
	g.snapshots.Lock()
	defer g.snapshots.Unlock()
	return g.await(g.raft.Snapshot())
}

// endTimeout bounds how long close waits: Raft doesn't stop while it waits for a
// full disk.
const endTimeout = 10 * time.Second

// close ends this node's part in the group. Where that takes longer than it
// waits, it goes on, and closed tells when it is over.
func (g *group) close() error {
	g.closing.Do(func() {
		g.end()
		g.node.opts.Panics.Go(nil, "closing a replica", g.finish)
	})
	select {
	case <-g.closed:
		return g.closeErr
	case <-time.After(endTimeout):
		return fmt.Errorf("partition %d didn't stop in time", g.partition)
	}
}

func (g *group) finish() {
	over := g.raft.Shutdown()
	g.peers.sever()
	err := over.Error()
	close(g.ended)
	g.work.Wait()
	g.raft.DeregisterObserver(g.observer)
	g.closeErr = errors.Join(err, g.transport.Close(), g.files.close())
	close(g.closed)
}
