package harness

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
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

// EveryField wants each field of a state in its stored form, under the same name but for
// the first letter's case, or in the list of those that follow from something else. One that
// is missing would be gone after the next load.
func EveryField(t *testing.T, state, stored reflect.Type, follow []string) {
	t.Helper()
	for i := range state.NumField() {
		name := state.Field(i).Name
		_, ok := stored.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		if !ok && !slices.Contains(follow, name) {
			t.Errorf("State.%s is in no snapshot: add it in snapshot.go, or name it among those that follow from something else", name)
		}
	}
}
