package room

import (
	"encoding/json"
	"testing"

	"ubl"
	"ubl/actors"
)

// TestStoredForm: events are stored byte for byte as all versions of the program have, so
// that an older one reads them too.
func TestStoredForm(t *testing.T) {
	const stamp = `{"v":1,"n":3,"did":"room.invite","at":"2026-01-07T12:34:56.000Z","by":"u:ana",`
	const receipt = `"receipt":{"ledger_shard":"0","seq":7,"cid":"c:1","head_hash":"h:1","time":"2026-01-07T12:34:56.000Z"}}`
	for _, stored := range []string{
		stamp + `"member":{"user_id":"u:bob","email":"bob@example.com","role":"member","since":"2026-01-07T12:34:56.000Z"},"last_seq":9,` + receipt,
		stamp + `"policy":{"max_message_bytes":8000,"retention_days":3,"join":"invite"},"available_from":4,"expelled":true,"sealed":true,"last_seq":9,` + receipt,
	} {
		var e event
		if err := json.Unmarshal([]byte(stored), &e); err != nil {
			t.Fatal(err)
		}
		act := &actors.Act{}
		open := e
		open.Receipt = ubl.Receipt{}
		record := act.Sealed(nil, open)
		act.Receipt = e.Receipt
		if got := string(record.Seal()); got != stored {
			t.Errorf("stored\n%s, before\n%s", got, stored)
		}
	}
}
