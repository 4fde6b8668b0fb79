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

// Ask implements [ubl.Asker]: it asks the actor wherever it is. What fails
// because leadership moves is asked again, until the caller's deadline; the
// command's key makes that safe.
func (n *Node) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, askTimeout)
		defer cancel()
	}
	partition := n.engine.Partition(to.Group())
	relay := false
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		leader, moved := n.routes.to(partition)
		answer, err := n.attempt(ctx, partition, leader, moved, relay, to, cmd)
		if ubl.CodeOf(err) != ubl.CodeUnavailable || ctx.Err() != nil {
			return answer, err
		}
		relay = !relay && leader != "" && leader != n.server
		select {
		case <-moved:
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// attempt asks once.
func (n *Node) attempt(ctx context.Context, partition int, leader string, moved <-chan struct{}, relay bool, to ubl.Name, cmd ubl.Command) (any, error) {
	switch {
	case leader == "":
		return nil, ubl.Errorf(ubl.CodeUnavailable, "no node leads this part of the data now")
	case leader == n.server:
		return n.askHere(ctx, partition, to, cmd)
	}
	via := leader
	if relay {
		if via = n.another(leader); via == "" {
			relay, via = false, leader
		}
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	stop := n.unlessStillLed(partition, leader, moved, cancel)
	defer stop()
	return n.forward(ctx, partition, via, relay, to, cmd)
}

// askHere asks an actor of this node, which leads its partition. An answer with
// no commit of its own behind it must be confirmed.
func (n *Node) askHere(ctx context.Context, partition int, to ubl.Name, cmd ubl.Command) (any, error) {
	epoch, g := n.engine.Epoch(partition), n.group(partition)
	local := n.local.Load()
	if epoch == 0 || g == nil || local == nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead the partition")
	}
	answer, committed, err := (*local).AskHere(ctx, to, cmd)
	if committed || ubl.CodeOf(err) == ubl.CodeUnavailable || ubl.CodeOf(err) == ubl.CodeOverloaded {
		return answer, err
	}
	if unsure := g.confirm(ctx, epoch); unsure != nil {
		return nil, unsure
	}
	return answer, err
}

// forward asks another node to ask.
func (n *Node) forward(ctx context.Context, partition int, via string, relay bool, to ubl.Name, cmd ubl.Command) (any, error) {
	command, err := n.opts.Registry.EncodeCommand(nil, cmd)
	if err != nil {
		return nil, err
	}
	reply, err := call[askReply](ctx, n, via, callAsk, &askRequest{Name: string(to), Command: command, Relay: relay})
	switch {
	case err != nil:
		return nil, err
	case reply.Elsewhere:
		n.routes.hear(partition, reply.Leader, reply.Term)
		return nil, ubl.Errorf(ubl.CodeUnavailable, "leadership has moved")
	case reply.Error != nil:
		e, err := wire.DecodeError(reply.Error)
		if err != nil {
			return nil, err
		}
		return nil, e
	}
	return n.opts.Registry.DecodeAnswer(reply.Answer)
}

// unlessStillLed calls cancel when the partition gets another leader than the
// given one: who waits for a node that is gone should ask the next.
func (n *Node) unlessStillLed(partition int, leader string, moved <-chan struct{}, cancel func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-moved:
			}
			var now string
			if now, moved = n.routes.to(partition); now != "" && now != leader {
				cancel()
				return
			}
		}
	}()
	return func() { close(done) }
}

// serveAsk answers another node's forward.
func (n *Node) serveAsk(ctx context.Context, q *askRequest) (*askReply, error) {
	to := ubl.Name(q.Name)
	partition := n.engine.Partition(to.Group())
	cmd, err := n.opts.Registry.DecodeCommand(q.Command)
	if err != nil {
		return nil, err
	}
	leader, moved := n.routes.to(partition)
	if leader != n.server && !(q.Relay && leader != "") {
		return &askReply{Elsewhere: true, Leader: leader, Term: n.term(partition)}, nil
	}
	answer, err := n.attempt(ctx, partition, leader, moved, false, to, cmd)
	if err != nil {
		return &askReply{Error: wire.EncodeError(nil, err)}, nil
	}
	data, err := n.opts.Registry.EncodeAnswer(nil, answer)
	return &askReply{Answer: data}, err
}
