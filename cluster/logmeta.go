package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
)

// raft-wal keeps beside the segments a bbolt file: which segments there are, and the
// term and vote of Raft. bbolt maps it and follows what it finds, so damage there would
// end the process. Worse is what bbolt would not notice: with its newer meta page gone
// it goes back to the older one, and the replica could vote twice in one term. So the
// file is read before bbolt reads it. See rebuild.go for what follows from damage.

// logMetaDamage is damage to that file. It wraps [storage.ErrDamaged].
type logMetaDamage struct{ cause error }

func (d logMetaDamage) Error() string {
	return fmt.Sprintf("%s, which has the replica's term and vote, can't be believed: %v", metadb.FileName, d.cause)
}

func (d logMetaDamage) Unwrap() error { return d.cause }

func errLogMeta(what string) error {
	return logMetaDamage{fmt.Errorf("%w: %s", storage.ErrDamaged, what)}
}

// checkLogMeta reads the file before bbolt does. It may be missing only where the log
// was never opened: has says whether anything else tells that it was.
func checkLogMeta(logs string, has bool) error {
	path := filepath.Join(logs, metadb.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		segments, err := filepath.Glob(filepath.Join(logs, "*.wal"))
		if err == nil && (has || len(segments) > 0) {
			err = errLogMeta("the file is missing")
		}
		return err
	}
	err := storage.CheckPages(path, metadb.StableBucket, metadb.MetaBucket, func(bucket string, key, value []byte) error {
		sound := bucket == metadb.StableBucket && isVote(string(key), value) ||
			bucket == metadb.MetaBucket && string(key) == metadb.MetaKey && isState(logs, value)
		if !sound {
			return fmt.Errorf("%w: a record is none of Raft's", storage.ErrDamaged)
		}
		return nil
	})
	if errors.Is(err, storage.ErrDamaged) {
		err = logMetaDamage{err}
	}
	return err
}

// isVote reports whether Raft may have stored that. A term is also an epoch of the
// store, which is signed.
func isVote(key string, value []byte) bool {
	switch key {
	case termKey, votedInKey:
		return len(value) == 8 && number(value) <= math.MaxInt64
	}
	return key == candidateKey && len(value) <= math.MaxUint8
}

// isState reports whether a value is a list of segments exactly as raft-wal writes it,
// and one of those that are there.
func isState(logs string, value []byte) bool {
	var state types.PersistentState
	if json.Unmarshal(value, &state) != nil {
		return false
	}
	again, err := json.Marshal(state)
	return err == nil && bytes.Equal(value, again) && isList(logs, state)
}

// isList reports whether the segments follow one another, and are what their files say.
// The last one was made last, and is the only one that may be written to.
func isList(logs string, state types.PersistentState) bool {
	for i, s := range state.Segments {
		last := i == len(state.Segments)-1
		follows := last && s.ID+1 == state.NextSegmentID || !last && s.MaxIndex+1 == state.Segments[i+1].BaseIndex
		if !follows || s.SealTime.IsZero() != last || s.MinIndex < s.BaseIndex || s.Codec != wal.CodecBinaryV1 || !isSegment(logs, s) {
			return false
		}
	}
	return true
}

// isSegment reports whether a file can be the segment that a list has. An empty one may
// lack its header or not be there yet.
func isSegment(logs string, s types.SegmentInfo) bool {
	f, err := os.Open(filepath.Join(logs, segment.FileName(s)))
	if errors.Is(err, fs.ErrNotExist) {
		same, err := filepath.Glob(filepath.Join(logs, fmt.Sprintf("*-%016x.wal", s.ID)))
		return err == nil && s.SealTime.IsZero() && len(same) == 0
	}
	if err != nil {
		return true // too many open files, for example, which opening the log tells
	}
	defer f.Close()
	header, index := make([]byte, walHeader), make([]byte, walFrame)
	if _, err := f.ReadAt(header, 0); err != nil && !errors.Is(err, io.EOF) {
		return true
	}
	named := binary.LittleEndian.Uint64(header[8:]) == s.BaseIndex && binary.LittleEndian.Uint64(header[16:]) == s.ID
	if s.SealTime.IsZero() {
		return named && s.MaxIndex == 0 && s.IndexStart == 0 || bytes.Equal(header, make([]byte, walHeader))
	}
	_, err = f.ReadAt(index, int64(s.IndexStart)-walFrame)
	entries := uint64(binary.LittleEndian.Uint32(index[4:]) / 4) // an offset of 4 bytes for each
	return named && err == nil && index[0] == walIndex && s.MinIndex <= s.MaxIndex && s.MaxIndex-s.BaseIndex < entries
}

// checkTerm sees that the term that the file has isn't older than what the log and the
// snapshot have of one, which Raft writes later, and that the log follows the snapshot.
func checkTerm(log *wal.WAL, newest *raft.SnapshotMeta) error {
	term, err := log.GetUint64([]byte("CurrentTerm"))
	if err != nil {
		return err
	}
	last, err := log.LastIndex()
	if err != nil {
		return err
	}
	var entry raft.Log
	if last > 0 {
		if err := log.GetLog(last, &entry); err != nil {
			return err
		}
	}
	if newest != nil {
		entry.Term = max(entry.Term, newest.Term)
		first, err := log.FirstIndex()
		if err == nil && first > newest.Index+1 {
			err = errLogMeta("the log begins behind the snapshot")
		}
		if err != nil {
			return err
		}
	}
	if term < entry.Term {
		return errLogMeta("its term is older than the log's")
	}
	return nil
}
