package storage

import (
	"errors"
	"time"
)

// Stats is how things stand now.
type Stats struct {
	Partitions []PartitionStats
}

// PartitionStats is how one partition stands.
type PartitionStats struct {
	// Queued and QueuedBytes wait for the committer.
	Queued, QueuedBytes int
	FileBytes           int64
	// Leases are the groups that may write.
	Leases int64
	// Failed is why the partition takes no writes, nil while it does.
	Failed error
	// Full: the newest write found no room on the disk, within the last minute, or what was
	// acknowledged still has none.
	Full bool
	// Damaged is how often damage was met since the start, by a reader, a writer or
	// the scrub.
	Damaged int64
	// DamagedAt is when it was met last, zero for never.
	DamagedAt time.Time
	// Spoiled: damage was met in the file that is open, and no whole pass of the scrub
	// has found the file sound since.
	Spoiled bool
	Scrub   ScrubStats
}

// fullFor is how long a write that found no room tells of a full disk.
const fullFor = time.Minute

// isFull reports whether writes find no room.
func (p *partition) isFull() bool {
	at := p.noRoom.Load()
	return at != 0 && (errors.Is(p.failure(), ErrFull) || p.opts.Now().Sub(time.Unix(0, at)) < fullFor)
}

// Space is how many bytes the disk of the data directory has left for us, and how
// many it has; ok is false where the system doesn't tell.
func (e *Engine) Space() (free, size int64, ok bool) { return diskSpace(e.dir) }

// DiskSpace is how many bytes are left on a path's disk, and how many it has; ok is false
// where this system doesn't say.
func DiskSpace(path string) (free, size int64, ok bool) { return diskSpace(path) }

// freeSpace is how many bytes the disk of a path has left for us, 0 where it
// doesn't tell.
func freeSpace(path string) int64 {
	free, _, _ := diskSpace(path)
	return free
}

// Stats reads how things stand, for metrics and readiness.
func (e *Engine) Stats() Stats {
	s := Stats{Partitions: make([]PartitionStats, len(e.partitions))}
	for i := range e.partitions {
		s.Partitions[i] = e.PartitionStats(i)
	}
	return s
}

// PartitionStats reads how one partition stands.
func (e *Engine) PartitionStats(partition int) (s PartitionStats) {
	p := e.partitions[partition]
	s.Queued, s.QueuedBytes = p.queue.length()
	s.Failed, s.Full = p.failure(), p.isFull()
	s.Damaged, s.Scrub = p.damaged.Load(), p.scrub.read()
	if at := p.damagedAt.Load(); at != 0 {
		s.DamagedAt = time.Unix(0, at)
	}
	s.Spoiled = p.spoiled.Load() != 0
	s.Leases = p.leases.Load()
	if info, err := p.opened.Load().file.Stat(); err == nil {
		s.FileBytes = info.Size()
	}
	return s
}
