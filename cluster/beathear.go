package cluster

import (
	"bufio"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"ubl/cluster/mesh"
)

// hearBeats takes the connections over which other nodes send heartbeats.
func (n *Node) hearBeats() {
	for {
		conn, err := n.beats.layer.Accept()
		if err != nil {
			return
		}
		e := &beatEar{node: n, from: mesh.Peer(conn), conn: conn}
		n.start("hearing heartbeats", e.hear)
	}
}

// beatEar hears the heartbeats of another node over one connection.
type beatEar struct {
	node *Node
	from string
	conn net.Conn

	writing sync.Mutex
}

func (e *beatEar) hear() {
	defer e.conn.Close()
	r := bufio.NewReader(e.conn)
	for spoke := false; ; spoke = true {
		list, err := readMessage(r, beatSize, readBeat)
		if err != nil {
			if spoke {
				e.node.gone.doubt(e.node.ctx, e.from)
			}
			return
		}
		e.node.gone.called(e.from) // the call itself may have come before a doubt
		e.answer(e.take(list))
		if e.from < e.node.server {
			e.node.beats.heard.raise()
		}
	}
}

// take gives each group its heartbeat. Those that may have to wait for a disk answer by
// themselves, one for each group: where it hangs they would pile up.
func (e *beatEar) take(list []beat) (echoes []echo) {
	for _, q := range list {
		g := e.node.group(q.partition)
		switch {
		case g == nil || !g.beating.TryLock():
			echoes = append(echoes, echo{id: q.id, outcome: missed})
		case g.follows(e.from, q.term):
			echoes = append(echoes, g.echo(e.from, q))
		default:
			e.node.opts.Panics.Go(nil, "taking a heartbeat", func() { e.answer([]echo{g.echo(e.from, q)}) })
		}
	}
	return echoes
}

func (e *beatEar) answer(echoes []echo) {
	if len(echoes) == 0 {
		return
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	_ = e.conn.SetWriteDeadline(time.Now().Add(e.node.opts.peerTimeout()))
	if _, err := e.conn.Write(message(echoes, echoSize, appendEcho)); err != nil {
		_ = e.conn.Close() // hear ends
	}
}

// follows reports whether the replica follows that leader in that term already: then a
// heartbeat writes nothing.
func (g *group) follows(leader string, term uint64) bool {
	return g.raft.State() == raft.Follower && g.raft.CurrentTerm() == term && g.leader() == leader
}

// echo is what Raft says to a heartbeat. It ends what beating is held for.
func (g *group) echo(from string, q beat) echo {
	defer g.beating.Unlock()
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(from), Addr: []byte(from)}
	r, err := g.calls.hear(&raft.AppendEntriesRequest{RPCHeader: header, Term: q.term})
	switch {
	case err != nil:
		return echo{id: q.id, outcome: missed}
	case !r.Success:
		return echo{id: q.id, term: r.Term, outcome: refused}
	}
	return echo{id: q.id, term: r.Term, commit: g.raft.CommitIndex(), outcome: accepted}
}
