package harness

import (
	"encoding/json"
	"testing"

	"ubl"
)

// Saved is the last event that the newest snapshot of an actor knows, 0 for none: as its
// head says, which is under a key.
func Saved(t testing.TB, read ubl.Reader, of ubl.Name, key []byte) int64 {
	t.Helper()
	var head struct{ Events int64 }
	err := read.View(t.Context(), of.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(key)
		if v != nil {
			_ = json.Unmarshal(v, &head)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return head.Events
}
