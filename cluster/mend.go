package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/types"
)

// raft-wal writes a segment from front to back: a header, then frames of entries,
// and commit frames that bear a CRC-32C of all behind the commit before. A full
// segment is sealed by an index frame before its last commit, and then noted as
// sealed in a file of its own. A process that ends between the two leaves a log
// that raft-wal 0.4.2 opens and never writes to again; so does an index frame
// that a power cut left without its commit.
const (
	walHeader = 32
	walFrame  = 8 // type, three zero bytes, length or CRC

	walEntry  = 1
	walIndex  = 2
	walCommit = 3
)

// mend finishes or undoes what was under way in a log's newest segment, before
// the log is opened. Nothing that was ever synced is touched.
func mend(dir string) (err error) {
	meta := &metadb.BoltMetaDB{}
	state, err := meta.Load(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	if len(state.Segments) == 0 {
		return nil
	}
	tail := &state.Segments[len(state.Segments)-1]
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%020d-%016x.wal", tail.BaseIndex, tail.ID)), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) || err == nil && !tail.SealTime.IsZero() {
		return closeIf(f) // raft-wal makes what is missing
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := scanSegment(f)
	if err != nil || w.end == 0 {
		return err
	}
	if err := clearFrom(f, w.end); err != nil || w.index == 0 {
		return err
	}
	seal(&state, tail, w)
	return meta.CommitState(state)
}

func closeIf(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// seal notes what the segment itself says.
func seal(state *types.PersistentState, tail *types.SegmentInfo, w written) {
	tail.SealTime = time.Now() // raft-wal's own field, for its statistics
	tail.IndexStart = w.index
	tail.MaxIndex = tail.BaseIndex + w.entries - 1
	next := types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: tail.MaxIndex + 1, MinIndex: tail.MaxIndex + 1,
		SizeLimit: tail.SizeLimit, Codec: tail.Codec, CreateTime: tail.SealTime,
	}
	state.NextSegmentID++
	state.Segments = append(state.Segments, next)
}

// written is what a segment holds up to its last commit that is whole.
type written struct {
	end     int64  // the offset behind it; 0 for none
	entries uint64 // how many
	index   uint64 // the offset of the index, 0 where it isn't sealed
}

func scanSegment(f io.ReaderAt) (whole written, err error) {
	var head [walFrame]byte
	var now written
	for at, begin := int64(walHeader), int64(0); ; {
		if _, err := f.ReadAt(head[:], at); errors.Is(err, io.EOF) {
			return whole, nil
		} else if err != nil {
			return whole, err
		}
		number := binary.LittleEndian.Uint32(head[4:])
		payload := walFrame + (int64(number)+7)/8*8
		switch head[0] {
		case walEntry:
			now.entries++
			at += payload
		case walIndex:
			now.index = uint64(at) + walFrame
			at += payload
		case walCommit:
			batch := make([]byte, at-begin)
			if _, err := f.ReadAt(batch, begin); err != nil {
				return whole, err
			}
			at += walFrame
			if crc32.Checksum(batch, crc32.MakeTable(crc32.Castagnoli)) != number {
				return whole, isLast(f, at)
			}
			begin, now.end = at, at
			whole = now
		default:
			return whole, nil
		}
	}
}

var errDamagedLog = errors.New("the log is damaged before its end")

// isLast refuses a batch that isn't whole where more follows: only the last can
// have been under way, anything else was acknowledged.
func isLast(f io.ReaderAt, at int64) error {
	var head [walFrame]byte
	if _, err := f.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if head[0] >= walEntry && head[0] <= walCommit {
		return errDamagedLog
	}
	return nil
}

// clearFrom zeroes what stands behind an offset, up to the first block that is
// zero: segments are allocated ahead and written from the front.
func clearFrom(f *os.File, from int64) error {
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for dirty := false; ; dirty = true {
		n, err := f.ReadAt(block, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if slices.Equal(block[:n], zeros[:n]) {
			if dirty {
				return f.Sync()
			}
			return nil
		}
		if _, err := f.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += int64(n)
	}
}
