package storage

import "testing"

// FuzzJournal reads any bytes behind the head of a journal: they are damaged, or
// records that follow the index one by one.
func FuzzJournal(f *testing.F) {
	l := label{Partition: 1, Incarnation: "some"}
	written := &journal{salt: saltOf(journalMagic, l)}
	var records []byte
	for i, entry := range []string{"first", "", "third"} {
		records = append(records, written.record(uint64(7+i), []byte(entry))...)
	}
	f.Add(records, uint64(6))
	f.Add(records, uint64(8))
	f.Add(records, uint64(1))
	f.Add(records[journalPage:], uint64(7))
	f.Fuzz(func(t *testing.T, data []byte, after uint64) {
		j := &journal{salt: saltOf(journalMagic, l)}
		found, err := j.read(append(make([]byte, journalPage), data...), after, 0)
		if err != nil {
			return
		}
		for i, r := range found {
			if r.index != after+1+uint64(i) {
				t.Errorf("record %d behind %d has index %d", i, after, r.index)
			}
		}
	})
}
