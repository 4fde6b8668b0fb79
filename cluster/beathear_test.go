package cluster

import (
	"bufio"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"ubl/test/poll"
)

// ask sends heartbeats over a connection of its own, as a node that is mistaken would.
func (w *world) ask(from, to *Node, list ...beat) []echo {
	w.t.Helper()
	conn, err := from.beats.layer.Dial(raft.ServerAddress(to.server), 5*time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(message(list, beatSize, appendBeat)); err != nil {
		w.t.Fatal(err)
	}
	var echoes []echo
	for r := bufio.NewReader(conn); len(echoes) < len(list); {
		some, err := readMessage(r, echoSize, readEcho)
		if err != nil {
			w.t.Fatal(err)
		}
		echoes = append(echoes, some...)
	}
	return echoes
}

// TestHeartbeatsAreChecked as those are that come alone: the receiver's Raft looks at group,
// term and leader. One of a newer term deposes a leader.
func TestHeartbeatsAreChecked(t *testing.T) {
	w := newWorld(t, 3, steady)
	leader := w.led(0)
	follower := w.nodes[slices.IndexFunc(w.nodes, func(n *Node) bool { return n != leader })]
	term := leader.group(0).raft.CurrentTerm()
	for _, c := range []struct {
		what     string
		from, to *Node
		beat     beat
		want     echo
	}{
		{"an earlier term", leader, follower, beat{term: term - 1}, echo{outcome: refused, term: term}},
		{"its leader's", leader, follower, beat{term: term}, echo{outcome: accepted, term: term}},
		{"a group that isn't there", leader, follower, beat{partition: testPartitions, term: term}, echo{outcome: missed}},
		{"a newer term", follower, leader, beat{term: term + 5}, echo{outcome: accepted, term: term + 5}},
	} {
		poll.Until(t, "a heartbeat is looked at: "+c.what, func() bool {
			e := w.ask(c.from, c.to, c.beat)[0]
			if e.outcome == missed && c.want.outcome != missed {
				return false // the leader's own was under way
			}
			if e.commit = 0; e != c.want {
				t.Errorf("%s is answered with %+v, want %+v", c.what, e, c.want)
			}
			return true
		})
	}
	poll.Until(t, "another term begins", func() bool {
		n := w.leader(0)
		return n != nil && n.group(0).raft.CurrentTerm() > term+5
	})
}

// TestALeaderWithoutFollowersLosesItsLease: it doesn't go on with what they said before.
func TestALeaderWithoutFollowersLosesItsLease(t *testing.T) {
	w := newWorld(t, 3, nil)
	leader := w.led(0)
	for i, n := range w.nodes {
		if n != leader {
			n.cut()
			defer w.stop(i)
		}
	}
	poll.Until(t, "it leads no more", func() bool { return leader.group(0).raft.State() != raft.Leader && leader.engine.Epoch(0) == 0 })
}

// cut takes the node from the network, as the end of its process does.
func (n *Node) cut() { _ = n.mesh.Close() }

// TestNodesOfEarlierVersions get heartbeats one by one, and give such; the others share
// messages. A node that was updated, or went back, is led and leads on.
func TestNodesOfEarlierVersions(t *testing.T) {
	earlier := []bool{true, false, false}
	w := newWorld(t, 3, func(o *Options) { o.earlier = earlier[o.NodeID[0]-'a'] })
	for _, step := range []struct {
		what  string
		swaps int // this node's version, before
	}{{"two of three are new", -1}, {"all are new", 0}, {"one went back", 1}} {
		if step.swaps >= 0 {
			w.stop(step.swaps)
			earlier[step.swaps] = !earlier[step.swaps]
			w.start(step.swaps)
			w.settle()
		}
		for i, n := range w.nodes {
			w.stand(n, 0)
			n.beats.hangUp()
			for j, other := range w.nodes {
				if i == j {
					continue
				}
				shared := !earlier[i] && !earlier[j]
				before := other.group(0).raft.LastContact()
				poll.Until(t, step.what+": node "+other.server+" hears "+n.server, func() bool {
					heard := other.group(0).leader() == n.server && other.group(0).raft.LastContact().After(before)
					return heard && n.beats.reach(other.server) == shared && n.beats.speaks(other.server) == shared
				})
			}
		}
	}
}

// hangUp ends the connections over which the node sends heartbeats.
func (b *beats) hangUp() {
	b.mu.Lock()
	var all []*beatConn
	for _, l := range b.lines {
		if l.now != nil {
			all = append(all, l.now)
		}
	}
	b.mu.Unlock()
	for _, s := range all {
		s.end(net.ErrClosed)
	}
}

// speaks reports whether heartbeats to a server share messages.
func (b *beats) speaks(server string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines[server] != nil && b.lines[server].now != nil
}
