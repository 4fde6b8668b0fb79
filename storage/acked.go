package storage

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"sync"
	"time"

	"ubl/durable"
)

// The mark of a journal, version 1: partition-N.db.journal.acked. It says which
// record is the newest that was synced, and so may have been acknowledged:
//
//	"ubl acked 1\n", salt of the partition (8 bytes), index (8), CRC-32C of all that (4)
//
// Each record that follows another says the same of the one before: only one is
// written at a time. The mark is for the last one, so that damage to it is told
// from a write that a crash has cut off.
//
// The mark is written after each sync of the journal and before anybody is
// answered, but not synced itself: a killed process leaves it in the page cache.
// It is synced once no record has followed for ackedIdle. What remains is a power
// loss within that time after the last record of all, together with damage to just
// this record: it is then taken for one that was being written.
type acked struct {
	file  *os.File
	salt  [saltSize]byte
	timer *time.Timer

	mu     sync.Mutex // guards closed against the timer
	closed bool
}

const (
	ackedMagic  = "ubl acked 1\n"
	ackedSuffix = ".acked"
	ackedSize   = len(ackedMagic) + saltSize + 8 + crcSize
	ackedIdle   = 20 * time.Millisecond
)

func ackedMark(salt [saltSize]byte, index uint64) []byte {
	b := append([]byte(ackedMagic), salt[:]...)
	b = binary.BigEndian.AppendUint64(b, index)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// readAcked reads a journal's mark.
func readAcked(journal string, salt [saltSize]byte) (uint64, error) {
	b, err := os.ReadFile(journal + ackedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, damaged("the mark of what the journal has acknowledged is missing")
	}
	if err != nil {
		return 0, err
	}
	if len(b) != ackedSize {
		return 0, damaged("the mark of what the journal has acknowledged can't be read")
	}
	index := binary.BigEndian.Uint64(b[ackedSize-crcSize-8:])
	if string(b) != string(ackedMark(salt, index)) {
		return 0, damaged("the mark of what the journal has acknowledged can't be read")
	}
	return index, nil
}

func createAcked(journal string, salt [saltSize]byte, index uint64) error {
	return durable.Replace(journal+ackedSuffix, ackedMark(salt, index))
}

func openAcked(journal string, salt [saltSize]byte) (*acked, error) {
	file, err := os.OpenFile(journal+ackedSuffix, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	a := &acked{file: file, salt: salt}
	a.timer = time.AfterFunc(ackedIdle, a.sync)
	a.timer.Stop()
	return a, nil
}

// note says that a record is durable. A mark that can't be written stays behind,
// which forgets nothing: the next record says the same.
func (a *acked) note(index uint64) {
	_, _ = a.file.WriteAt(ackedMark(a.salt, index), 0)
	a.timer.Reset(ackedIdle)
}

// sync is late or fails without harm, as note is.
func (a *acked) sync() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		_ = durable.SyncData(a.file)
	}
}

func (a *acked) close() error {
	a.timer.Stop()
	a.sync()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return a.file.Close()
}
