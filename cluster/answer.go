package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ubl"
	"ubl/cluster/wire"
)

// serveAsk answers the questions of another node, each as soon as it can.
func (n *Node) serveAsk(stream grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(stream.Context())
	replies := newOutbox(askReply.size)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()
	n.opts.Panics.Go(&working, "sending replies to another node", func() {
		defer cancel()
		replies.drain(ctx, func(batch []askReply) error { return stream.SendMsg(&replyBatch{Replies: batch}) })
	})
	for {
		var batch askBatch
		if err := stream.RecvMsg(&batch); err != nil {
			return err
		}
		all := newAsked(ctx, batch.Requests)
		for i := range batch.Requests {
			request := &batch.Requests[i]
			working.Go(func() {
				replies.add(n.answer(all, request))
				all.answered()
			})
		}
	}
}

// asked are the questions of one message while they are answered. They share one
// deadline: that of who waits longest.
type asked struct {
	until time.Time
	ctx   context.Context // until then
	end   context.CancelFunc
	left  atomic.Int64 // not answered yet; the last one ends ctx
}

func newAsked(ctx context.Context, questions []askRequest) *asked {
	var longest int64
	for i := range questions {
		longest = max(longest, questions[i].Timeout)
	}
	a := &asked{until: time.Now().Add(min(attemptTimeout, time.Duration(longest)*time.Millisecond))}
	a.ctx, a.end = context.WithDeadline(ctx, a.until)
	a.left.Store(int64(len(questions)))
	return a
}

func (a *asked) answered() {
	if a.left.Add(-1) == 0 {
		a.end()
	}
}

// answer answers one question, if this node leads its partition, or may pass it
// on to the one that does.
//
// A panic is the answer to that question: the others of its message and of the
// stream must not hear of it.
func (n *Node) answer(all *asked, request *askRequest) (a askReply) {
	err := n.opts.Panics.Try("a question of another node", func() (err error) {
		a, err = n.tryAnswer(all, request)
		return err
	})
	if err != nil {
		a = askReply{Error: wire.EncodeError(nil, err)}
	}
	a.ID = request.ID
	return a
}

func (n *Node) tryAnswer(all *asked, request *askRequest) (askReply, error) {
	q, err := n.question(request)
	q.until = all.until
	partition := n.engine.Partition(q.to.Group())
	leader, moved := n.routes.to(partition)
	if leader != n.server && (!request.Relay || leader == "") {
		return askReply{Elsewhere: true, Leader: leader, Term: int64(n.term(partition))}, nil
	}
	if err != nil {
		return askReply{}, err
	}
	return n.encode(n.attempt(all.ctx, way{partition, leader, leader, moved}, q))
}

func (n *Node) question(request *askRequest) (q question, err error) {
	q.to = ubl.Name(request.Name)
	if q.cmd, err = n.command(request.Command); err != nil || request.Enter == nil {
		return q, err
	}
	enter, err := n.command(request.Enter)
	if err != nil {
		return q, err
	}
	in, ok := enter.(ubl.Enter)
	if !ok || in.Who.TenantID != q.to.Group().Tenant {
		return q, errStrange
	}
	q.enter = enter
	return q, nil
}

// command reads a command. One of a newer program is for another leader, or for
// this node once it is upgraded, too: the asker is to ask again.
func (n *Node) command(data []byte) (ubl.Command, error) {
	cmd, err := n.opts.Registry.DecodeCommand(data)
	if errors.Is(err, wire.ErrUnknown) || errors.Is(err, wire.ErrNewer) {
		err = ubl.Errorf(ubl.CodeUnavailable, "the node that leads this part of the data runs an older program").Because(err)
	}
	return cmd, err
}

// encode is a reply as it travels.
func (n *Node) encode(r reply) (a askReply, err error) {
	both := make([]byte, 0, 2*wire.Usual)
	if r.entered != nil {
		if both, err = n.opts.Registry.EncodeAnswer(both, r.entered); err != nil {
			return askReply{}, err
		}
		a.Entered = both
	}
	if r.err != nil {
		a.Error = wire.EncodeError(nil, r.err)
		return a, nil
	}
	end := len(both)
	both, err = n.opts.Registry.EncodeAnswer(both, r.value)
	a.Answer = both[end:]
	return a, err
}
