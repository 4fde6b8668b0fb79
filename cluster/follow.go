package cluster

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"ubl"
)

// Subscribe implements [ubl.Feed]: the sink gets what the actor publishes,
// wherever it is. Another node sends only what has one of the kinds. Each time the way to it is made anew the sink gets an empty
// Publication: something may have been missed.
func (n *Node) Subscribe(to ubl.Name, sink func(ubl.Publication), kinds ...string) (cancel func()) {
	ctx, stop := context.WithCancel(n.ctx)
	leave := n.subscribeHere(to, sink, kinds...)
	n.start("following an actor", func() { n.follow(ctx, &followRequest{string(to), kinds}, sink) })
	return func() {
		stop()
		leave()
	}
}

func (n *Node) subscribeHere(to ubl.Name, sink func(ubl.Publication), kinds ...string) (cancel func()) {
	if local := n.local.Load(); local != nil {
		return (*local).Subscribe(to, sink, kinds...)
	}
	return func() {}
}

// follow keeps a stream from the actor's leader, and moves with it. While the
// leader is this node there is nothing to do: the actor publishes here.
func (n *Node) follow(ctx context.Context, q *followRequest, sink func(ubl.Publication)) {
	partition := n.engine.Partition(ubl.Name(q.Name).Group())
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		leader, moved := n.routes.to(partition)
		if leader == n.server {
			n.opts.Panics.Do("a listener to what actors publish", func() { sink(ubl.Publication{}) })
			select {
			case <-moved:
			case <-ctx.Done():
			}
			pause = firstPause
			continue
		}
		n.opts.Panics.Do("following an actor", func() {
			if leader != "" && n.followAt(ctx, partition, leader, moved, q, sink) {
				pause = firstPause
			}
		})
		select {
		case <-moved:
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// followAt passes on what the leader sends until that ends; it reports whether
// it ever began.
func (n *Node) followAt(ctx context.Context, partition int, leader string, moved <-chan struct{}, q *followRequest, sink func(ubl.Publication)) (began bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := n.unlessStillLed(partition, leader, moved, cancel)
	defer stop()
	stream, err := openStream(ctx, n, leader, callFollow, q)
	if err != nil {
		return false
	}
	for {
		var p ubl.Publication
		if err := stream.RecvMsg(&p); err != nil {
			return began
		}
		began = true
		sink(p)
	}
}

// followBuffer is how many publications wait for one following node. One that
// is slower than that is cut off: it looks at the durable head and follows anew.
const followBuffer = 1024

// unlessStillLed calls cancel when the partition gets another leader than the
// given one.
func (n *Node) unlessStillLed(partition int, leader string, moved <-chan struct{}, cancel func()) (stop func()) {
	done := make(chan struct{})
	n.start("watching who leads", func() {
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
	})
	return func() { close(done) }
}

// serveFollow sends an actor's publications to another node for as long as this
// one leads. The first, empty one says that from now on nothing is missed.
func (n *Node) serveFollow(q *followRequest, stream grpc.ServerStream) error {
	if n.local.Load() == nil {
		return ubl.Errorf(ubl.CodeUnavailable, "this node runs no actors yet")
	}
	to := ubl.Name(q.Name)
	partition := n.engine.Partition(to.Group())
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	publications := make(chan ubl.Publication, followBuffer)
	leave := n.subscribeHere(to, func(p ubl.Publication) {
		select {
		case publications <- p:
		default:
			cancel()
		}
	}, q.Kinds...)
	defer leave()
	leader, moved := n.routes.to(partition)
	if leader != n.server {
		return ubl.Errorf(ubl.CodeUnavailable, "this node doesn't lead the partition")
	}
	defer n.unlessStillLed(partition, n.server, moved, cancel)()
	if err := stream.SendMsg(&ubl.Publication{}); err != nil {
		return err
	}
	for {
		select {
		case p := <-publications:
			if err := stream.SendMsg(&p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ubl.Errorf(ubl.CodeUnavailable, "the stream was cut")
		case <-n.ctx.Done():
			return ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
		}
	}
}
