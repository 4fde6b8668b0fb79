package search

// Stats are figures of the indexes of messages.
type Stats struct {
	Filling int   // indexes that are being made again
	Thrown  int64 // that were thrown away since the start: damaged, or of another form or history
}

// Stats counts.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Stats{Thrown: x.thrown.Load()}
	for _, b := range x.books {
		if b.filling {
			s.Filling++
		}
	}
	return s
}
