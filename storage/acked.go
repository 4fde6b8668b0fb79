package storage

import (
	"errors"
	"io/fs"

	"ubl/durable"
)

// ackedSuffix is of the mark beside a journal, partition-N.db.journal.acked. Each
// record that follows another says the same of the one before: only one is written
// at a time. The mark is for the last one.
const ackedSuffix = ".acked"

// readAcked reads a journal's mark.
func readAcked(journal string, salt durable.Salt) (uint64, error) {
	index, err := durable.ReadMark(journal+ackedSuffix, salt)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, unsure("the mark of what the journal has acknowledged is missing")
	case errors.Is(err, durable.ErrMark):
		return 0, unsure("the mark of what the journal has acknowledged can't be read")
	}
	return index, err
}
