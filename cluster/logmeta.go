package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
)

// raft-wal keeps beside the segments a bbolt file: which segments there are, and the
// term and vote of Raft. bbolt maps it and follows what it finds, so damage there would
// end the process. Worse is what bbolt would not notice: with its newer meta page gone
// it goes back to the older one, and the replica could vote twice in one term.
//
// Nothing else tells how the replica voted. So one whose file is damaged isn't opened:
// it takes no entries either, for it may have promised a newer leader to take none. Its
// node serves the rest, and its data directory is wiped to come back as another server.

// stableKeys are all that Raft stores there.
var stableKeys = []string{"CurrentTerm", "LastVoteCand", "LastVoteTerm"}

// errLogMeta is damage to that file. It wraps [storage.ErrDamaged].
func errLogMeta(cause error) error {
	return fmt.Errorf("%s, which has the replica's term and vote, can't be believed: %w; the replica stays closed, since it could vote twice", metadb.FileName, cause)
}

// checkLogMeta reads the file before bbolt does. It may be missing only where the log
// was never opened: has says whether anything else tells that it was.
func checkLogMeta(logs string, has bool) error {
	path := filepath.Join(logs, metadb.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		segments, err := filepath.Glob(filepath.Join(logs, "*.wal"))
		if err == nil && (has || len(segments) > 0) {
			err = errLogMeta(fmt.Errorf("%w: the file is missing", storage.ErrDamaged))
		}
		return err
	}
	err := storage.CheckPages(path, metadb.StableBucket, metadb.MetaBucket, func(bucket string, key, value []byte) error {
		sound := bucket == metadb.StableBucket && slices.Contains(stableKeys, string(key)) ||
			bucket == metadb.MetaBucket && string(key) == metadb.MetaKey && isState(value)
		if !sound {
			return fmt.Errorf("%w: a record is none of Raft's", storage.ErrDamaged)
		}
		return nil
	})
	if errors.Is(err, storage.ErrDamaged) {
		err = errLogMeta(err)
	}
	return err
}

// isState reports whether a value is a list of segments exactly as raft-wal writes it.
func isState(value []byte) bool {
	var state types.PersistentState
	if json.Unmarshal(value, &state) != nil {
		return false
	}
	again, err := json.Marshal(state)
	return err == nil && bytes.Equal(value, again)
}

// checkTerm sees that the term that the file has isn't older than what the log and the
// snapshot have of one: Raft writes the term first.
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
	}
	if term < entry.Term {
		return errLogMeta(fmt.Errorf("%w: its term is older than the log's", storage.ErrDamaged))
	}
	return nil
}
