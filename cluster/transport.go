package cluster

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"ubl/panics"
)

// transport is Raft's, but for snapshots that come from a leader: they wait until
// this replica has taken its own, and those that tell it nothing new don't reach
// Raft. A leader falls back to its snapshot when it doesn't know how far a
// follower is; hashicorp/raft 1.7.3 would install it, throw away the entries after
// it, which were acknowledged, and go on with a hole in its log. Whoever holds what
// the snapshot ends with holds all of it: it says so, and the leader goes on from
// there.
//
// Heartbeats share messages with those of other groups (see beats).
type transport struct {
	*raft.NetworkTransport
	partition int
	timeout   time.Duration // Options.Timeout
	beats     *beats
	rpcs      chan raft.RPC
	snapshots *sync.Mutex // held while one is taken or installed
	holds     func(*raft.InstallSnapshotRequest) bool
	whole     func() bool // the replica may vote and stand
	stop      chan struct{}
	panics    *panics.Catcher

	heartbeat atomic.Pointer[func(raft.RPC)] // how Raft takes one
	prompted  atomic.Int64                   // when Raft was last told to send its next ones, in Unix nanoseconds
}

// start begins to pass on what comes in.
func (t *transport) start() *transport {
	t.rpcs = make(chan raft.RPC)
	t.panics.Go(nil, "passing Raft's calls on", t.pass)
	return t
}

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.rpcs }

func (t *transport) pass() {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			switch q := rpc.Command.(type) {
			case *raft.InstallSnapshotRequest:
				t.panics.Go(nil, "installing a snapshot", func() { t.install(rpc, q) }) // nothing else waits for it
			case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest, *raft.TimeoutNowRequest:
				t.elect(rpc)
			default:
				t.give(rpc)
			}
		case <-t.stop:
			return
		}
	}
}

var errNotWhole = errors.New("this replica has lost entries that it acknowledged, and takes no part in elections until it has them again")

// elect passes on what an election asks of a replica that has all it acknowledged.
func (t *transport) elect(rpc raft.RPC) {
	if !t.whole() {
		rpc.Respond(nil, errNotWhole)
		return
	}
	t.give(rpc)
}

// RequestVote implements raft.Transport, and RequestPreVote raft.WithPreVote: nor does
// such a replica ask others for their votes.
func (t *transport) RequestVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestVoteRequest, r *raft.RequestVoteResponse) error {
	if !t.whole() {
		return errNotWhole
	}
	return t.again(func() error { return t.NetworkTransport.RequestVote(id, to, q, r) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *transport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, q *raft.RequestPreVoteRequest, r *raft.RequestPreVoteResponse) error {
	if !t.whole() {
		return errNotWhole
	}
	return t.again(func() error { return t.NetworkTransport.RequestPreVote(id, to, q, r) })
}

// again repeats what fails at once: each of the pooled connections may be of a process that
// has ended since, and Raft would ask for no vote again before the next election.
func (t *transport) again(ask func() error) error {
	for try := 0; ; try++ {
		began := time.Now()
		if err := ask(); err == nil || try == maxPool || time.Since(began) > t.timeout/10 {
			return err
		}
	}
}

// AppendEntries implements raft.Transport.
func (t *transport) AppendEntries(id raft.ServerID, to raft.ServerAddress, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) error {
	alone := func() error { return t.NetworkTransport.AppendEntries(id, to, q, r) }
	if len(q.Entries) > 0 || !t.beats.reach(string(to)) {
		return alone()
	}
	b := beat{partition: t.partition, term: q.Term}
	if isHeartbeat(q) {
		e, err := t.beats.send(string(to), b, t.stop)
		if err == nil && e.outcome == accepted {
			t.prompt()
		}
		*r = e.response()
		return err
	}
	if e, known := t.beats.knows(string(to), b, max(q.PrevLogEntry, q.LeaderCommitIndex)); known {
		*r = e.response()
		return nil
	}
	return alone()
}

// prompt has Raft ask for its next heartbeats, to all followers, as soon as they have answered.
// By itself it waits a moment of chance for each of them, and wakes the process to ask for
// what waits for the next beat anyway.
func (t *transport) prompt() {
	now, before := time.Now().UnixNano(), t.prompted.Load()
	if now-before >= int64(t.beats.every/2) && t.prompted.CompareAndSwap(before, now) {
		t.beats.prompt(t.partition)
	}
}

// response is an echo as Raft knows it. It shares nothing with the request: Raft uses both
// again, and the next answer is decoded over this one.
func (e echo) response() raft.AppendEntriesResponse {
	return raft.AppendEntriesResponse{Term: e.term, Success: e.outcome == accepted}
}

// SetHeartbeatHandler implements raft.Transport.
func (t *transport) SetHeartbeatHandler(take func(raft.RPC)) {
	t.heartbeat.Store(&take)
	t.NetworkTransport.SetHeartbeatHandler(take)
}

// hear has Raft take a heartbeat that came with others.
func (t *transport) hear(q *raft.AppendEntriesRequest) (*raft.AppendEntriesResponse, error) {
	answer := make(chan raft.RPCResponse, 1)
	(*t.heartbeat.Load())(raft.RPC{Command: q, RespChan: answer})
	select {
	case a := <-answer:
		r, _ := a.Response.(*raft.AppendEntriesResponse)
		return r, a.Error
	default:
		return nil, raft.ErrRaftShutdown // which answers nobody
	}
}

func (t *transport) give(rpc raft.RPC) {
	select {
	case t.rpcs <- rpc:
	case <-t.stop:
	}
}

// install gives Raft a snapshot, unless it is held, and waits for the outcome.
func (t *transport) install(rpc raft.RPC, q *raft.InstallSnapshotRequest) {
	t.snapshots.Lock()
	defer t.snapshots.Unlock()
	if t.holds(q) {
		_, err := io.Copy(io.Discard, rpc.Reader)
		rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: q.RPCHeader, Term: q.Term, Success: true}, err)
		return
	}
	answered := make(chan raft.RPCResponse, 1)
	to := rpc.RespChan
	rpc.RespChan = answered
	t.give(rpc)
	select {
	case answer := <-answered:
		to <- answer
	case <-t.stop:
	}
}

// holds reports whether this replica has everything that a snapshot has: its log
// has the entry that the snapshot ends with, or was cut behind it. A leader of an
// earlier term gets its answer from Raft.
func (g *group) holds(q *raft.InstallSnapshotRequest) bool {
	term, err := g.files.log.GetUint64([]byte("CurrentTerm"))
	if err != nil || q.Term < term {
		return false
	}
	var l raft.Log
	if g.files.log.GetLog(q.LastLogIndex, &l) == nil {
		return l.Term == q.LastLogTerm
	}
	mine, err := g.files.newest()
	return err == nil && mine != nil && mine.Index >= q.LastLogIndex
}
