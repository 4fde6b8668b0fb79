package container_test

import (
	"testing"

	"ubl/actors/container"
	"ubl/test/harness"
)

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored, besides := container.SnapshotFields()
	harness.EveryField(t, state, stored, besides)
}
