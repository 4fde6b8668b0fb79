package cluster

import (
	"io"

	"github.com/hashicorp/raft"
)

// transport is Raft's, but for snapshots that tell a follower nothing new. A
// leader falls back to its snapshot when it doesn't know how far a follower is;
// hashicorp/raft 1.7.3 would install it, throw away the entries after it, which
// were acknowledged, and go on with a hole in its log. Whoever holds what the
// snapshot ends with holds all of it: it says so, and the leader goes on from
// there.
type transport struct {
	*raft.NetworkTransport
	rpcs chan raft.RPC
	stop chan struct{}
}

func newTransport(t *raft.NetworkTransport, holds func(*raft.InstallSnapshotRequest) bool, stop chan struct{}) *transport {
	w := &transport{NetworkTransport: t, rpcs: make(chan raft.RPC), stop: stop}
	go w.pass(holds)
	return w
}

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.rpcs }

func (t *transport) pass(holds func(*raft.InstallSnapshotRequest) bool) {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			if q, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok && holds(q) {
				go func() { // the snapshot comes on the same connection, and may take its time
					_, err := io.Copy(io.Discard, rpc.Reader)
					rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: q.RPCHeader, Term: q.Term, Success: true}, err)
				}()
				continue
			}
			select {
			case t.rpcs <- rpc:
			case <-t.stop:
				return
			}
		case <-t.stop:
			return
		}
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
