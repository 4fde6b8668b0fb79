package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
)

// Check reads what Raft keeps in the data directory of a node that doesn't run, and lists
// what isn't as it was written. It changes nothing. In the directory of a node alone it
// finds nothing to read. The store's files say which partitions must have a log.
func Check(ctx context.Context, dir string, store []storage.Checked) ([]storage.Place, error) {
	m, err := readMembership(dir)
	if err != nil {
		return []storage.Place{{What: err.Error()}}, nil
	}
	if m == nil {
		return nil, nil
	}
	var places []storage.Place
	for _, file := range store {
		if err := logGone(dir, file.Partition, file.Applied); err != nil {
			places = append(places, storage.Place{Partition: file.Partition, What: err.Error()})
		}
	}
	for _, p := range hosted(dir, len(store)) {
		for _, damage := range checkGroup(ctx, dir, m.ServerID, p) {
			places = append(places, storage.Place{Partition: p, What: damage.Error()})
		}
	}
	return places, ctx.Err()
}

func checkGroup(ctx context.Context, dir, server string, partition int) (found []error) {
	base := groupDir(dir, partition)
	note := func(what string, err error) {
		if err != nil && ctx.Err() == nil {
			found = append(found, fmt.Errorf("%s: %w", what, err))
		}
	}
	p, err := readPromise(dir, server, partition)
	if p.wrong {
		err = errors.New("it is damaged; the next start makes it again from the log")
	}
	note("raft/N/acked", err)
	if _, err := readVote(filepath.Join(base, voteName), p.salt); !errors.Is(err, fs.ErrNotExist) {
		note(voteName, err)
	}
	kept, err := checkSnapshots(ctx, base)
	note("a snapshot", err)
	logs := filepath.Join(base, logDir)
	if err := checkLogMeta(logs, p.known || kept > 0); err != nil {
		note("raft/N/log", err) // which says what segments there are
		return found
	}
	last, err := checkSegments(ctx, logs)
	note("raft/N/log", err)
	if err == nil && p.known && p.index > max(last, kept) {
		note("raft/N/log", fmt.Errorf("it ends with entry %d, and entries up to %d were acknowledged", last, p.index))
	}
	return found
}

// checkSegments reads the segments of a log whose list of them is sound, and says with
// which entry it ends.
func checkSegments(ctx context.Context, logs string) (last uint64, err error) {
	state, err := listedSegments(logs)
	if err != nil {
		return 0, err
	}
	list := &segmentList{dir: logs}
	for _, s := range state.Segments {
		if !s.SealTime.IsZero() {
			if damage := list.check(ctx, s, func(int64) {}); damage != (segmentDamage{}) {
				err = errors.Join(err, damage)
			}
			last = s.MaxIndex
			continue
		}
		data, cause := os.ReadFile(filepath.Join(logs, segment.FileName(s)))
		if errors.Is(cause, fs.ErrNotExist) { // raft-wal makes it
			continue
		}
		if cause == nil {
			_, last, _, cause = reach(data, s.BaseIndex)
		}
		err = errors.Join(err, cause)
	}
	return last, err
}

// listedSegments is raft-wal's list of a log's segments.
func listedSegments(logs string) (state types.PersistentState, err error) {
	path := filepath.Join(logs, metadb.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return state, nil // a log that was never opened
	}
	err = storage.CheckPages(path, metadb.StableBucket, metadb.MetaBucket, func(bucket string, _, value []byte) error {
		if bucket == metadb.MetaBucket {
			return json.Unmarshal(value, &state)
		}
		return nil
	})
	return state, err
}

// checkSnapshots compares each snapshot with its checksum, and says up to which entry the
// newest one goes.
func checkSnapshots(ctx context.Context, base string) (newest uint64, err error) {
	paths, err := filepath.Glob(filepath.Join(base, snapshotsDir, "*-*-*[0-9]"))
	for _, path := range paths {
		index, damage := checkSnapshot(ctx, path)
		newest, err = max(newest, index), errors.Join(err, damage)
	}
	return newest, err
}

// checkSnapshot reads meta.json and state.bin as raft's FileSnapshotStore writes them.
func checkSnapshot(ctx context.Context, path string) (index uint64, err error) {
	text, err := os.ReadFile(filepath.Join(path, "meta.json"))
	if err != nil {
		return 0, err
	}
	var meta struct {
		Index uint64
		CRC   []byte
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return 0, err
	}
	state, err := os.Open(filepath.Join(path, "state.bin"))
	if err != nil {
		return 0, err
	}
	defer state.Close()
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	if _, err := io.Copy(sum, paced{ctx, state, func(int64) {}}); err != nil {
		return meta.Index, err
	}
	if !bytes.Equal(sum.Sum(nil), meta.CRC) {
		return meta.Index, fmt.Errorf("%s: a checksum doesn't match", filepath.Base(path))
	}
	return meta.Index, nil
}
