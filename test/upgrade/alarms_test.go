package upgrade

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestTransfersFromBefore: transfers that were under way when a version without alarms
// stopped are carried on: two arrive, of which the target of one had it already, and one
// comes back. Of that, and of how it was waited for, nothing is left in the store.
func TestTransfersFromBefore(t *testing.T) {
	ana := local("ana@transit.example")
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-alarms/data.tar.gz")})
	wallet := func(id ubl.ContainerID) *ubl.Container {
		return harness.Must[*ubl.Container](h, ubl.ContainerName(ana.TenantID, id), ubl.GetContainer{Who: ana})
	}
	left := func() (keys []string) {
		err := h.Engine.View(t.Context(), ubl.TenantName(ana.TenantID).Group(), func(snap ubl.Snapshot) error {
			for _, space := range [][2][]byte{{{'i'}, {'i', 3}}, {{'v'}, {'w'}}} {
				err := snap.Ascend(space[0], space[1], func(k, _ []byte) bool {
					keys = append(keys, string(k))
					return true
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	for range 2 { // the second time there is nothing to do
		for deadline := time.Now().Add(time.Minute); len(left()) > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the store still has %q", left())
			}
		}
		from, to, sealed := wallet("k:from"), wallet("k:to"), wallet("k:sealed")
		if from.Balance != 62 || from.InTransit != 0 || to.Balance != 38 || sealed.Balance != 0 {
			t.Errorf("the source has %d and %d in transit, the targets %d and %d", from.Balance, from.InTransit, to.Balance, sealed.Balance)
		}
		h.VerifyLedger(ana.TenantID)
		h.Restart()
	}
}
