//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// The write-ahead log's segments (raft-wal, format 0): a header of 32 bytes,
// then frames of 8 bytes and their payload, padded to 8. A commit frame bears a
// CRC of everything behind the commit before it.
const (
	segmentHeader = 32
	frameHeader   = 8
	frameEntry    = 1
	frameCommit   = 3
	sector        = 512
)

func needsLog(n *node) string {
	if n.world.alone {
		return "it has no write-ahead log"
	}
	return ""
}

// tornWrite kills the process and leaves behind the end of its logs what a
// power cut leaves of a write under way: some of its sectors. What was synced
// is not touched.
func tornWrite(_ context.Context, n *node, draw *rand.Rand) (func() error, error) {
	n.kill()
	for p := range partitions {
		segment, err := newestSegment(filepath.Join(n.data(), "raft", fmt.Sprint(p), "log"))
		if err == nil && segment != "" && draw.IntN(3) > 0 {
			err = tear(segment, draw)
		}
		if err != nil {
			return nil, err
		}
	}
	return func() error { return n.start() }, nil
}

// newestSegment is the one that is written to; "" where there is no log. The
// names sort by the index of their first entry.
func newestSegment(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	if err != nil || len(names) == 0 {
		return "", err
	}
	return slices.Max(names), nil
}

// tear writes a part of a batch behind the last commit.
func tear(path string, draw *rand.Rand) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	end, err := lastCommit(file)
	info, err2 := file.Stat()
	if err := errors.Join(err, err2); err != nil || end == 0 { // 0: nothing was committed to it yet
		return err
	}
	room := info.Size() - end
	torn := tornBatch(draw)
	if int64(len(torn)) > room {
		return nil
	}
	// Only one batch can have been under way: what an earlier tear left goes.
	if err := clearFrom(file, end); err != nil {
		return err
	}
	if _, err := file.WriteAt(torn, end); err != nil {
		return err
	}
	return file.Sync()
}

// tornBatch is a batch of entries with its commit frame, of which some sectors
// were written and others not.
func tornBatch(draw *rand.Rand) []byte {
	var batch []byte
	for range 1 + draw.IntN(4) {
		size := 8 * (1 + draw.IntN(200))
		batch = append(batch, frameEntry, 0, 0, 0)
		batch = binary.LittleEndian.AppendUint32(batch, uint32(size))
		for range size {
			batch = append(batch, byte(draw.Uint32()))
		}
	}
	sum := crc32.Checksum(batch, castagnoli())
	batch = append(batch, frameCommit, 0, 0, 0)
	batch = binary.LittleEndian.AppendUint32(batch, sum)
	if draw.IntN(2) == 0 { // cut off, in the middle of a frame or of a header
		return batch[:1+draw.IntN(len(batch)-1)]
	}
	missing := draw.IntN((len(batch) + sector - 1) / sector)
	clear(batch[missing*sector : min(len(batch), (missing+1)*sector)])
	return batch
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// clearFrom zeroes what isn't zero, up to the first block that is: segments are
// allocated ahead and written from the front.
func clearFrom(file *os.File, from int64) error {
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := file.ReadAt(block, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.Equal(block[:n], zeros[:n]) {
			return nil
		}
		if _, err := file.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += int64(n)
	}
}

// lastCommit is the offset behind the last commit frame that holds.
func lastCommit(file io.ReaderAt) (end int64, err error) {
	var head [frameHeader]byte
	begin := int64(0) // of the batch
	for at := int64(segmentHeader); ; {
		if _, err := file.ReadAt(head[:], at); errors.Is(err, io.EOF) {
			return end, nil
		} else if err != nil {
			return 0, err
		}
		number := binary.LittleEndian.Uint32(head[4:])
		switch head[0] {
		case frameEntry, 2: // 2 is the index that seals a segment
			at += frameHeader + (int64(number)+7)/8*8
		case frameCommit:
			batch := make([]byte, at-begin)
			if _, err := file.ReadAt(batch, begin); err != nil {
				return 0, err
			}
			if crc32.Checksum(batch, castagnoli()) != number {
				return end, nil
			}
			at += frameHeader
			begin, end = at, at
		default:
			return end, nil
		}
	}
}
