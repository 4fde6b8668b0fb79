// Package stats turns single measurements into the figures of a report.
package stats

import (
	"math"
	"slices"
	"time"
)

// Percentile is the smallest value that at least p of all values (0 < p ≤ 1)
// do not exceed; 0 where there are none. It sorts its argument. It is exact:
// a run yields few enough latencies to keep them all.
func Percentile(values []time.Duration, p float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	rank := int(math.Ceil(p * float64(len(values))))
	return values[min(max(rank, 1), len(values))-1]
}

// Series is one figure measured in several rounds.
type Series struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Rounds []float64 `json:"rounds"`
}

// NewSeries sums up rounds; with an even number of them the median is the mean
// of the middle two.
func NewSeries(rounds []float64) Series {
	if len(rounds) == 0 {
		return Series{}
	}
	sorted := slices.Sorted(slices.Values(rounds))
	n := len(sorted)
	return Series{
		Median: (sorted[(n-1)/2] + sorted[n/2]) / 2,
		Min:    sorted[0],
		Max:    sorted[n-1],
		Rounds: rounds,
	}
}
