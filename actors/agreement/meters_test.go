package agreement

import (
	"fmt"
	"testing"
	"time"

	"ubl"
)

// TestManyCallers: callers who come and go don't fill memory, and making room
// for new ones forgets no call of the last minute.
func TestManyCallers(t *testing.T) {
	var m Meters
	start := ubl.Time(1_800_000_000_000)
	caller := func(i int) Use { return Use{ubl.UserID(fmt.Sprint("u:", i)), "files.read"} }
	const every, lastMinute = 100 * time.Millisecond, 599
	most := 0
	for i := range 10_000 {
		now := start.Add(time.Duration(i) * every)
		if m.Take(caller(i), now, 1) > 0 {
			t.Fatalf("caller %d is refused the first call", i)
		}
		if first := i - lastMinute; first >= 0 {
			if m.Take(caller(first), now, 1) == 0 {
				t.Fatalf("the call of caller %d, %s ago, is forgotten", first, lastMinute*every)
			}
		}
		most = max(most, len(m.buckets))
	}
	if most > 2*1024 {
		t.Errorf("%d buckets for 600 callers a minute", most)
	}
}
