package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestListeningIsForMessages: who waits for messages isn't told of edits unless they ask, and goes
// on behind them; a message whose content isn't text is one.
func TestListeningIsForMessages(t *testing.T) {
	w := newWorld(t)
	room := ubl.RoomName(ana.TenantID, "r:general")
	w.say(t, ana, "r:general", "of old")
	head := harness.Must[ubl.Head](w.House, room, ubl.RoomHead{}).LastSeq
	page := harness.Must[*ubl.HistoryPage](w.House, room, ubl.ReadHistory{Who: ana, Limit: 1, Entries: true})
	var said struct {
		ID ubl.MessageID `json:"entry_id"`
	}
	if err := json.Unmarshal(page.Entries[0], &said); err != nil {
		t.Fatal(err)
	}
	post := func(kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) {
		harness.Must[*ubl.Posted](w.House, room, ubl.PostEntry{Request: w.Request(ana), Type: kind, Target: target, Body: body})
	}
	post(ubl.EntryEdit, said.ID, ubl.Body{Text: "said anew"}.Content())
	from := `,"from_seq":` + string(encode(t, head))
	if a := w.streamFrom(t, "bob", from); strings.Contains(a.body, "said anew") || strings.Contains(a.body, `"entries":`) || !strings.Contains(a.body, `"next_from_seq":`+string(encode(t, head+1))) {
		t.Errorf("who waits for messages is told %s", a.body)
	}
	if a := w.streamFrom(t, "bob", from+`,"entries":true`); !strings.Contains(a.body, "said anew") {
		t.Errorf("who waits for all of it is told %s", a.body)
	}
	post(ubl.EntryMessage, "", ubl.TypedBody{Type: "application/x-sealed", Bytes: []byte("a secret")})
	if a := w.streamFrom(t, "bob", from); strings.Contains(a.body, "said anew") || !strings.Contains(a.body, "application/x-sealed") {
		t.Errorf("of a message that is no text they are told %s", a.body)
	}
}
