//go:build linux

package chaos

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// The write-ahead log's segments (raft-wal, format 0): a header of 32 bytes,
// then frames of 8 bytes and their payload, padded to 8. A commit frame bears a
// CRC of everything behind the commit before it. An index frame, with the
// offsets of all entries, stands before a segment's last commit: it seals it.
const (
	segmentHeader = 32
	frameHeader   = 8

	frameEntry  = 1
	frameIndex  = 2
	frameCommit = 3
)

// extent is what a segment holds up to the last commit that is whole.
type extent struct {
	end     int64    // the offset behind it; 0 without any
	entries []uint32 // their offsets
	sealed  bool
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

// scan reads a segment up to its last commit.
func scan(file io.ReaderAt) (whole extent, err error) {
	var head [frameHeader]byte
	now, begin := extent{}, int64(0) // begin is that of the batch
	for at := int64(segmentHeader); ; {
		if _, err := file.ReadAt(head[:], at); errors.Is(err, io.EOF) {
			return whole, nil
		} else if err != nil {
			return whole, err
		}
		number := binary.LittleEndian.Uint32(head[4:])
		switch head[0] {
		case frameEntry:
			now.entries = append(now.entries, uint32(at))
			at += frameSize(number)
		case frameIndex:
			now.sealed = true
			at += frameSize(number)
		case frameCommit:
			batch := make([]byte, at-begin)
			if _, err := file.ReadAt(batch, begin); err != nil {
				return whole, err
			}
			if checksum(batch) != number {
				return whole, nil
			}
			at += frameHeader
			begin, now.end = at, at
			whole = now
		default:
			return whole, nil
		}
	}
}

func frameSize(payload uint32) int64 { return frameHeader + (int64(payload)+7)/8*8 }

func checksum(batch []byte) uint32 {
	return crc32.Checksum(batch, crc32.MakeTable(crc32.Castagnoli))
}

// appendFrame appends a frame with its padding.
func appendFrame(dst []byte, kind byte, payload []byte) []byte {
	dst = append(dst, kind, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, payload...)
	return append(dst, make([]byte, (8-len(payload)%8)%8)...)
}

// appendIndex appends the frame that seals a segment with these entries.
func appendIndex(dst []byte, entries []uint32) []byte {
	var offsets []byte
	for _, offset := range entries {
		offsets = binary.LittleEndian.AppendUint32(offsets, offset)
	}
	return appendFrame(dst, frameIndex, offsets)
}

// appendCommit commits the batch.
func appendCommit(batch []byte) []byte {
	sum := checksum(batch)
	return binary.LittleEndian.AppendUint32(append(batch, frameCommit, 0, 0, 0), sum)
}

// overwrite puts data behind the last commit, in place of what is there: only
// one batch can have been under way, so what an earlier tear left goes.
func overwrite(file *os.File, end int64, data []byte) error {
	if err := clearFrom(file, end); err != nil {
		return err
	}
	if _, err := file.WriteAt(data, end); err != nil {
		return err
	}
	return file.Sync()
}

// clearFrom zeroes up to the first block that is zero: segments are allocated
// ahead and written from the front.
func clearFrom(file *os.File, from int64) error {
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := file.ReadAt(block, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if slices.Equal(block[:n], zeros[:n]) {
			return nil
		}
		if _, err := file.WriteAt(zeros[:n], from); err != nil {
			return err
		}
		from += int64(n)
	}
}
