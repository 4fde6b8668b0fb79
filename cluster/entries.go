package cluster

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/segment"
)

// EntriesAfter gives the entries of a partition's Raft log behind an index, in the data
// directory of a node that doesn't run. It changes nothing. Whether the newest of them were
// acknowledged only the other nodes know. Where the log is damaged it gives those before
// the damage, and an error.
func EntriesAfter(dir string, partition int, after uint64, give func(entry []byte) error) error {
	logs := filepath.Join(groupDir(dir, partition), logDir)
	state, err := listedSegments(logs)
	if err != nil {
		return err
	}
	for _, s := range state.Segments {
		if !s.SealTime.IsZero() && s.MaxIndex <= after {
			continue
		}
		data, err := os.ReadFile(filepath.Join(logs, segment.FileName(s)))
		if os.IsNotExist(err) && s.SealTime.IsZero() { // raft-wal makes it
			continue
		}
		if err != nil {
			return err
		}
		whole, damage := scan(data)
		err = entriesIn(data[:whole.end], func(l *raft.Log) error {
			if l.Type != raft.LogCommand || l.Index <= after || l.Index < s.MinIndex || !s.SealTime.IsZero() && l.Index > s.MaxIndex {
				return nil
			}
			return give(l.Data)
		})
		if err == nil {
			err = damage
		}
		if err != nil {
			return fmt.Errorf("%s: %w", segment.FileName(s), err)
		}
	}
	return nil
}

// entriesIn gives the entries of whole batches.
func entriesIn(batches []byte, give func(*raft.Log) error) error {
	var codec wal.BinaryCodec
	for at := walHeader; at < len(batches); {
		size := int(binary.LittleEndian.Uint32(batches[at+4:]))
		if batches[at] == walEntry {
			l := new(raft.Log)
			if err := codec.Decode(batches[at+walFrame:at+walFrame+size], l); err != nil {
				return err
			}
			if err := give(l); err != nil {
				return err
			}
		}
		at += walFrame
		if batches[at-walFrame] != walCommit { // whose number is a checksum
			at += (size + 7) / 8 * 8
		}
	}
	return nil
}
