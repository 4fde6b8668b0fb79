package storage

import (
	"context"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// note is a small record of the partition itself, beside the groups' data: the
// cluster's table is one. It has a version that rises by one each time.
type note struct {
	epoch int64
	name  string
	from  int64 // the version it replaces, 0 where there is none
	value []byte
}

const maxNoteName = 64

func noteKey(name string) []byte { return append([]byte("note:"), name...) }

// PutNote replaces a note of a partition that this node leads, if its version
// is still from; else it fails with a conflict. It waits until that is durable.
func (e *Engine) PutNote(ctx context.Context, partition int, name string, from int64, value []byte) error {
	if name == "" || len(name) > maxNoteName {
		return ubl.Errorf(ubl.CodeInternal, "a note's name is not well formed")
	}
	done := make(chan error, 1)
	it := item{
		note: &note{name: name, from: from, value: value},
		size: len(value), settled: func(err error) { done <- err },
	}
	if !e.partitions[partition].queue.put(it, e.opts.QueueBytes) {
		return errClosed()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return unavailable("the request ended before the note was durable", ctx.Err())
	}
}

// Note reads a note and its version; 0 where there is none. It may be behind
// what the partition's leader has.
func (e *Engine) Note(partition int, name string) (value []byte, version int64, err error) {
	defer guard(&err)
	tx, err := e.partitions[partition].beginRead()
	if err != nil {
		return nil, 0, err
	}
	defer tx.Rollback()
	value, version, err = readNote(tx, name)
	return append([]byte(nil), value...), version, err
}

func readNote(tx *bolt.Tx, name string) ([]byte, int64, error) {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return nil, 0, damaged("a bucket is missing")
	}
	stored, err := getStored(meta, noteKey(name))
	if err != nil || stored == nil {
		return nil, 0, err
	}
	if len(stored) < 8 {
		return nil, 0, unreadable(damaged("a note is too short"))
	}
	return stored[8:], int64(binary.BigEndian.Uint64(stored)), nil
}

// addNote puts a note if epoch and version are as it expects.
func (w *writer) addNote(n *note, epoch int64) (refusal, failure error) {
	if n.epoch != epoch {
		return conflict("the epoch"), nil
	}
	if n.name == "" || len(n.name) > maxNoteName {
		return ubl.Errorf(ubl.CodeInternal, "a note's name is not well formed"), nil
	}
	_, version, err := readNote(w.tx, n.name)
	if err != nil {
		return nil, err
	}
	if version != n.from {
		return conflict("the note's version"), nil
	}
	value := append(binary.BigEndian.AppendUint64(nil, uint64(version+1)), n.value...)
	key := noteKey(n.name)
	if err := w.tx.Bucket(metaBucket).Put(key, appendStored(nil, key, value)); err != nil {
		return nil, fmt.Errorf("couldn't put a note: %w", err)
	}
	return nil, nil
}
