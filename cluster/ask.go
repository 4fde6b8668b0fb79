package cluster

import (
	"context"
	"math/rand/v2"
	"time"

	"ubl"
	"ubl/cluster/wire"
)

const (
	// askTimeout bounds an Ask whose caller set no deadline.
	askTimeout = 15 * time.Second
	// attemptTimeout bounds one forwarded attempt: a node that takes it and then
	// goes silent must not use up the caller's time.
	attemptTimeout = 5 * time.Second
	// pauses between attempts double from the first to the last.
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// question is what an actor is asked; enter, an ubl.Enter where it is set, is asked
// of the caller's Tenant first: the actor's, and so on the same partition.
type question struct {
	to    ubl.Name
	cmd   ubl.Command
	enter ubl.Command
	until time.Time // how long the asker waits
}

// reply is what came of it: entered where enter was set and let the caller in.
type reply struct {
	entered *ubl.Entered
	value   any
	err     error
}

// What an attempt ends with that asked no actor.
var (
	errNoLeader = ubl.Errorf(ubl.CodeUnavailable, "no node leads this part of the data now")
	errNotHere  = ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead the partition")
	errMoved    = ubl.Errorf(ubl.CodeUnavailable, "leadership has moved")
)

// open reports whether an attempt that ended like that may have done something all the
// same.
func open(err error) bool {
	return ubl.CodeOf(err) == ubl.CodeUnavailable && err != error(errNoLeader) && err != error(errNotHere) && err != error(errMoved)
}

// errDoubt is of a write that was asked again and refused for load.
var errDoubt = ubl.Errorf(ubl.CodeUnavailable, "a leader failed, and the next has too much to do; the outcome is unknown until the write is retried")

// errStrange is of a question whose enter isn't for its actor's tenant.
var errStrange = ubl.Errorf(ubl.CodeInternal, "a question between nodes is not well formed")

// way is how a question goes: to the leader as it is known, itself or via
// another node; moved is closed when the leader may have changed.
type way struct {
	partition   int
	leader, via string
	moved       <-chan struct{}
}

// Ask implements [ubl.Asker]: it asks the actor wherever it is. What fails
// because leadership moves is asked again, until the caller's deadline; the
// command's key makes that safe. A write that is then refused for load is asked again,
// too: an attempt before may have been let in.
func (n *Node) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	r := n.ask(ctx, question{to: to, cmd: cmd})
	return r.value, r.err
}

// Visit implements [ubl.Visitor].
func (n *Node) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if in.Who.TenantID != to.Group().Tenant {
		return nil, nil, errStrange
	}
	r := n.ask(ctx, question{to: to, cmd: cmd, enter: in})
	return r.entered, r.value, r.err
}

func (n *Node) ask(ctx context.Context, q question) reply {
	q.until = time.Now().Add(askTimeout)
	if deadline, ok := ctx.Deadline(); ok {
		q.until = deadline
	}
	var r reply
	doubt := false // an earlier attempt may have done something
	err := n.untilLed(ctx, n.engine.Partition(q.to.Group()), q.until, func(w way) error {
		r = n.attempt(ctx, w, q)
		if doubt && q.cmd.Cost() > 0 && ubl.CodeOf(r.err) == ubl.CodeOverloaded {
			// The caller would take it that nothing was done.
			r = reply{err: errDoubt.Because(r.err)}
		}
		doubt = doubt || open(r.err)
		return r.err
	})
	if err != r.err { // it was given up
		return reply{err: err}
	}
	return r
}

// untilLed tries something with a partition's leader, again where it failed because
// leadership moves, until the caller's deadline, or until it is known that too few
// voters are up.
func (n *Node) untilLed(ctx context.Context, partition int, until time.Time, try func(way) error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		leader, moved := n.routes.to(partition)
		err := try(way{partition, leader, n.via(leader, pause), moved})
		if ubl.CodeOf(err) != ubl.CodeUnavailable || ctx.Err() != nil || !time.Now().Before(until) {
			return err
		}
		if n.routes.lost(partition) {
			if h := n.heard.Load(); h != nil && len(h.full) > 0 {
				return errNoRoom.Later(retryLost)
			}
			return errNoQuorum.Later(retryLost)
		}
		select {
		case <-moved:
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return err
		}
	}
}

// via is whom to ask: the leader or, where it was silent a moment ago or can't be
// heard here for longer than an election takes, another node that may reach it.
func (n *Node) via(leader string, paused time.Duration) string {
	away := leader == "" && paused == lastPause || leader != "" && leader != n.server && n.pipes.to(leader).silent(time.Now())
	if away {
		if via := n.another(leader); via != "" {
			return via
		}
	}
	return leader
}

// What a node knows when too few of a partition's voters answer.
var (
	errNoQuorum = ubl.Errorf(ubl.CodeUnavailable, "too few nodes are up: this part of the data has no leader")
	errNoRoom   = ubl.Errorf(ubl.CodeUnavailable, "disks are full: this part of the data has no leader until an operator frees some space")
)

// retryLost is when to ask again after that.
const retryLost = 2 * time.Second

// attempt asks once. What panics is not asked again, here or of another node.
func (n *Node) attempt(ctx context.Context, w way, q question) (r reply) {
	defer n.opts.Panics.Recover(&r.err, "a question to an actor")
	switch w.via {
	case "":
		return reply{err: errNoLeader}
	case n.server:
		return n.askHere(ctx, w.partition, q)
	}
	return n.forward(ctx, w, q)
}

// askHere asks actors of this node, which leads their partition. An answer with
// no commit of its own behind it must be confirmed; that of enter is, with what
// comes after it.
func (n *Node) askHere(ctx context.Context, partition int, q question) (r reply) {
	epoch, g := n.engine.Epoch(partition), n.group(partition)
	local := n.local.Load()
	if epoch == 0 || g == nil || local == nil {
		return reply{err: errNotHere}
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, q.until)
		defer cancel()
	}
	var value any
	committed := false
	if q.enter != nil {
		if err := (*local).Full(q.to, q.cmd); err != nil {
			return reply{err: err}
		}
		value, _, r.err = (*local).AskHere(ctx, ubl.TenantName(q.to.Group().Tenant), q.enter)
		if r.entered, _ = value.(*ubl.Entered); r.entered != nil {
			q.cmd = ubl.Based(q.cmd, r.entered.Under)
		}
	}
	if r.err == nil {
		r.value, committed, r.err = (*local).AskHere(ctx, q.to, q.cmd)
	}
	if committed || ubl.CodeOf(r.err) == ubl.CodeUnavailable || ubl.CodeOf(r.err) == ubl.CodeOverloaded {
		return r
	}
	if err := g.confirm(ctx, epoch); err != nil {
		return reply{err: err}
	}
	return r
}

// forward asks another node to ask.
func (n *Node) forward(ctx context.Context, w way, q question) reply {
	request, err := n.request(q)
	if err != nil {
		return reply{err: err}
	}
	wait := min(attemptTimeout, time.Until(q.until))
	request.Relay, request.Timeout = w.via != w.leader, wait.Milliseconds()
	answer, err := n.over(ctx, w, request, wait)
	switch {
	case err != nil:
		return reply{err: err}
	case answer.Elsewhere:
		n.routes.hear(w.partition, answer.Leader, uint64(answer.Term))
		return reply{err: errMoved}
	}
	return n.reply(answer)
}

// request is a question as it travels.
func (n *Node) request(q question) (request askRequest, err error) {
	request.Name = string(q.to)
	both := make([]byte, 0, 2*wire.Usual)
	if both, err = n.opts.Registry.EncodeCommand(both, q.cmd); err != nil {
		return request, err
	}
	end := len(both)
	if q.enter != nil {
		if both, err = n.opts.Registry.EncodeCommand(both, q.enter); err != nil {
			return request, err
		}
		request.Enter = both[end:]
	}
	request.Command = both[:end]
	return request, nil
}

// reply is what came of a question, from how it travelled.
func (n *Node) reply(answer *askReply) (r reply) {
	if answer.Entered != nil {
		entered, err := n.opts.Registry.DecodeAnswer(answer.Entered)
		if err != nil {
			return reply{err: err}
		}
		r.entered, _ = entered.(*ubl.Entered)
	}
	if answer.Error != nil {
		e, err := wire.DecodeError(answer.Error)
		if r.err = err; err == nil {
			r.err = e
		}
		return r
	}
	r.value, r.err = n.opts.Registry.DecodeAnswer(answer.Answer)
	return r
}
