package cluster

import (
	"context"
	"testing"

	"ubl"
	"ubl/test/poll"
)

// script answers questions one after the other, as actors would whose leader fails.
type script struct {
	Local
	errs  []error
	asked int
}

func (s *script) AskHere(context.Context, ubl.Name, ubl.Command) (any, bool, error) {
	err := s.errs[s.asked]
	s.asked++
	return "done", err == nil, err
}

func (s *script) Led(int) {}

func (s *script) Failing() []ubl.TenantID { return nil }

func (s *script) Evict(error, func(ubl.Group) bool) {}

// TestRefusedInDoubt: after an attempt that may have written, overloaded doesn't reach
// the caller, who would take it that nothing was done: the write is asked again. A
// read's goes through, and so does that of a write which nobody was asked before.
func TestRefusedInDoubt(t *testing.T) {
	n := newWorld(t, 1, nil).nodes[0]
	name := ubl.RoomName("t:x", ubl.GeneralRoom)
	poll.Until(t, "it leads", func() bool { return n.engine.Epoch(n.engine.Partition(name.Group())) != 0 })
	unknown := ubl.Errorf(ubl.CodeUnavailable, "a write failed; its outcome is unknown until it is retried")
	overloaded := ubl.Errorf(ubl.CodeOverloaded, "too many writes are under way; nothing was done")
	for _, c := range []struct {
		what string
		cmd  ubl.Command
		errs []error
		want ubl.Code
	}{
		{"a write in doubt", ubl.SendMessage{}, []error{unknown, overloaded, overloaded, nil}, ""},
		{"a write at first", ubl.SendMessage{}, []error{overloaded}, ubl.CodeOverloaded},
		{"a read", ubl.RoomHead{}, []error{unknown, overloaded}, ubl.CodeOverloaded},
		{"a write that leadership passed by", ubl.SendMessage{}, []error{errMoved, overloaded}, ubl.CodeOverloaded},
	} {
		s := &script{errs: c.errs}
		n.Attach(s)
		if _, err := n.Ask(t.Context(), name, c.cmd); ubl.CodeOf(err) != c.want || s.asked != len(c.errs) {
			t.Errorf("%s: %v after %d of %d attempts", c.what, err, s.asked, len(c.errs))
		}
	}
}
