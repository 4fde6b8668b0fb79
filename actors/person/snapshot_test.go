package person_test

import (
	"testing"

	"ubl/actors/person"
	"ubl/test/harness"
)

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored := person.SnapshotFields()
	harness.EveryField(t, state, stored, nil)
}
