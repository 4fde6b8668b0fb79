package main

import (
	"encoding/json"
	"testing"

	"ubl"
)

// TestChangesAreReceiptedOnce: who lets a node in, or takes it out, may have to
// say so again, and another may after them; a wiped disk is another server.
func TestChangesAreReceiptedOnce(t *testing.T) {
	n := opened(t, &program{now: testNow, random: &counter64{}}, t.TempDir())
	for _, c := range []struct {
		server string
		in     bool
	}{{"n2@00000001", true}, {"n2@00000001", true}, {"n2@00000001", false}, {"n2@00000001", false}, {"n2@00000002", true}} {
		if err := n.tellChange(t.Context(), "n2", c.server, c.in); err != nil {
			t.Fatal(err)
		}
	}
	page, err := ubl.Ask[*ubl.HistoryPage](t.Context(), n.asker, ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom), ubl.ReadHistory{Who: ubl.Platform(), Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, raw := range page.Messages {
		var m ubl.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		told[m.Body.Text]++
	}
	if told["Node joined: n2"] != 2 || told["Node removed: n2"] != 1 {
		t.Errorf("on record is %v", told)
	}
}
