package main

import (
	"errors"
	"fmt"

	"ubl"
	"ubl/storage"
)

// leastSpace is how many bytes must be left on the disk for writes to find room, with
// the largest transaction and a few of its neighbours. Below it a node is degraded.
const leastSpace = 64 << 20

// serves says why balancers should send no request here. A node alone always takes
// them: nobody else has its data, and reads work where writes don't.
func (n *node) serves() error {
	if n.cluster != nil {
		if err := n.cluster.Serves(); err != nil {
			return err
		}
		return n.signsAsOthers()
	}
	return nil
}

// ready says why not every request can be served now. A node that serves and isn't
// ready is degraded.
func (n *node) ready() error {
	if n.cluster != nil {
		if err := n.cluster.Ready(); err != nil {
			return err
		}
		if err := n.halted(); err != nil {
			return err
		}
		if err := n.differs().degraded(); err != nil {
			return err
		}
		if err := n.signsAsOthers(); err != nil {
			return err
		}
	} else if err := n.writable(); err != nil {
		return err
	}
	if err := n.sound(); err != nil {
		return err
	}
	if free, _, ok := n.store.Space(); ok && free < leastSpace {
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: the disk has less than %d MiB left, and writes will soon be refused: free some space", leastSpace>>20)
	}
	return nil
}

// sound says that damage was met in what is stored here, and not mended since.
func (n *node) sound() error {
	spoiled := 0
	for _, s := range n.store.Stats().Partitions {
		if s.Spoiled {
			spoiled++
		}
	}
	if spoiled > 0 {
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: stored data is damaged in %s, and requests that meet it fail: the log has the places, the runbook says what to do (UBLDamage)", plural(spoiled, "partition"))
	}
	return nil
}

// halted says which of this node's replicas take no part. Others serve their
// partitions, as long as enough of them are left.
func (n *node) halted() error {
	halted, closed := 0, []error(nil)
	for _, p := range n.cluster.Figures() {
		switch {
		case errors.Is(p.Unopened, storage.ErrDamaged):
			return ubl.Errorf(ubl.CodeUnavailable, "degraded: what this node's disk has of partition %d is damaged, and its replica isn't opened: the log has the cause, the runbook says what to do (UBLReplicaHalted)", p.Partition).
				Because(p.Unopened)
		case p.Unopened != nil:
			closed = append(closed, p.Unopened)
		case p.Halted:
			halted++
		}
	}
	switch {
	case len(closed) > 0 && n.cluster.Full():
		return diskFull(errors.Join(closed...))
	case len(closed) > 0:
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: %s of this node can't be opened: the log has the cause, the runbook says what to do (UBLReplicaHalted)", plural(len(closed), "replica")).
			Because(errors.Join(closed...))
	case halted > 0:
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: %s of this node stopped and will be opened again: look at its disk and its log", plural(halted, "replica"))
	}
	return nil
}

// writable says why a node alone takes no writes.
func (n *node) writable() error {
	var full, failed []error
	for i, s := range n.store.Stats().Partitions {
		switch {
		case s.Full:
			full = append(full, fmt.Errorf("partition %d: %w", i, storage.ErrFull))
		case s.Failed != nil:
			failed = append(failed, fmt.Errorf("partition %d: %w", i, s.Failed))
		}
	}
	switch {
	case len(failed) > 0:
		return ubl.Errorf(ubl.CodeUnavailable, "degraded: %s take no writes until the server is restarted: look at the disk first", plural(len(failed), "partition")).
			Because(errors.Join(failed...))
	case len(full) > 0:
		return diskFull(errors.Join(full...))
	}
	return nil
}

func diskFull(cause error) error {
	return ubl.Errorf(ubl.CodeUnavailable, "degraded: the disk is full, writes are refused: free some space").Because(cause)
}
