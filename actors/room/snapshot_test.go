package room_test

import (
	"slices"
	"strings"
	"testing"

	"ubl/actors/room"
)

// TestSnapshotHasEveryField: a field that a State gets must be in its snapshot, or else it
// would be gone after the next load.
func TestSnapshotHasEveryField(t *testing.T) {
	state, stored, besides := room.SnapshotFields()
	for i := range state.NumField() {
		name := state.Field(i).Name
		if slices.Contains(besides, name) {
			continue
		}
		if _, ok := stored.FieldByName(strings.ToUpper(name[:1]) + name[1:]); !ok {
			t.Errorf("State.%s is in no snapshot: add it in actors/room/snapshot.go (snapshot, encode, decodeState), or name it in besides", name)
		}
	}
}
