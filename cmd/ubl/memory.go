package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapSlack is how much a heap may grow before it is collected, however small
	// it is: by default Go collects the heap of a node with little data many times
	// a second under load.
	heapSlack = 192 << 20
	// Bounds of the percentage that comes of it; the lower one is Go's default.
	minGCPercent, maxGCPercent = 100, 400

	liveHeap = "/gc/heap/live:bytes"
)

// tuneGC keeps the collector's percentage in proportion to the heap, unless GOGC
// says what it should be.
func tuneGC(ctx context.Context, env map[string]string) {
	if env["GOGC"] != "" {
		return
	}
	live := []metrics.Sample{{Name: liveHeap}}
	for ok := true; ok; ok = every(ctx, 5*time.Second) {
		metrics.Read(live)
		debug.SetGCPercent(gcPercent(live[0].Value.Uint64()))
	}
}

func gcPercent(live uint64) int {
	return int(min(max(heapSlack*100/max(live, 1), minGCPercent), maxGCPercent))
}
