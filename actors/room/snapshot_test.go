package room_test

import (
	"testing"

	"ubl/actors/room"
	"ubl/test/harness"
)

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored, besides := room.SnapshotFields()
	harness.EveryField(t, state, stored, besides)
}
