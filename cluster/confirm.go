package cluster

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"ubl"
)

// confirmer asks a quorum of a partition's voters in which term they are. Another
// leader would have been elected in a newer one, and by a quorum: as long as a
// quorum is in ours, there was none when it was asked. (Raft's own VerifyLeader
// also counts answers to heartbeats that were sent before the question, which a
// leader that was paused may find waiting when it wakes up.)
//
// Those who ask while a question is under way share the next one: theirs must
// begin after them.
type confirmer struct {
	group *group

	mu   sync.Mutex
	next *asking // not yet begun; nil if nobody waits
	busy bool
}

// asking is one such question, shared by those who wait for it.
type asking struct {
	done chan struct{}
	term uint64
	err  error
}

// confirmTimeout bounds one question.
const confirmTimeout = time.Second

var errOutvoted = errors.New("a quorum doesn't say that this node leads")

// confirm is the term in which this node led when it was called.
func (c *confirmer) confirm(ctx context.Context) (term uint64, err error) {
	c.mu.Lock()
	q := c.next
	if q == nil {
		q = &asking{done: make(chan struct{})}
		c.next = q
	}
	if !c.busy {
		c.busy = true
		c.group.node.opts.Panics.Go(nil, "confirming leadership", c.run)
	}
	c.mu.Unlock()
	select {
	case <-q.done:
		return q.term, q.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (c *confirmer) run() {
	for {
		c.mu.Lock()
		q := c.next
		c.next = nil
		c.busy = q != nil
		c.mu.Unlock()
		if q == nil {
			return
		}
		q.err = c.group.node.opts.Panics.Try("confirming leadership", func() (err error) {
			q.term, err = c.ask()
			return err
		})
		close(q.done)
	}
}

func (c *confirmer) ask() (term uint64, err error) {
	g := c.group
	ctx, cancel := context.WithTimeout(g.node.ctx, confirmTimeout)
	defer cancel()
	term = g.raft.CurrentTerm()
	voters := g.configuration().voters
	agree := 0
	for _, r := range g.terms(ctx, voters) {
		if r != nil && r.Term == term {
			agree++
		}
		if agree > len(voters)/2 {
			break
		}
	}
	if agree <= len(voters)/2 || g.raft.CurrentTerm() != term {
		return 0, errOutvoted
	}
	return term, nil
}

// terms are what voters say of their terms, in the order in which they answer: nil
// of those that don't until ctx ends. Of this node it is what it says itself.
func (g *group) terms(ctx context.Context, voters []string) iter.Seq2[string, *termReply] {
	type answer struct {
		server string
		said   *termReply
	}
	answers := make(chan answer, len(voters))
	for _, server := range voters {
		if server == g.node.server {
			answers <- answer{server, g.term(time.Now())}
			continue
		}
		g.node.opts.Panics.Go(nil, "asking for a term", func() {
			a := answer{server: server}
			defer func() { answers <- a }()
			if r, err := call[termReply](ctx, g.node, server, callTerm, &termRequest{Partition: g.partition}); err == nil {
				a.said = r
			}
		})
	}
	return func(yield func(string, *termReply) bool) {
		for range voters {
			if a := <-answers; !yield(a.server, a.said) {
				return
			}
		}
	}
}

func (g *group) term(now time.Time) *termReply {
	return &termReply{Term: g.raft.CurrentTerm(), Silent: g.silence(now).Milliseconds(), Last: g.raft.LastIndex()}
}

// serveTerm tells in which term this node's replica of a partition is.
func (n *Node) serveTerm(_ context.Context, q *termRequest) (*termReply, error) {
	g := n.group(q.Partition)
	if g == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "there is no replica here")
	}
	return g.term(time.Now()), nil
}
