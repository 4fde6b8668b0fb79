package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// A voter that hears nothing from its leader for Options.Timeout asks the other
// voters whether they do.
//
//	a quorum hears nothing   the one of the newest log has its Raft stand for election
//	                         at once, the next ones half a Timeout later each
//	some hear the leader     nothing: this node alone is cut off from it
//	no quorum answers        after one and a half Timeouts the partition counts as lost:
//	                         callers are told so instead of waiting
//
// It asks at once when it knows that the leader's process has ended (see gone), and answers
// as one that has waited.
//
// Raft alone takes up to three Timeouts until each of two followers has noticed, and
// as much again where both stand at once or the one with the older log does. It still
// does so where nobody asks, as between nodes of an earlier version.

// watch looks after the group's leader until the group ends. While the leader speaks it waits:
// the node looks after all of them with each beat (lookAfterLeaders).
func (g *group) watch() {
	next := time.NewTimer(0)
	defer next.Stop()
	var w watching
	for resting := false; ; {
		pause := g.patience(time.Now())
		if resting {
			next.Stop()
		} else {
			next.Reset(pause)
		}
		began := time.Now()
		select {
		case <-g.stop:
			return
		case <-g.lookNow:
		case <-next.C:
		}
		if !resting && stoodStill(time.Since(began)-pause, g.node.opts.Timeout) {
			g.awake.Store(time.Now().UnixNano())
		}
		resting = g.atRest(time.Now()) // before it looks: what it looks for may end meanwhile
		g.node.opts.Panics.Do("watching the leader", func() { g.look(&w) })
	}
}

// lookAfterLeaders has the groups look whose leaders are to be looked after. It is called with
// each beat, and by how much that came too late.
func (n *Node) lookAfterLeaders(late time.Duration) {
	now := time.Now()
	for _, g := range n.allGroups() {
		if stoodStill(late, n.opts.Timeout) {
			g.awake.Store(now.UnixNano())
		}
		if !g.atRest(now) {
			g.lookNow.raise()
		}
	}
}

// stoodStill reports whether a machine stood still on which something came so late.
func stoodStill(late, timeout time.Duration) bool { return late > timeout*3/20 }

// atRest reports whether there is nothing to look after before the next beat: the leader has
// spoken so lately that Timeout can't be over by then. A replica that loses its leadership
// looks at once.
func (g *group) atRest(now time.Time) bool {
	_, orphaned := g.orphaned()
	return !orphaned && calm(g.unheard(now), g.node.opts.Timeout)
}

// calm reports whether a leader that was heard so long ago needs no look before the next beat.
func calm(unheard, timeout time.Duration) bool { return unheard < timeout*7/20 }

// patience is how soon a leader is looked after that may have fallen silent: in moments, so
// that it shows where the machine stands still.
func (g *group) patience(now time.Time) time.Duration {
	timeout := g.node.opts.Timeout
	if since, orphaned := g.orphaned(); orphaned && now.Sub(since) < timeout {
		return timeout / 20 // the others learn of it a moment earlier or later
	}
	return timeout / 10
}

// watching is what a watch remembers from one look to the next.
type watching struct {
	alone time.Time // since when no quorum answers; zero while one does
	stood time.Time // when Raft was last told to stand
}

func (g *group) look(w *watching) {
	timeout := g.node.opts.Timeout
	if _, orphaned := g.orphaned(); !orphaned && g.unheard(time.Now()) < timeout {
		w.alone = time.Time{}
		g.setLost(false)
		return
	}
	voters := g.configuration().voters
	if !slices.Contains(voters, g.node.server) {
		return // a learner hears of leaders from others (see listenOnce)
	}
	began := time.Now()
	s := g.hearVoters(voters)
	switch quorum := len(voters)/2 + 1; {
	case s.answered >= quorum:
		w.alone = time.Time{}
		g.setLost(false)
		waited := min(g.silence(time.Now()), time.Since(w.stood))
		if s.agree(quorum, waited, timeout) && g.raft.State() == raft.Follower {
			w.stood = time.Now()
			g.stand()
		}
	case time.Since(began) > timeout*5/4:
		// The machine stood still meanwhile: answers may have come too late for it.
	default:
		if w.alone.IsZero() {
			w.alone = began
		}
		if time.Since(w.alone) >= timeout*3/2 {
			g.setLost(true)
		}
	}
}

// unheard is for how long a replica has heard of no leader. It is 0 where the replica
// leads. That the machine stood still doesn't shorten it: a quorum that is away stays
// away meanwhile, and only an answer shows that it is back.
func (g *group) unheard(now time.Time) time.Duration {
	if g.raft.State() == raft.Leader {
		return 0
	}
	since := g.began
	if t := g.raft.LastContact(); t.After(since) {
		since = t
	}
	return now.Sub(since)
}

// orphaned is since when the replica knows that its leader is gone, if it does.
func (g *group) orphaned() (since time.Time, orphaned bool) { return g.node.gone.at(g.leader()) }

// silence is what is unheard, without the time before the machine last stood still: the leader
// may have spoken then. One that is gone counts as if it had been silent for Timeout then.
func (g *group) silence(now time.Time) time.Duration {
	if since, orphaned := g.orphaned(); orphaned {
		return g.node.opts.Timeout + now.Sub(since)
	}
	return min(g.unheard(now), now.Sub(time.Unix(0, g.awake.Load())))
}

// said is what came of asking the voters: how many answered, how many of them hear
// nothing, this node included, and how many of those had better stand first.
type said struct{ answered, silent, fresher int }

// agree reports whether this node should stand, which has waited that long.
func (s said) agree(quorum int, waited, timeout time.Duration) bool {
	return s.silent >= quorum && waited >= timeout+time.Duration(s.fresher)*timeout/2
}

// hearVoters asks the voters, until that is enough.
func (g *group) hearVoters(voters []string) (s said) {
	timeout, mine, leader := g.node.opts.Timeout, g.raft.LastIndex(), g.leader()
	others := len(voters) // than the leader, who haven't said something yet, or nothing in time
	if slices.Contains(voters, leader) {
		others--
	}
	ctx, cancel := context.WithTimeout(g.node.ctx, timeout)
	defer cancel()
	for server, r := range g.terms(ctx, voters) {
		if server != leader {
			others--
		}
		s.hear(server, r, g.node.server, mine, timeout)
		if s.enough(len(voters)/2+1, others == 0) {
			break
		}
	}
	return s
}

// enough reports whether what the voters say is known: a quorum hears nothing, or one
// answers and all others than the leader have, who may be silent for long.
func (s said) enough(quorum int, others bool) bool {
	return s.silent >= quorum || s.answered >= quorum && others
}

// hear counts what a voter said, nil for nothing; me is who asks, whose newest entry is mine.
func (s *said) hear(voter string, r *termReply, me string, mine uint64, timeout time.Duration) {
	if r == nil {
		return
	}
	s.answered++
	// Heartbeats reach voters at different times: one that hears nothing may not have
	// waited quite as long yet.
	if time.Duration(r.Silent)*time.Millisecond < timeout*3/4 {
		return
	}
	s.silent++
	if r.Last > mine || r.Last == mine && voter < me {
		s.fresher++
	}
}

// stand has a follower's Raft stand for election now, as if its leader had handed
// over to it: then voters that haven't noticed yet vote, too.
func (g *group) stand() {
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(g.node.server), Addr: []byte(g.node.server)}
	g.calls.elect(raft.RPC{Command: &raft.TimeoutNowRequest{RPCHeader: header}, RespChan: make(chan raft.RPCResponse, 1)})
}

// setLost takes whether a quorum of the voters is away, and wakes those who wait.
func (g *group) setLost(lost bool) {
	if g.lost.Swap(lost) != lost {
		g.node.routes.changed(g.partition)
	}
}
