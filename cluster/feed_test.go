package cluster

import (
	"slices"
	"testing"

	"ubl"
)

// TestFeedOfKinds: who waits for some kinds of events hears of a commit with one of
// them and of no other, on the leader and on the other nodes; who names none hears of all.
func TestFeedOfKinds(t *testing.T) {
	w := newWorld(t, 3, steady)
	w.perform()
	who := aSend().enter.(ubl.Enter).Who
	request := func(key string) ubl.Request { return ubl.Request{ID: key, Key: key, Who: who} }
	ask := func(to ubl.Name, cmd ubl.Command) {
		t.Helper()
		if _, err := w.nodes[0].Ask(t.Context(), to, cmd); err != nil {
			t.Fatal(err)
		}
	}
	tenant, room := ubl.TenantName(benchTenant), ubl.RoomName(benchTenant, ubl.GeneralRoom)
	ask(tenant, ubl.Enter{Request: request("in"), Act: true})

	some, all := make([]chan ubl.Publication, 3), make([]chan ubl.Publication, 3)
	for i, n := range w.nodes {
		listen := func(kinds ...string) chan ubl.Publication {
			c := make(chan ubl.Publication, 100)
			t.Cleanup(n.Subscribe(ubl.LedgerName(benchTenant), func(p ubl.Publication) { c <- p }, kinds...))
			if first := <-c; first.Last != 0 {
				t.Errorf("node %d: the first publication is %+v", i, first)
			}
			return c
		}
		some[i], all[i] = listen(ubl.EventRoomCreated, ubl.EventToolsChanged), listen()
	}
	ask(room, ubl.SendMessage{Request: request("said"), Text: "hello"})
	ask(tenant, ubl.CreateRoom{Request: request("made"), Name: "plans"})

	has := func(p ubl.Publication, kind string) bool {
		return slices.ContainsFunc(p.Events, func(e ubl.Event) bool { return e.Kind == kind })
	}
	for i := range w.nodes {
		if p := <-some[i]; !has(p, ubl.EventRoomCreated) {
			t.Errorf("node %d: who waits for new rooms hears %+v", i, p)
		}
		if p := <-all[i]; !has(p, ubl.EventMessageCreated) {
			t.Errorf("node %d: who waits for everything hears %+v first", i, p)
		}
		if p := <-all[i]; !has(p, ubl.EventRoomCreated) {
			t.Errorf("node %d: who waits for everything hears %+v then", i, p)
		}
	}
}
