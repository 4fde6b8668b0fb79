package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"ubl/panics"
)

// beats are the heartbeats of the groups that this node leads. Each group has its own, to
// each follower, several in an election timeout, and at rest they are nearly all that
// nodes do. So those of all groups to one node share a message, and their answers another:
// a heartbeat waits for the node's next beat.
//
// A message is an envelope, nothing more. Each group's Raft asks for its own heartbeat, and
// each follower's Raft gives its own answer, which depends on group, term and leader as
// that to a heartbeat that comes alone does. One that takes long (a newer term goes to
// the disk first) answers later, in a message of its own. Nodes of earlier versions, and those
// that gossip doesn't know yet, get heartbeats one by one.
//
// To wake each group's Raft for each beat would cost more than the beats do, and most of what a node at
// rest costs is that its process wakes, however little it then does. Three things spare that:
//
//	a heartbeat is sent pulseBeats times     while its group leads in its term; Raft learns of the
//	                                         last answer. A group that asks no more, because it
//	                                         hangs, is silent after that.
//	what is committed isn't told again       to a follower that has just said that it knows (knows).
//	                                         Raft takes that for an answer: a leader that is cut off
//	                                         notices one and a half beats later, and neither
//	                                         commits nor answers a read meanwhile (see confirmer).
//	Raft asks for the next when it hears     of an answer, since it is told to (transport.prompt), and
//	                                         not at a time of each follower's own.
type beats struct {
	layer   raft.StreamLayer                      // nil where this node sends and takes none
	rhythm                                        // of the messages
	timeout time.Duration                         // how long an answer may take
	takes   func(server string) bool              // a server takes messages of heartbeats
	leads   func(partition int, term uint64) bool // this node does
	prompt  func(partition int)                   // has a group's Raft ask for its next heartbeats now
	look    func(late time.Duration)              // goes with each beat, which came so late
	start   func(work string, fn func())          // in the background, guarded
	panics  *panics.Catcher

	// ctx ends after the groups have: they beat while they hand over.
	ctx  context.Context
	stop context.CancelFunc

	mu    sync.Mutex
	lines map[string]*beatLine // by server
}

// pulse is a heartbeat that Raft waits for. Guarded by the beats' mu, but for its answer.
type pulse struct {
	beat
	answer   chan pulsed // one slot
	over     bool        // it was answered, or Raft doesn't wait any more
	sent     time.Time   // when it was last
	underway bool        // and that wasn't answered yet
	accepted int         // how often the follower did
}

type pulsed struct {
	echo echo
	err  error
}

// pulseBeats is how often a heartbeat is sent before Raft hears of it.
const pulseBeats = 2

// raftTimeout is Raft's election timeout, and how long its leaders go without an answer. It
// is longer than Timeout: voters agree on an election before (see watch), and leaders
// learn of one answer in pulseBeats.
func (o *Options) raftTimeout() time.Duration { return o.Timeout * 6 / 5 }

// beatEvery is how long it is from one beat to the next. From an answer to its next heartbeat
// Raft waits a fifth of its timeout at most: so all are in.
func (o *Options) beatEvery() time.Duration { return o.raftTimeout() / 4 }

// peerTimeout bounds what Raft asks of another node, snapshots aside.
func (o *Options) peerTimeout() time.Duration { return max(2*time.Second, 4*o.Timeout) }

func newBeats(n *Node) *beats {
	b := &beats{
		rhythm: rhythm{n.opts.beatEvery(), newSignal()}, look: n.lookAfterLeaders, timeout: n.opts.peerTimeout(), start: n.start, panics: n.opts.Panics, lines: make(map[string]*beatLine),
		takes: func(server string) bool {
			m, ok := n.gossip.Member(server)
			return ok && m.Beats
		},
		leads: func(partition int, term uint64) bool {
			g := n.held(partition) // a halted one beats until it has handed over
			return g != nil && g.raft.State() == raft.Leader && g.raft.CurrentTerm() == term
		},
		prompt: func(partition int) {
			if g := n.held(partition); g != nil {
				g.raft.VerifyLeader() // asks all followers; what comes of it is nobody's concern (see confirmer)
			}
		},
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// reach reports whether heartbeats to a server share messages.
func (b *beats) reach(server string) bool { return b.layer != nil && b.takes(server) }

// isHeartbeat is how hashicorp/raft tells heartbeats from other calls (net_transport.go).
func isHeartbeat(q *raft.AppendEntriesRequest) bool {
	return q.Term != 0 && q.PrevLogEntry == 0 && q.PrevLogTerm == 0 && len(q.Entries) == 0 && q.LeaderCommitIndex == 0
}

var (
	errNoEcho  = errors.New("no answer to a heartbeat came in time")
	errMissed  = errors.New("the replica couldn't look at a heartbeat")
	errDeposed = errors.New("this node leads no more")
)

// send sends a group's heartbeat, and waits for the answer until timeout, or until the
// group ends.
func (b *beats) send(to string, q beat, stop <-chan struct{}) (echo, error) {
	p := &pulse{beat: q, answer: make(chan pulsed, 1)}
	line := b.add(to, p)
	timeout := time.NewTimer(b.timeout)
	defer timeout.Stop()
	select {
	case a := <-p.answer:
		return a.echo, a.err
	case <-timeout.C:
		line.late(p)
		return echo{}, errNoEcho
	case <-stop:
		b.mu.Lock()
		defer b.mu.Unlock()
		line.finish(p, pulsed{err: raft.ErrTransportShutdown})
		return echo{}, raft.ErrTransportShutdown
	}
}

// add has a heartbeat go with the next beat.
func (b *beats) add(to string, p *pulse) *beatLine {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := b.lines[to]
	if line == nil {
		line = &beatLine{beats: b, server: to}
		b.lines[to] = line
	}
	line.pulses = append(line.pulses, p)
	return line
}

// knows reports whether a follower has just said to a heartbeat of that term that it knows the log
// to be committed up to an entry, and what it said. Then its log is the leader's up to there, and
// to tell it so would change nothing.
func (b *beats) knows(server string, q beat, index uint64) (echo, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := b.lines[server]
	if line == nil || line.now == nil {
		return echo{}, false
	}
	e := line.now.newest[q.partition]
	fresh := time.Since(e.at) < b.every*3/2
	return e.echo, fresh && e.outcome == accepted && e.term == q.term && e.commit >= index
}

// run sends all that others are to hear, at each beat.
func (b *beats) run() {
	b.rhythm.run(b.ctx, func(late time.Duration) {
		b.panics.Do("looking after leaders", func() { b.look(late) })
		b.mu.Lock()
		lines := slices.Collect(maps.Values(b.lines))
		b.mu.Unlock()
		for _, line := range lines {
			b.panics.Do("sending heartbeats", line.send)
		}
	})
}
