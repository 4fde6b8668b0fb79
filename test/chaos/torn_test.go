//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// sector is what a disk writes whole or not at all.
const sector = 512

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
	err := n.eachLog(func(segment string) error {
		if draw.IntN(3) == 0 {
			return nil
		}
		return tear(segment, draw)
	})
	return func() error { return n.start() }, err
}

// sealedLog kills the process between two steps of its logs: a segment was
// sealed, and the next one isn't there yet.
func sealedLog(_ context.Context, n *node, draw *rand.Rand) (func() error, error) {
	n.kill()
	err := n.eachLog(func(segment string) error {
		if draw.IntN(2) == 0 {
			return nil
		}
		return seal(segment)
	})
	return func() error { return n.start() }, err
}

// eachLog visits the segment that each partition's log is at.
func (n *node) eachLog(visit func(segment string) error) error {
	for p := range partitions {
		segment, err := newestSegment(filepath.Join(n.data(), "raft", fmt.Sprint(p), "log"))
		if err == nil && segment != "" {
			err = visit(segment)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change opens a segment and writes what make makes of it behind its end. A
// segment without a commit, or sealed, is left alone: it isn't being written.
func change(path string, make func(extent) []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	whole, err := scan(file)
	info, err2 := file.Stat()
	if err := errors.Join(err, err2); err != nil || whole.end == 0 || whole.sealed {
		return err
	}
	data := make(whole)
	if int64(len(data)) > info.Size()-whole.end {
		return nil // there is no room for another batch
	}
	return overwrite(file, whole.end, data)
}

// damage flips a byte of a segment's last batch that is whole.
func damage(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	whole, err := scan(file)
	if err != nil || whole.end == 0 || whole.sealed {
		return err
	}
	var b [1]byte
	at := whole.end - 9 // before its commit
	if _, err := file.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 0x10
	return overwrite(file, at, b[:])
}

// tear writes a part of a batch behind the last commit.
func tear(path string, draw *rand.Rand) error {
	return change(path, func(e extent) []byte { return tornBatch(e, draw) })
}

// seal seals a segment as its writer does.
func seal(path string) error {
	return change(path, func(e extent) []byte { return appendCommit(appendIndex(nil, e.entries)) })
}

// tornBatch is a batch of entries with its commit, of which some sectors were
// written and others not. Sometimes it is one that seals the segment.
func tornBatch(e extent, draw *rand.Rand) []byte {
	var batch []byte
	for range 1 + draw.IntN(4) {
		payload := make([]byte, 1+draw.IntN(1600))
		for i := range payload {
			payload[i] = byte(draw.Uint32())
		}
		e.entries = append(e.entries, uint32(e.end)+uint32(len(batch)))
		batch = appendFrame(batch, frameEntry, payload)
	}
	if draw.IntN(4) == 0 {
		batch = appendIndex(batch, e.entries)
		if draw.IntN(2) == 0 {
			return batch // all but the commit
		}
	}
	batch = appendCommit(batch)
	if draw.IntN(2) == 0 { // cut off, in the middle of a frame or of a header
		return batch[:1+draw.IntN(len(batch)-1)]
	}
	missing := draw.IntN((len(batch) + sector - 1) / sector)
	clear(batch[missing*sector : min(len(batch), (missing+1)*sector)])
	return batch
}
