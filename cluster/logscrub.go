package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ubl/storage"
)

// ScrubLogs reads the sealed segments of all Raft logs here, rate bytes a second (less
// than 0: no bound), and tells of those that aren't what was written. Nothing is made
// anew for that: a segment goes once a snapshot has what it holds.
func (n *Node) ScrubLogs(ctx context.Context, rate int64) {
	for _, p := range hosted(n.opts.Dir, n.engine.Partitions()) {
		for _, err := range scrubLog(ctx, filepath.Join(groupDir(n.opts.Dir, p), logDir), rate) {
			n.engine.Spoil(p)
			if n.opts.Storage.Damaged != nil {
				n.opts.Storage.Damaged(p, err)
			}
		}
	}
}

// scrubLog gives what is wrong with the segments of a log, but for the newest, which is
// being written.
func scrubLog(ctx context.Context, dir string, rate int64) (found []error) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.wal")) // the pattern is sound
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-1)] {
		data, err := readSlowly(ctx, name, rate)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a snapshot has made it superfluous
		case ctx.Err() != nil:
			return found
		case err != nil:
			found = append(found, fmt.Errorf("the log's segment %s can't be read: %w", filepath.Base(name), err))
		default:
			if w, err := scan(data); err != nil || w.index == 0 {
				found = append(found, fmt.Errorf("%w: the log's segment %s, behind its byte %d", storage.ErrDamaged, filepath.Base(name), w.end))
			}
		}
	}
	return found
}

// logSlice is how much of a log is read at a time.
const logSlice = 256 << 10

func readSlowly(ctx context.Context, path string, rate int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data []byte
	for ctx.Err() == nil {
		part, err := io.ReadAll(io.LimitReader(f, logSlice))
		data = append(data, part...)
		if err != nil || len(part) < logSlice {
			return data, err
		}
		if rate > 0 {
			pause := time.NewTimer(time.Duration(float64(len(part)) / float64(rate) * float64(time.Second)))
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
		}
	}
	return nil, ctx.Err()
}
