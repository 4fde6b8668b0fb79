package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
)

// ScrubLog reads the sealed segments of a partition's Raft log here and tells which of
// them aren't what was written. It calls pace with how much it has read, and stops when
// ctx ends. Nothing is rebuilt: a segment goes once a snapshot has what it holds.
func (n *Node) ScrubLog(ctx context.Context, partition int, pace func(read int64)) {
	g := n.group(partition)
	if g == nil {
		return
	}
	for _, damage := range g.files.segments.scrub(ctx, pace) {
		if n.held(partition) != g {
			return // the replica was ended, and its files deleted
		}
		n.spoil(partition, damage)
	}
}

// spoil tells of damage in what Raft keeps of a partition.
func (n *Node) spoil(partition int, damage error) {
	n.engine.Spoil(partition)
	if n.opts.Storage.Damaged != nil {
		n.opts.Storage.Damaged(partition, damage)
	}
}

// segmentList is raft-wal's own list of a log's segments, which alone says which ones are
// sealed. The directory doesn't: an empty segment, or an unsealed one that is to be
// deleted, may stand beside the newest, which need not be the last by name.
//
// raft-wal notes a segment as sealed when it is whole and synced, never writes to it
// again, and deletes it only after taking it off the list.
type segmentList struct {
	metadb.BoltMetaDB
	dir    string // the log's
	newest atomic.Pointer[[]types.SegmentInfo]
}

// Load implements types.MetaStore.
func (l *segmentList) Load(dir string) (types.PersistentState, error) {
	state, err := l.BoltMetaDB.Load(dir)
	if err == nil {
		l.dir = dir
		l.newest.Store(&state.Segments)
	}
	return state, err
}

// CommitState implements types.MetaStore.
func (l *segmentList) CommitState(state types.PersistentState) error {
	err := l.BoltMetaDB.CommitState(state)
	if err == nil {
		l.newest.Store(&state.Segments)
	}
	return err
}

// has reports whether a segment is still on the list.
func (l *segmentList) has(id uint64) bool {
	return slices.ContainsFunc(*l.newest.Load(), func(s types.SegmentInfo) bool { return s.ID == id })
}

// scrub gives the sealed segments that are damaged: they read the same twice, and are
// still on the list after that.
func (l *segmentList) scrub(ctx context.Context, pace func(read int64)) (found []error) {
	for _, s := range *l.newest.Load() {
		if s.SealTime.IsZero() {
			continue
		}
		damage := l.check(ctx, s, pace)
		if damage != (segmentDamage{}) && l.check(ctx, s, pace) == damage && l.has(s.ID) {
			found = append(found, damage)
		}
	}
	return found
}

// segmentDamage is where a segment isn't what was written; empty if it is.
type segmentDamage struct {
	name   string
	behind int64 // the end of the last batch that is whole
	cause  string
}

func (d segmentDamage) Error() string {
	return fmt.Sprintf("the log's segment %s is damaged behind its byte %d: %s", d.name, d.behind, d.cause)
}

func (segmentDamage) Unwrap() error { return storage.ErrDamaged }

// check reads one segment. That a file can't be opened, because too many are for example,
// is no damage, unless the file is missing.
func (l *segmentList) check(ctx context.Context, s types.SegmentInfo, pace func(read int64)) segmentDamage {
	name := segment.FileName(s)
	f, err := os.Open(filepath.Join(l.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return segmentDamage{name: name, cause: "there is no such file"}
	}
	if err != nil {
		return segmentDamage{}
	}
	defer f.Close()
	end, err := readSealed(paced{ctx, f, pace})
	if err == nil || ctx.Err() != nil {
		return segmentDamage{}
	}
	return segmentDamage{name: name, behind: end, cause: err.Error()}
}

// logSlice is how much of a segment is in memory.
const logSlice = 256 << 10

// readSealed reads a segment up to the commit that seals it, the one after its index. It
// gives the end of the last batch that is whole.
func readSealed(r io.Reader) (end int64, err error) {
	in, sum := bufio.NewReaderSize(r, logSlice), crc32.New(crc32.MakeTable(crc32.Castagnoli))
	at, err := io.CopyN(sum, in, walHeader)
	for sealed := false; err == nil; {
		var frame [walFrame]byte
		if _, err = io.ReadFull(in, frame[:]); err != nil {
			break
		}
		at += walFrame
		switch number := binary.LittleEndian.Uint32(frame[4:]); frame[0] {
		case walCommit:
			if sum.Sum32() != number {
				return end, errors.New("a checksum doesn't match")
			}
			if end = at; sealed {
				return end, nil
			}
			sum.Reset()
		case walEntry, walIndex:
			sealed = frame[0] == walIndex
			sum.Write(frame[:])
			var n int64
			n, err = io.CopyN(sum, in, (int64(number)+7)/8*8)
			at += n
		default:
			return end, errors.New("no entry or commit begins there")
		}
	}
	return end, err
}

// paced is a file that is read no faster than pace lets it, until ctx ends.
type paced struct {
	ctx  context.Context
	file io.Reader
	pace func(read int64)
}

func (p paced) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.file.Read(b)
	p.pace(int64(n))
	return n, err
}
