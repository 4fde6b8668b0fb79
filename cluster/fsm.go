package cluster

import (
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"ubl/storage"
)

// fsm applies what Raft has committed to the partition's file. Raft calls it
// from one goroutine.
type fsm struct{ g *group }

var _ raft.BatchingFSM = fsm{}

// Apply implements raft.FSM.
func (f fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch implements raft.BatchingFSM. The answer to a command is []error,
// one for each of its operations, or an error.
func (f fsm) ApplyBatch(logs []*raft.Log) []any {
	answers := make([]any, len(logs))
	entries := make([]storage.Entry, 0, len(logs))
	at := make([]int, 0, len(logs))
	for i, l := range logs {
		switch l.Type {
		case raft.LogConfiguration:
			f.g.configIndex.Store(l.Index)
		case raft.LogCommand:
			entries = append(entries, storage.Entry{Index: l.Index, Term: l.Term, Data: l.Data})
			at = append(at, i)
			f.g.grow(int64(len(l.Data)))
		}
	}
	if len(entries) == 0 {
		return answers
	}
	results, err := f.g.node.engine.Apply(f.g.partition, entries)
	if err != nil {
		f.g.halt(err)
	}
	for n, i := range at {
		if err != nil {
			answers[i] = err
		} else {
			answers[i] = results[n]
		}
	}
	return answers
}

// Snapshot implements raft.FSM. It only takes hold of the moment.
func (f fsm) Snapshot() (raft.FSMSnapshot, error) {
	s, err := f.g.node.engine.Snapshot(f.g.partition)
	if err != nil {
		return nil, err
	}
	return snapshot{s, f.g.node.opts}, nil
}

// Restore implements raft.FSM: a leader has sent its snapshot.
func (f fsm) Restore(r io.ReadCloser) error {
	defer r.Close()
	began := f.g.node.opts.Now()
	err := f.g.node.engine.Install(f.g.partition, r)
	f.g.node.installed(f.g.partition)
	f.g.node.opts.Installed(f.g.node.opts.Now().Sub(began), err)
	if err != nil {
		return fmt.Errorf("couldn't take over the leader's snapshot: %w", err)
	}
	meta, err := f.g.files.newest()
	if err == nil && meta != nil {
		f.g.files.promise.covered(meta.Index)
		f.g.configIndex.Store(meta.ConfigurationIndex)
	}
	return err
}

type snapshot struct {
	*storage.Snapshot
	opts Options
}

// Persist implements raft.FSMSnapshot. The sink is a local file.
func (s snapshot) Persist(sink raft.SnapshotSink) error {
	began := s.opts.Now()
	err := persist(s.Snapshot, sink)
	s.opts.Snapshotted(s.opts.Now().Sub(began), err)
	return err
}
