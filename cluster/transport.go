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

func newTransport(t *raft.NetworkTransport, holds func(index, term uint64) bool, stop chan struct{}) *transport {
	w := &transport{NetworkTransport: t, rpcs: make(chan raft.RPC), stop: stop}
	go w.pass(holds)
	return w
}

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.rpcs }

func (t *transport) pass(holds func(index, term uint64) bool) {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			if q, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok && holds(q.LastLogIndex, q.LastLogTerm) {
				_, err := io.Copy(io.Discard, rpc.Reader) // it comes on the same connection
				rpc.Respond(&raft.InstallSnapshotResponse{RPCHeader: q.RPCHeader, Term: q.Term, Success: true}, err)
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

// holds reports whether this replica has everything up to an entry: it has
// applied that far, or its log has the entry itself.
func (g *group) holds(index, term uint64) bool {
	if g.node.engine.Applied(g.partition) >= index {
		return true
	}
	var l raft.Log
	return g.files.log.GetLog(index, &l) == nil && l.Term == term
}
