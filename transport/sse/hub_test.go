package sse

import (
	"context"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// still is a room where nothing happens.
type still struct{}

func (still) Subscribe(ubl.Name, func(ubl.Publication), ...string) func() { return func() {} }

func (still) Ask(_ context.Context, _ ubl.Name, cmd ubl.Command) (any, error) {
	if _, ok := cmd.(ubl.RoomHead); ok {
		return ubl.Head{}, nil
	}
	return &ubl.Room{}, nil
}

// A follow that goes on must not keep those who have left it.
func TestDismissedListenersAreForgotten(t *testing.T) {
	h := New(Options{Asker: still{}, Feed: still{}})
	listen := func() *listener {
		l := &listener{hub: h, caller: &envelope.Caller{}, source: &roomSource{asker: still{}}, wake: make(chan struct{}, 1)}
		if err := h.admit(l); err != nil {
			t.Fatal(err)
		}
		if _, err := h.open(t.Context(), l, nil); err != nil {
			t.Fatal(err)
		}
		return l
	}
	first, second := listen(), listen()
	h.dismiss(first, EndedClient)
	if n := len(second.follow.listeners); n != 1 || len(h.streams) != 1 || len(h.follows) != 1 {
		t.Errorf("one of two left: %d listeners, %d streams, %d follows", n, len(h.streams), len(h.follows))
	}
	h.dismiss(second, EndedClient)
	if n := len(second.follow.listeners) + len(h.streams) + len(h.follows) + len(h.perUser); n != 0 {
		t.Errorf("both left, %d entries did not", n)
	}
	h.work.Wait()
}
