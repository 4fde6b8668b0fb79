package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"

	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/durable"
)

// raft-wal writes a segment from front to back: a header, then frames of entries,
// and commit frames that bear a CRC-32C of all behind the commit before. A full
// segment is sealed by an index frame before its last commit, and then noted as
// sealed in a file of its own. A process that ends between the two leaves a log
// that raft-wal 0.4.2 opens and never writes to again; so does an index frame
// that a power cut left without its commit.
const (
	walHeader = 32
	walFrame  = 8 // type, three zero bytes, length or CRC; frames begin at multiples of it

	walEntry  = 1
	walIndex  = 2
	walCommit = 3
)

// mend finishes or undoes what was under way in a log's newest segment, before
// the log is opened, and makes durable what stays. A process that was killed
// before its sync, or whose sync failed, leaves a batch that is whole for
// readers and not on the disk; Raft would tell its leader that it is stored.
//
// What the log has lost of what it promised is noted. It ends before the damage then,
// and its segment is copied first.
func mend(dir string, disk types.VFS, p *promised) (err error) {
	meta := &metadb.BoltMetaDB{}
	state, err := meta.Load(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	if err := mendNewest(dir, disk, &state, p); err != nil {
		return err
	}
	return meta.CommitState(state) // also where nothing changed: what was loaded may not be durable
}

func mendNewest(dir string, disk types.VFS, state *types.PersistentState, p *promised) (err error) {
	if len(state.Segments) == 0 {
		p.settle(0, 0)
		return nil
	}
	newest := &state.Segments[len(state.Segments)-1]
	if !newest.SealTime.IsZero() {
		p.settle(newest.MaxIndex, 0)
		return nil
	}
	f, err := disk.OpenWriter(dir, segment.FileName(*newest))
	if errors.Is(err, os.ErrNotExist) {
		p.settle(newest.BaseIndex-1, 0)
		return nil // raft-wal makes it
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := inspect(f, newest.BaseIndex, p)
	if err == nil {
		err = w.rewrite(f)
	}
	if err == nil && w.index != 0 {
		seal(state, newest, w)
	}
	return err
}

// inspect reads a segment up to its last batch that is whole, and notes what the log
// owes. Damage before the end of a log of an earlier version is refused: nothing
// tells how far that log came.
func inspect(f types.WritableFile, base uint64, p *promised) (written, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return written{}, err
	}
	w, last, seen, err := reach(data, base)
	if errors.Is(err, errDamagedLog) && p.known && max(p.index, seen) > last { // so it is known what was lost
		err = nil
	}
	if err != nil {
		return written{}, err
	}
	p.settle(last, seen)
	if p.owes > 0 {
		err = durable.Replace(p.path+damagedSuffix, data)
	}
	w.data = data
	return w, err
}

// reach reads a segment: its last entry before damage, and the newest that is seen
// behind it, 0 for none.
func reach(data []byte, base uint64) (w written, last, seen uint64, err error) {
	w, err = scan(data)
	if errors.Is(err, errDamagedLog) {
		if newest, _ := newestBehind(data, w.end); newest <= base+uint64(len(data)/walFrame) {
			seen = newest
		}
	}
	return w, base + w.entries - 1, seen, err
}

// damagedSuffix is of the copy of a segment that was damaged.
const damagedSuffix = ".damaged"

// rewrite writes a segment's last whole batch once more, and zeros over what
// stands behind it. A sync alone isn't enough: after one that failed the kernel
// takes the pages for written, and only a new write has them go to the disk.
// Nothing that was ever synced and is whole is changed.
func (w written) rewrite(f types.WritableFile) error {
	torn := bytes.TrimRight(w.data[w.end:], "\x00")
	clear(torn)
	if _, err := f.WriteAt(w.data[w.begin:w.end+len(torn)], int64(w.begin)); err != nil {
		return err
	}
	return f.Sync()
}

// seal notes what the segment itself says.
func seal(state *types.PersistentState, tail *types.SegmentInfo, w written) {
	tail.SealTime = tail.CreateTime // raft-wal wants it set, and uses it for its statistics alone
	tail.IndexStart = uint64(w.index)
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
	begin, end int    // of its last batch; 0 for none
	entries    uint64 // how many, in all
	index      int    // the offset of the index, 0 where it isn't sealed
	data       []byte // the segment
}

var errDamagedLog = errors.New("the log is damaged before its end")

// scan reads a segment batch by batch. One that isn't whole is refused where
// more follows: only the last can have been under way, anything else was
// acknowledged, and to cut the log there would forget it.
func scan(segment []byte) (whole written, err error) {
	for {
		next, ok := whole.next(segment)
		if !ok {
			if isFrame(segment, next.end) || wholeBehind(segment, whole.end) {
				err = errDamagedLog
			}
			return whole, err
		}
		whole = next
	}
}

// next reads the batch behind; it is ok where its commit is there and its CRC
// holds. Without a commit its end is 0.
func (w written) next(segment []byte) (written, bool) {
	next := written{begin: w.end, entries: w.entries}
	at := max(next.begin, walHeader)
	for isFrame(segment, at) {
		number := binary.LittleEndian.Uint32(segment[at+4:])
		if segment[at] == walCommit {
			next.end = at + walFrame
			return next, at > next.begin && crc32.Checksum(segment[next.begin:at], crc32.MakeTable(crc32.Castagnoli)) == number
		}
		if segment[at] == walEntry {
			next.entries++
		} else {
			next.index = at + walFrame
		}
		at += walFrame + (int(number)+7)/8*8
	}
	return next, false
}

func isFrame(segment []byte, at int) bool {
	return at > 0 && at+walFrame <= len(segment) && segment[at] >= walEntry && segment[at] <= walCommit
}

// wholeBehind looks for a batch that is whole anywhere behind an offset: the
// type or length of a frame that is damaged hides where the next one begins.
func wholeBehind(segment []byte, offset int) bool {
	_, found := newestBehind(segment, offset)
	return found
}

// newestBehind is the highest index of an entry in such batches.
func newestBehind(segment []byte, offset int) (newest uint64, found bool) {
	for at := max(offset, walHeader) + walFrame; at < len(segment); at += walFrame {
		if _, ok := (written{end: at}).next(segment); ok {
			newest, found = max(newest, newestIn(segment[at:])), true
		}
	}
	return newest, found
}

// newestIn is the highest index of an entry up to the end of a batch that is whole.
func newestIn(batch []byte) (newest uint64) {
	for at := 0; batch[at] != walCommit; at += walFrame + (int(binary.LittleEndian.Uint32(batch[at+4:]))+7)/8*8 {
		if batch[at] == walEntry { // raft-wal's codec begins with the index
			index, _ := binary.Uvarint(batch[at+walFrame:])
			newest = max(newest, index)
		}
	}
	return newest
}
