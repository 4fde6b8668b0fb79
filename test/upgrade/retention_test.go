package upgrade

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestRetentionFromBefore: a room whose policy removed messages in a version without
// alarms gets its alarm when the node begins to lead, although nobody asks for the room.
// Of how rooms were found then, nothing is left in the store.
func TestRetentionFromBefore(t *testing.T) {
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/v1.tar.gz")})
	plans := ubl.RoomName(local("ana@fixture.example").TenantID, "r:plans")
	count := func(prefix string) (n int) {
		err := h.Engine.View(t.Context(), plans.Group(), func(snap ubl.Snapshot) error {
			return snap.Ascend([]byte(prefix), append([]byte(prefix), 0xff), func(_, _ []byte) bool { n++; return true })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	poll.Until(t, "the room has its alarm", func() bool { return count("w") == 0 })
	swept(t, h, plans.Group().Tenant)
	h.Restart() // from now on there is nothing to adopt
	h.Clock.Add(time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
	h.Alarms()
	if head := harness.Must[ubl.Head](h, plans, ubl.RoomHead{}); head.AvailableFrom != 1 || count("mr:plans") != 5 {
		t.Errorf("before its time the room is at %+v and has %d messages", head, count("mr:plans"))
	}
	h.Clock.Add(31 * 24 * time.Hour)
	h.Alarms()
	if head := harness.Must[ubl.Head](h, plans, ubl.RoomHead{}); head.AvailableFrom != head.LastSeq+1 || count("mr:plans") != 0 {
		t.Errorf("the room is at %+v and has %d messages", head, count("mr:plans"))
	}
	if left := count("i\x00") + count("i\x01") + count("i\x02"); left > 0 {
		t.Errorf("%d records of alarms are left", left)
	}
	h.VerifyLedger(plans.Group().Tenant)
}
