package actors

import (
	"cmp"
	"time"
)

// Limits bound what the runtime holds; a zero field takes its default. While writes
// are late, fewer of them are let in: see window.
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

// So many writes of a tenant, and of a partition, are let in however late the others
// are; a tenant with no more than fewWrites under way is let in ahead of those with many.
const (
	leastOfGroup     = 64
	leastOfPartition = 256
	fewWrites        = 16
)
