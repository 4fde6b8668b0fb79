package api

import (
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// TestBringing: what somebody transfers into a room or a container is the act of the tool that
// does the same, under its receipt, and closed by the record of either tool.
func TestBringing(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	s := newServer(t)
	s.api.Asker = envelope.Entering(visiting{h})
	ana := harness.User("ana@acme.com")
	h.Enter(ana)
	bring := func(body string) int {
		return s.enterHouse(h, ana, "POST", "/api/containers/"+string(ana.UserID)+"/transfer", body).Code
	}
	const message, document = `{"to":"r:general","content":"hello"}`, `{"to":"w:general","title":"Plan","content":"All of it"}`
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	before := harness.Must[ubl.Head](h, general, ubl.RoomHead{}).LastSeq
	if got := []int{bring(message), bring(document)}; got[0] != 200 || got[1] != 200 {
		t.Errorf("what is brought is answered %v", got)
	}
	if after := harness.Must[ubl.Head](h, general, ubl.RoomHead{}).LastSeq; after != before+1 {
		t.Errorf("the room has %d messages, and had %d", after, before)
	}
	for tool, want := range map[string][2]int{"messenger.send": {403, 200}, "office.document.create": {200, 403}, "container.transfer": {403, 403}} {
		if w := s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":false}`); w.Code != 200 {
			t.Fatal(w.Body)
		}
		if got := [2]int{bring(message), bring(document)}; got != want {
			t.Errorf("with %s closed a message and a document are answered %v, want %v", tool, got, want)
		}
		s.enterHouse(h, ana, "PUT", "/api/portal/tools/"+tool+"/access", `{"allowed":true}`)
	}
	if got := bring(`{"to":"r:never","content":"hello"}`); got != 404 {
		t.Errorf("a room that never was: %d", got)
	}
	h.VerifyLedger(ana.TenantID)
}
