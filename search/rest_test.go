package search

import (
	"testing"
	"time"
)

// TestRest: an index rests by what it has done, long where many write and nobody has searched.
func TestRest(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, tt := range []struct {
		name     string
		worked   time.Duration
		written  int64         // in the four seconds since the rest before
		searched time.Duration // ago
		want     time.Duration
	}{
		{"it has done nothing, few write", 0, 100, time.Hour, 0},
		{"it has done nothing, many write", 0, 10_000, time.Hour, leastBusyRest},
		{"it has done nothing, many write, somebody has searched", 0, 10_000, time.Second, 0},
		{"few write", 100 * time.Millisecond, 100, time.Hour, 900 * time.Millisecond},
		{"many write", 200 * time.Millisecond, 10_000, time.Hour, 7800 * time.Millisecond},
		{"many write, short work", time.Millisecond, 10_000, time.Hour, leastBusyRest},
		{"many write, somebody has searched", 100 * time.Millisecond, 10_000, time.Second, 900 * time.Millisecond},
		{"few write, long work", time.Minute, 100, time.Hour, maxRest},
		{"many write, long work", time.Minute, 10_000, time.Hour, maxBusyRest},
	} {
		var l labour
		l.rest(now.Add(-4*time.Second), 1000)
		l.worked.Store(int64(tt.worked))
		l.searched.Store(now.Add(-tt.searched).UnixNano())
		if got := l.rest(now, 1000+tt.written); got != tt.want {
			t.Errorf("%s: it rests for %v, want %v", tt.name, got, tt.want)
		}
		if again := l.rest(now.Add(time.Second), 1000+tt.written); again != 0 {
			t.Errorf("%s: it rests again for %v, with nothing done since", tt.name, again)
		}
		if first := l.rest(now.Add(time.Minute), 1000+tt.written); first != glance {
			t.Errorf("%s: a minute later it rests for %v before it begins, want a glance of %v", tt.name, first, glance)
		}
	}
}
