package actors

import (
	"cmp"
	"sync"
	"time"
)

// Limits bound what the runtime holds; a zero field takes its default.
type Limits struct {
	// MaxWaiting is how many commands wait for one actor (1,000).
	MaxWaiting int
	// MaxGated is how many commands and answers of one actor wait, for it or for
	// its commits, before reads are refused (8,192).
	MaxGated int
	// GroupWrites and GroupBytes are how much of one tenant may be on its way to
	// the disk (4,096; 32 MiB).
	GroupWrites, GroupBytes int
	// PartitionWrites and PartitionBytes are the same for a partition (16,384; 128 MiB).
	PartitionWrites, PartitionBytes int
	// IdleAfter is when an unused actor leaves memory (60 s).
	IdleAfter time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxWaiting:      cmp.Or(l.MaxWaiting, 1000),
		MaxGated:        cmp.Or(l.MaxGated, 8192),
		GroupWrites:     cmp.Or(l.GroupWrites, 4096),
		GroupBytes:      cmp.Or(l.GroupBytes, 32<<20),
		PartitionWrites: cmp.Or(l.PartitionWrites, 16384),
		PartitionBytes:  cmp.Or(l.PartitionBytes, 128<<20),
		IdleAfter:       cmp.Or(l.IdleAfter, time.Minute),
	}
}

// credits are what may be under way at once.
type credits struct {
	mu           sync.Mutex
	count, bytes int
}

func (c *credits) take(bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count < 1 || c.bytes < bytes {
		return false
	}
	c.count--
	c.bytes -= bytes
	return true
}

func (c *credits) give(bytes int) {
	c.mu.Lock()
	c.count++
	c.bytes += bytes
	c.mu.Unlock()
}
