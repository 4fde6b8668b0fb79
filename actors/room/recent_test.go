package room_test

import (
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/room"
	"ubl/test/harness"
)

// TestMemoryHasFewLargeMessages: of the largest messages, and of those that are longest as
// JSON, a room keeps as many as take 256 KiB, and the same ones once it is loaded.
func TestMemoryHasFewLargeMessages(t *testing.T) {
	h := harness.OpenLive(t, "room", func(local string) bool { return ubl.RoomID(local).Valid() }, room.Open)
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	const most = 256 << 10
	for _, text := range []string{strings.Repeat("x", 8000), strings.Repeat("\x01", 7999) + "x"} {
		for range 50 {
			harness.Must[*ubl.Sent](h.House, general, ubl.SendMessage{Request: h.Request(ana), Text: text})
		}
		r, again := h.Pair(t, general)
		live, loaded := r.Snapshot().Hot, again.Snapshot().Hot
		if bytes := len(strings.Join(live, "")); bytes > most || bytes < most/2 {
			t.Errorf("%d messages of %d bytes are in memory", len(live), bytes)
		}
		if !slices.Equal(loaded, live) {
			t.Errorf("%d messages are in memory, %d once the room is loaded", len(live), len(loaded))
		}
	}
	page := harness.Must[*ubl.HistoryPage](h.House, general, ubl.ReadHistory{Who: ana, Limit: 100})
	if len(page.Messages) != 100 {
		t.Errorf("a page has %d messages", len(page.Messages))
	}
}
