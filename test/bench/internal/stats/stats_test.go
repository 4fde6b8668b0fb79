package stats

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for _, test := range []struct {
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{nil, 0.5, 0},
		{[]time.Duration{7}, 0.99, 7},
		{[]time.Duration{2, 1}, 0.5, 1},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
	} {
		if got := Percentile(test.values, test.p); got != test.want {
			t.Errorf("Percentile(%d values, %v) = %d, want %d", len(test.values), test.p, got, test.want)
		}
	}
}

func TestSeries(t *testing.T) {
	for _, test := range []struct {
		rounds           []float64
		median, min, max float64
	}{
		{nil, 0, 0, 0},
		{[]float64{3, 1, 2}, 2, 1, 3},
		{[]float64{4, 1, 2, 3}, 2.5, 1, 4},
	} {
		got := NewSeries(test.rounds)
		if got.Median != test.median || got.Min != test.min || got.Max != test.max {
			t.Errorf("NewSeries(%v) = %+v", test.rounds, got)
		}
	}
}
