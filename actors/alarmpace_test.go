package actors

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPace: one alarm waits for nothing. Many are spread evenly, those of several groups too.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		time.Sleep(time.Hour)
		begin := time.Now()
		p.wait(t.Context(), 1)
		if waited := time.Since(begin); waited > 0 {
			t.Errorf("the first alarm waited for %s", waited)
		}
		for n := range 10 * alarmsASecond / alarmTurn {
			p.wait(t.Context(), alarmTurn)
			even := time.Duration(n*alarmTurn+1) * time.Second / alarmsASecond
			if took := time.Since(begin); took != even {
				t.Fatalf("turn %d came after %s, want %s", n, took, even)
			}
		}
	})
}
