package actors_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestCommitted: a node that answers a send need not confirm that it may, because
// the commit did. It must for all that commits nothing: reads, refusals, and what
// an earlier commit answers.
func TestCommitted(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@other.example")
	h.Enter(ana)
	room := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	send := ubl.SendMessage{Request: h.Request(ana), Text: "hello"}
	for _, test := range []struct {
		what string
		to   ubl.Name
		cmd  ubl.Command
		want bool
	}{
		{"a send", room, send, true},
		{"the same again", room, send, false},
		{"a send of a stranger", room, ubl.SendMessage{Request: h.Request(bob), Text: "hello"}, false},
		{"a read from memory", room, ubl.ReadHistory{Who: ana, Limit: 1}, false},
		{"a read from the store", ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}, false},
		{"a founding", ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"}, true},
	} {
		if _, committed, err := h.AskHere(t.Context(), test.to, test.cmd); committed != test.want {
			t.Errorf("%s: committed is %v, %v", test.what, committed, err)
		}
	}
}
