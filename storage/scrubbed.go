package storage

import (
	"sync"

	"ubl"
)

// ScrubStats is how the scrub of a partition stands.
type ScrubStats struct {
	// Bytes are those that the pass has read so far, LastBytes those of the last one.
	Bytes, LastBytes int64
	// Finished is when the last pass ended, 0 if none has since the start.
	Finished ubl.Time
	// Damages counts the places of the last pass, or of this one if it has found more.
	Damages int
	Places  []Place
	// Digests are those of the last pass.
	Digests []Digest
}

// Status is the same for the cluster's status.
func (s ScrubStats) Status(met int64) *ubl.ClusterScrub {
	c := &ubl.ClusterScrub{Bytes: s.Bytes, Damages: int64(s.Damages), Met: met, Digests: s.Digests}
	if s.Finished != 0 {
		c.FinishedAt = &s.Finished
	}
	return c
}

// scrubbed is what a partition's scrub has come to. Its owner is the scrub.
type scrubbed struct {
	mu    sync.Mutex
	stats ScrubStats
	file  int // how many files there were before this one
}

// begin notes which file a pass is of.
func (s *scrubbed) begin(w *sweep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.file = s.file
}

// is reports whether a pass is still of the file that is there.
func (s *scrubbed) is(w *sweep) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.file == s.file
}

// forget begins anew, with another file: what was found was in the one before.
func (s *scrubbed) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file++
	s.stats = ScrubStats{}
}

func (s *scrubbed) read() ScrubStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *scrubbed) note(w *sweep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.fresh = nil; w.file != s.file {
		return
	}
	s.stats.Bytes = w.bytes
	if w.found > s.stats.Damages {
		s.stats.Damages, s.stats.Places = w.found, append([]Place(nil), w.places...)
	}
}

func (s *scrubbed) finish(w *sweep, now ubl.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.file != s.file {
		return
	}
	s.stats = ScrubStats{
		LastBytes: w.bytes, Finished: now, Damages: w.found, Places: w.places, Digests: w.digests.list(),
	}
}
