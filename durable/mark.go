package durable

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Mark is a small file beside a log, version 1. It says which entry is the newest
// that was synced, and so may have been acknowledged:
//
//	"ubl acked 1\n", salt of the log (8 bytes), index (8), CRC-32C of all that (4)
//
// It tells damage to the log's end from a write that a crash has cut off.
//
// The mark is written after each sync of the log and before anybody is answered,
// but not synced itself: a killed process leaves it in the page cache. It is synced
// once no entry has followed for markIdle. What remains is a power loss within that
// time after the last entry of all, together with damage to just this entry: it is
// then taken for one that was being written.
//
// One at a time may call Note and Set.
type Mark struct {
	file  *os.File
	salt  Salt
	timer *time.Timer

	mu     sync.Mutex // guards closed against the timer
	closed bool
}

// Salt tells the marks of different logs apart.
type Salt [8]byte

// ErrMark is a mark that can't be read: it is missing, damaged, or another log's.
var ErrMark = errors.New("the mark of what was acknowledged can't be read")

const (
	markMagic = "ubl acked 1\n"
	markSize  = len(markMagic) + len(Salt{}) + 8 + 4
	markIdle  = 20 * time.Millisecond
)

func markOf(salt Salt, index uint64) []byte {
	b := append([]byte(markMagic), salt[:]...)
	b = binary.BigEndian.AppendUint64(b, index)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// ReadMark reads a mark. Its error is also [fs.ErrNotExist] where there is none.
func ReadMark(path string, salt Salt) (index uint64, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errors.Join(ErrMark, err)
	}
	if err != nil {
		return 0, err
	}
	if len(b) != markSize {
		return 0, ErrMark
	}
	index = binary.BigEndian.Uint64(b[len(markMagic)+len(salt):])
	if string(b) != string(markOf(salt, index)) {
		return 0, ErrMark
	}
	return index, nil
}

// CreateMark makes a mark, durably, in place of what was there.
func CreateMark(path string, salt Salt, index uint64) error {
	return Replace(path, markOf(salt, index))
}

// OpenMark opens a mark to move it. Close it.
func OpenMark(path string, salt Salt) (*Mark, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	m := &Mark{file: file, salt: salt}
	m.timer = time.AfterFunc(markIdle, m.sync)
	m.timer.Stop()
	return m, nil
}

// Note says that an entry is durable. A mark that can't be written stays behind,
// which forgets nothing as soon as another entry follows.
func (m *Mark) Note(index uint64) {
	_, _ = m.file.WriteAt(markOf(m.salt, index), 0)
	m.timer.Reset(markIdle)
}

// Set moves the mark durably, also back.
func (m *Mark) Set(index uint64) error {
	if _, err := m.file.WriteAt(markOf(m.salt, index), 0); err != nil {
		return err
	}
	return SyncData(m.file)
}

// sync is late or fails without harm, as Note is.
func (m *Mark) sync() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		_ = SyncData(m.file)
	}
}

// Close syncs the mark and closes it.
func (m *Mark) Close() error {
	m.timer.Stop()
	m.sync()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.file.Close()
}
