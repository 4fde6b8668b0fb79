package storage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"ubl/durable"
)

// A snapshot of a partition, version 1: this line, the applied index (8 bytes,
// big-endian), then the partition's file as bbolt writes it.
const snapshotMagic = "ubl partition 1\n"

const installSuffix = ".installing"

// Snapshot is a partition at one moment. Release it.
type Snapshot struct {
	tx      *bolt.Tx
	applied uint64
}

// Snapshot holds the partition as it is now. That is quick; writers go on while
// it is written out, but the file grows meanwhile.
func (e *Engine) Snapshot(partition int) (s *Snapshot, err error) {
	defer guard(&err)
	tx, err := e.partitions[partition].beginRead()
	if err != nil {
		return nil, err
	}
	applied, err := readIndex(tx, appliedKey)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return &Snapshot{tx: tx, applied: applied}, nil
}

// WriteTo writes the snapshot; not to a network, which may be slow.
func (s *Snapshot) WriteTo(w io.Writer) (n int64, err error) {
	defer guard(&err)
	head := binary.BigEndian.AppendUint64([]byte(snapshotMagic), s.applied)
	written, err := w.Write(head)
	if err != nil {
		return int64(written), err
	}
	n, err = s.tx.WriteTo(w)
	return n + int64(written), err
}

// Size is about how many bytes WriteTo writes.
func (s *Snapshot) Size() int64 { return s.tx.Size() }

// Release lets the moment go. It may be called twice.
func (s *Snapshot) Release() {
	_ = s.tx.Rollback() // ErrTxClosed the second time
}

// SnapshotApplied reads the beginning of a snapshot: the index of the newest
// entry in it.
func SnapshotApplied(r io.Reader) (uint64, error) {
	var head [len(snapshotMagic) + 8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, damaged("the snapshot is cut short")
	}
	if string(head[:len(snapshotMagic)]) != snapshotMagic {
		return 0, damaged("this is not a snapshot of a partition")
	}
	return binary.BigEndian.Uint64(head[len(snapshotMagic):]), nil
}

// Install replaces a partition by a snapshot, from the goroutine that applies.
// The file is replaced by one rename: interrupted, it is the old one or the new.
func (e *Engine) Install(partition int, r io.Reader) error {
	p := e.partitions[partition]
	if err := p.install(r); err != nil {
		return fmt.Errorf("couldn't install a snapshot of partition %d: %w", partition, err)
	}
	return nil
}

func (p *partition) install(r io.Reader) error {
	staged := p.path + installSuffix
	if err := p.stageSnapshot(staged, r); err != nil {
		return errors.Join(err, removeIfThere(staged))
	}
	p.opts.Step("install: staged")
	p.applying.Lock()
	defer p.applying.Unlock()
	return p.replace(func() error { return p.rename(staged, "install: renamed") })
}

// stageSnapshot writes, checks and labels the file that is to take the place.
func (p *partition) stageSnapshot(staged string, r io.Reader) error {
	if _, err := SnapshotApplied(r); err != nil {
		return err
	}
	if err := removeIfThere(staged); err != nil {
		return err
	}
	if err := writeFile(staged, r); err != nil {
		return err
	}
	p.opts.Step("install: written")
	// Whole, whatever its size: it takes the place of a file that may be better.
	if err := p.checkCopy(context.Background(), staged); err != nil {
		return err
	}
	return adopt(staged, p.label, p.opts)
}

func writeFile(path string, r io.Reader) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, r); err != nil {
		return err
	}
	return f.Sync()
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Reset empties a partition that this node no longer keeps.
func (e *Engine) Reset(partition int) error {
	p := e.partitions[partition]
	p.applying.Lock()
	defer p.applying.Unlock()
	return p.replace(p.emptyFile)
}

// emptyFile puts an empty file in the place of the partition's, by one rename:
// without any file the whole directory could not be opened.
func (p *partition) emptyFile() error {
	staged := p.path + installSuffix
	if err := removeIfThere(staged); err != nil {
		return err
	}
	if err := writeLabel(staged, p.label, p.opts); err != nil {
		return err
	}
	p.opts.Step("reset: staged")
	return p.rename(staged, "reset: renamed")
}

func (p *partition) rename(staged, step string) error {
	if err := os.Rename(staged, p.path); err != nil {
		return err
	}
	p.opts.Step(step)
	return durable.Sync(filepath.Dir(p.path))
}

// replace closes the file, lets fn put another in its place, and opens that.
// Readers meanwhile find it closed. p.applying is held.
func (p *partition) replace(fn func() error) error {
	if p.state.is() == closed {
		return errClosed()
	}
	p.endTx()
	if p.state.is() == applying {
		p.state.move(idle)
	}
	if !p.lostTx { // else it would wait for a transaction that can't end
		if err := p.database().Close(); err != nil {
			return err
		}
	}
	if err := fn(); err != nil {
		return err
	}
	if err := p.openFile(); err != nil {
		return err
	}
	p.lostTx = false
	return nil
}
