package room

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// TestStoredForm: events are stored byte for byte as all versions of the program have, so
// that an older one reads them too.
func TestStoredForm(t *testing.T) {
	const stamp = `{"v":1,"n":3,"did":"room.invite","at":"2026-01-07T12:34:56.000Z","by":"u:ana",`
	const receipt = `"receipt":{"ledger_shard":"0","seq":7,"cid":"c:1","head_hash":"h:1","time":"2026-01-07T12:34:56.000Z"}}`
	for _, stored := range []string{
		stamp + `"member":{"user_id":"u:bob","email":"bob@example.com","role":"member","since":"2026-01-07T12:34:56.000Z"},"last_seq":9,` + receipt,
		stamp + `"policy":{"max_message_bytes":8000,"retention_days":3,"join":"invite"},"available_from":4,"expelled":true,"sealed":true,"last_seq":9,` + receipt,
		stamp + `"member":{"user_id":"u:bob","role":"member","since":"2026-01-07T12:34:56.000Z"},"last_seq":9,"room_seq":10,` + receipt,
	} {
		var e event
		if err := json.Unmarshal([]byte(stored), &e); err != nil {
			t.Fatal(err)
		}
		act := &actors.Act{}
		open := e
		open.Receipt = ubl.Receipt{}
		object, err := json.Marshal(open)
		if err != nil {
			t.Fatal(err)
		}
		record := act.Sealed(nil, object)
		act.Receipt = e.Receipt
		if got := string(record.Seal()); got != stored {
			t.Errorf("stored\n%s, before\n%s", got, stored)
		}
	}
}

// TestSealedBeforeEntries: an event from before acts left entries has none, and closes the
// timeline up to the last message; one that has an entry closes that, too.
func TestSealedBeforeEntries(t *testing.T) {
	for want, entry := range map[int64]string{9: "", 10: `,"room_seq":10`} {
		var e event
		stored := `{"v":1,"n":2,"did":"room.remove","at":"2026-01-07T12:34:56.000Z","by":"u:ana","member":{"user_id":"u:bob"},"sealed":true,"last_seq":9` + entry + `}`
		if err := json.Unmarshal([]byte(stored), &e); err != nil {
			t.Fatal(err)
		}
		var s State
		if s.apply(e); s.Hidden != want || s.Head.LastSeq != 0 {
			t.Errorf("%s\ncloses the timeline up to %d, want %d; the last entry is %d", stored, s.Hidden, want, s.Head.LastSeq)
		}
	}
}

// TestSnapshotForm: a snapshot that some release wrote is loaded by all later ones. A newer
// form gets a file of its own.
func TestSnapshotForm(t *testing.T) {
	stored, err := os.ReadFile("testdata/snapshot.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	physics := ubl.RoomPhysics()
	want := State{
		Summary: ubl.RoomSummary{RoomID: "r:plans", Name: "Plans", Mode: ubl.ModeInternal, CreatedAt: 1000},
		Policy:  ubl.RoomPolicy{MaxMessageBytes: 8000, RetentionDays: 30, Join: ubl.JoinInvite},
		Agreement: agreement.Kept{Agreement: ubl.Agreement{
			ID: "a:room:r:plans", Type: ubl.RoomGovernance, TenantID: "t:example.com", CreatedAt: 1000, CreatedBy: "u:ana",
			Status: ubl.AgreementInForce, NamedHeir: "u:bob", Physics: &physics, Terms: termsOf(ubl.RoomPolicy{}),
			Members: map[ubl.UserID]ubl.Member{"u:ana": {UserID: "u:ana", Email: "ana@example.com", Role: ubl.RoleOwner, Since: 1000}},
		}},
		Past: map[ubl.UserID]bool{"u:ana": true, "u:bob": true}, Hidden: 7, Marks: marks{}, Events: 1000, Head: ubl.Head{AvailableFrom: 5},
	}
	s, err := decodeState(stored)
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("decoded: %v\n%+v, want\n%+v", err, s, want)
	}
	if again, err := decodeState(s.encode()); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("encoded and decoded again: %v\n%+v, want\n%+v", err, again, want)
	}
}
