package storage

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
}

// Stats reads how things stand, for metrics and readiness.
func (e *Engine) Stats() Stats {
	s := Stats{Partitions: make([]PartitionStats, len(e.partitions))}
	for i, p := range e.partitions {
		st := &s.Partitions[i]
		st.Queued, st.QueuedBytes = p.queue.length()
		st.Failed = p.failure()
		st.Leases = p.leases.Load()
		if info, err := p.opened.Load().file.Stat(); err == nil {
			st.FileBytes = info.Size()
		}
	}
	return s
}
