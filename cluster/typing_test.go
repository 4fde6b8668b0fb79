package cluster

import (
	"slices"
	"testing"

	"ubl"
)

// TestTypingIsToldOnEveryNode: that somebody is writing, said at any node, is heard at once on
// all three, and leaves nothing behind it in the ledger.
func TestTypingIsToldOnEveryNode(t *testing.T) {
	w := newWorld(t, 3, steady)
	w.perform()
	who := aSend().enter.(ubl.Enter).Who
	tenant, room := ubl.TenantName(benchTenant), ubl.RoomName(benchTenant, ubl.GeneralRoom)
	if _, err := w.nodes[0].Ask(t.Context(), tenant, ubl.Enter{Request: ubl.Request{ID: "in", Key: "in", Who: who}, Act: true}); err != nil {
		t.Fatal(err)
	}
	head := func() ubl.LedgerHead {
		t.Helper()
		h, err := ubl.Ask[ubl.LedgerHead](t.Context(), w.nodes[0], ubl.LedgerName(benchTenant), ubl.GetLedgerHead{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := head()
	heard := make([]chan ubl.Publication, 3)
	for i, n := range w.nodes {
		c := make(chan ubl.Publication, 100)
		t.Cleanup(n.Subscribe(room, func(p ubl.Publication) { c <- p }))
		if first := <-c; first.Last != 0 || first.Passing() {
			t.Errorf("node %d: the first publication is %+v", i, first)
		}
		heard[i] = c
	}
	for i, n := range w.nodes {
		typing := i%2 == 0 // on and off and on, or the second would come too soon
		if _, err := ubl.Ask[*ubl.Typing](t.Context(), n, room, ubl.SetTyping{Who: who, Typing: typing}); err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, c := range heard {
			p := <-c
			if !p.Passing() || p.Events[0].Kind != ubl.EventRoomTyping || p.Events[0].UserID != who.UserID {
				t.Fatalf("told %+v", p)
			}
			told = append(told, string(p.Events[0].Payload))
		}
		if len(slices.Compact(told)) != 1 {
			t.Errorf("nodes are told differently: %q", told)
		}
	}
	if after := head(); after != before {
		t.Errorf("the ledger went from %+v to %+v", before, after)
	}
}
