package webhooks_test

import (
	"testing"

	"ubl/actors/webhooks"
	"ubl/test/harness"
)

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored := webhooks.SnapshotFields()
	harness.EveryField(t, state, stored, nil)
}
