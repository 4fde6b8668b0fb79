package actors_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"ubl"
	"ubl/test/harness"
)

// TestPublishedBeforeAnswered: who has an answer knows that its events are on
// their way: every listener has been handed them. So a client that sends, is
// answered and then looks at its stream's cursor never finds it behind for good.
func TestPublishedBeforeAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := harness.Open(t, harness.Options{})
		defer h.Close()
		ana := harness.User("ana@example.com")
		h.Enter(ana)
		room := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
		var answered atomic.Bool
		heard := map[ubl.Name]int{}
		for _, name := range []ubl.Name{room, ubl.LedgerName(ana.TenantID)} {
			defer h.Subscribe(name, func(p ubl.Publication) {
				heard[name] += len(p.Events)
				synctest.Wait() // all that can go on without this listener has gone on
				if answered.Load() {
					t.Errorf("the answer went out before %s published", name)
				}
			})()
		}
		if _, err := h.Ask(t.Context(), room, ubl.SendMessage{Request: h.Request(ana), Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		answered.Store(true)
		if heard[room] != 1 || heard[ubl.LedgerName(ana.TenantID)] != 1 {
			t.Errorf("with the answer there, the listeners have heard %v", heard)
		}
	})
}
