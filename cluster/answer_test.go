package cluster

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	"ubl"
	"ubl/cluster/wire"
)

// TestCommandOfANewerProgram: while nodes are upgraded one after the other a
// leader may get a command that it doesn't know. Nothing was done with it: the
// asker tries again. Who doesn't lead the partition says so and needs not know.
func TestCommandOfANewerProgram(t *testing.T) {
	w := newWorld(t, 2, steady)
	name := ubl.TenantName("t:x")
	leader := w.led(w.nodes[0].engine.Partition(name.Group()))
	command, err := leader.opts.Registry.EncodeCommand(nil, ubl.RoomHead{})
	if err != nil {
		t.Fatal(err)
	}
	older, err := wire.NewRegistry(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte{command[0] + 1}, command[1:]...) // the form's version
	for _, n := range w.nodes {
		for what, c := range map[string]struct {
			registry *wire.Registry
			command  []byte
		}{"unknown": {older, command}, "newer": {n.opts.Registry, newer}} {
			n := &Node{opts: Options{Registry: c.registry}, engine: n.engine, routes: n.routes, server: n.server, groups: n.groups}
			request := &askRequest{ID: 7, Name: string(name), Command: c.command, Timeout: 5000}
			a := n.answer(newAsked(t.Context(), []askRequest{*request}), request)
			if n.server != leader.server {
				if !a.Elsewhere || a.Leader != leader.server {
					t.Errorf("%s, elsewhere: %+v", what, a)
				}
				continue
			}
			if e, err := wire.DecodeError(a.Error); err != nil || e.Code != ubl.CodeUnavailable {
				t.Errorf("%s: %v, %v", what, e, err)
			}
		}
	}
}

// cut is a stream to a follower that has gone.
type cut struct {
	grpc.ServerStream
	sent int
}

func (c *cut) Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (c *cut) SendMsg(any) error {
	c.sent++
	return nil
}

// TestFollowedBeforeItsActors: a leader whose actors aren't there yet doesn't say
// that from now on nothing is missed.
func TestFollowedBeforeItsActors(t *testing.T) {
	n := newWorld(t, 1, nil).nodes[0]
	var s cut
	err := n.serveFollow(&followRequest{Name: "t:x|r:general"}, &s)
	if ubl.CodeOf(err) != ubl.CodeUnavailable || s.sent > 0 {
		t.Errorf("%d publications, %v", s.sent, err)
	}
}
