package main

import "testing"

// TestGCPercent: a small heap may grow by the slack, a large one doubles.
func TestGCPercent(t *testing.T) {
	for _, test := range []struct {
		live uint64
		want int
	}{
		{0, 400}, {1 << 20, 400}, {48 << 20, 400}, {96 << 20, 200}, {192 << 20, 100}, {4 << 30, 100},
	} {
		if got := gcPercent(test.live); got != test.want {
			t.Errorf("%d MiB live: %d %%, want %d", test.live>>20, got, test.want)
		}
	}
}
