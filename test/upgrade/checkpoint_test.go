package upgrade

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// replayed notes the first event of tenant 0 that is read.
type replayed struct {
	ubl.Store
	mu    sync.Mutex
	first uint64
}

func (r *replayed) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return r.Store.View(ctx, g, func(snap ubl.Snapshot) error { return fn(replayedSnap{snap, r}) })
}

type replayedSnap struct {
	ubl.Snapshot
	r *replayed
}

func (s replayedSnap) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	if len(from) > 8 && from[0] == 't' {
		s.r.mu.Lock()
		s.r.first = min(s.r.first, binary.BigEndian.Uint64(from[len(from)-8:]))
		s.r.mu.Unlock()
	}
	return s.Snapshot.Ascend(from, to, fn)
}

// TestCheckpointFromBefore: tenant 0 opens from the checkpoint that the first version
// with one wrote, and reads only the events after it. Ten sessions had been renewed
// 110 times each.
func TestCheckpointFromBefore(t *testing.T) {
	var store *replayed
	h := harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/checkpoint/data.tar.gz"), Wrap: func(s ubl.Store) ubl.Store {
		store = &replayed{Store: s, first: math.MaxUint64}
		return store
	}})
	h.Clock.Add(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
	ops := local("ops@example.com")
	ops.TenantID = ubl.CoreTenant
	core := ubl.TenantName(ubl.CoreTenant)
	living := 0
	for _, s := range harness.Must[[]ubl.PlatformToken](h, core, ubl.ListTokens{Who: ops}) {
		if s.Kind == ubl.TokenSession {
			living++
		}
	}
	if living != 10 {
		t.Errorf("%d sessions live", living)
	}
	store.mu.Lock()
	if store.first < 1000 {
		t.Errorf("it read the events from %d on", store.first)
	}
	store.mu.Unlock()
	for n := range 3 {
		harness.Must[*ubl.RoomSummary](h, core, ubl.CreateRoom{Request: h.Request(ops), Name: fmt.Sprint("on ", n)})
	}
	h.Reload()
	if rooms := harness.Must[[]ubl.RoomEntry](h, core, ubl.ListRooms{Who: ops}); len(rooms) < 3 {
		t.Errorf("it has the rooms %v", rooms)
	}
	h.VerifyLedger(ubl.CoreTenant)
}
