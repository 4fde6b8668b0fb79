package cluster

import (
	"context"
	"sync"
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
	working.Go(func() {
		defer cancel()
		replies.drain(ctx, func(batch []askReply) error { return stream.SendMsg(&replyBatch{Replies: batch}) })
	})
	for {
		var batch askBatch
		if err := stream.RecvMsg(&batch); err != nil {
			return err
		}
		for i := range batch.Requests {
			working.Go(func() { replies.add(n.answer(ctx, &batch.Requests[i])) })
		}
	}
}

// answer answers one question, if this node leads its partition, or may pass it
// on to the one that does.
func (n *Node) answer(ctx context.Context, request *askRequest) askReply {
	ctx, cancel := context.WithTimeout(ctx, min(attemptTimeout, time.Duration(request.Timeout)*time.Millisecond))
	defer cancel()
	q, err := n.question(request)
	if err != nil {
		return askReply{ID: request.ID, Error: wire.EncodeError(nil, err)}
	}
	partition := n.engine.Partition(q.to.Group())
	leader, moved := n.routes.to(partition)
	if leader != n.server && (!request.Relay || leader == "") {
		return askReply{ID: request.ID, Elsewhere: true, Leader: leader, Term: n.term(partition)}
	}
	a, err := n.encode(n.attempt(ctx, way{partition, leader, leader, moved}, q))
	if err != nil {
		a.Error = wire.EncodeError(nil, err)
	}
	a.ID = request.ID
	return a
}

func (n *Node) question(request *askRequest) (q question, err error) {
	q.to = ubl.Name(request.Name)
	if q.cmd, err = n.opts.Registry.DecodeCommand(request.Command); err != nil || request.Enter == nil {
		return q, err
	}
	enter, err := n.opts.Registry.DecodeCommand(request.Enter)
	if err != nil {
		return q, err
	}
	in, ok := enter.(ubl.Enter)
	if !ok || in.Who.TenantID != q.to.Group().Tenant {
		return q, ubl.Errorf(ubl.CodeInternal, "a question between nodes is not well formed")
	}
	q.enter = &in
	return q, nil
}

func (n *Node) encode(r reply) (a askReply, err error) {
	if r.entered != nil {
		if a.Entered, err = n.opts.Registry.EncodeAnswer(nil, r.entered); err != nil {
			return askReply{}, err
		}
	}
	if r.err != nil {
		a.Error = wire.EncodeError(nil, r.err)
		return a, nil
	}
	a.Answer, err = n.opts.Registry.EncodeAnswer(nil, r.value)
	return a, err
}
