package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/durable"
)

// What Raft keeps of a partition: raft/N/log and raft/N/snapshots, and beside them
// raft/N/acked and raft/N/vote (see promise.go and vote.go).
const (
	raftDir      = "raft"
	logDir       = "log"
	snapshotsDir = "snapshots" // raft's own name
	// segmentBytes is by how much the log's files grow: each takes that much of
	// the disk from its beginning.
	segmentBytes = 4 << 20
	// keptSnapshots: the newest is enough, an older one is behind the log's start.
	keptSnapshots = 1
)

func groupDir(dir string, partition int) string {
	return filepath.Join(dir, raftDir, strconv.Itoa(partition))
}

// hosted lists the partitions that have a log here.
func hosted(dir string, partitions int) []int {
	var list []int
	for p := range partitions {
		if _, err := os.Stat(groupDir(dir, p)); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// logGone is the error of a partition whose log isn't there any more, while its file has
// entries of it; nil for any other. Its replica could acknowledge and vote once more what it
// has already, and stays closed. Where the file isn't believed any more, as after a power cut,
// or was made anew, nothing tells that there was a log.
func logGone(dir string, partition int, applied uint64) error {
	if applied == 0 || slices.Contains(hosted(dir, partition+1), partition) {
		return nil
	}
	return fmt.Errorf("raft/N is missing, and the partition's file has entries up to %d of its log: the replica stays closed, since it could vote twice", applied)
}

// files are a Raft group's log and snapshots.
type files struct {
	log       *wal.WAL
	segments  segmentList // the log's
	snapshots *raft.FileSnapshotStore
	promise   *promise
	ballots   *ballots
}

// openFiles opens those of a server, making them where they are missing.
func openFiles(dir, server string, partition int, log hclog.Logger) (*files, error) {
	base := groupDir(dir, partition)
	logs := filepath.Join(base, logDir)
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, err
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(base, keptSnapshots, log)
	if err != nil {
		return nil, fmt.Errorf("couldn't open the snapshots: %w", err)
	}
	// A process that was killed may have left names that are not durable yet.
	for _, d := range []string{filepath.Join(base, snapshotsDir), logs, base, filepath.Join(dir, raftDir), dir} {
		if err := durable.Sync(d); err != nil {
			return nil, err
		}
	}
	f := &files{snapshots: snapshots}
	if err := f.openLog(logs, dir, server, partition, log); err != nil {
		return nil, fmt.Errorf("couldn't open the log: %w", err)
	}
	return f, nil
}

// openLog opens the log and the mark beside it.
func (f *files) openLog(logs, dir, server string, partition int, log hclog.Logger) error {
	p, err := readPromise(dir, server, partition)
	if err != nil {
		return err
	}
	newest, err := f.newest()
	if err != nil {
		return err
	}
	if newest != nil {
		p.kept = newest.Index
	}
	if err := checkLogMeta(logs, p.known || p.wrong || newest != nil); err != nil {
		return err
	}
	f.ballots = newBallots(&f.segments, groupDir(dir, partition), p.salt)
	if f.log, err = openLog(logs, fs.New(), f.ballots, segmentBytes, log, &p); err != nil {
		return err
	}
	last, err := f.log.LastIndex()
	if err == nil {
		err = checkTerm(f.log, newest)
	}
	if err == nil {
		f.promise, err = p.keep(last)
	}
	if err != nil {
		return errors.Join(err, f.log.Close())
	}
	return nil
}

func (f *files) close() error { return errors.Join(f.log.Close(), f.promise.mark.Close()) }

// openLog opens a log whose segments are files of disk and noted in list. What it has
// then is durable.
func openLog(dir string, disk types.VFS, list types.MetaStore, segmentSize int, log hclog.Logger, p *promised) (*wal.WAL, error) {
	if err := mend(dir, disk, p); err != nil {
		return nil, err
	}
	return wal.Open(dir, wal.WithMetaStore(list), wal.WithSegmentFiler(segment.NewFiler(dir, disk)), wal.WithSegmentSize(segmentSize), wal.WithLogger(log))
}

// newest is the newest snapshot's description, nil where there is none.
func (f *files) newest() (*raft.SnapshotMeta, error) {
	list, err := f.snapshots.List()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// dirBytes is how much the files right in a directory hold.
func dirBytes(dir string) int64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var n int64
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	return n
}
