package cluster

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// patient keeps Raft's term and vote. Raft ends the whole process when it can't
// write them; a full disk is no reason for that. A replica that waits here
// grants no vote and takes no entries, which is all that it may do.
type patient struct {
	raft.StableStore
	log  *slog.Logger
	stop <-chan struct{}
}

// patientAgain is how often it tries.
const patientAgain = 500 * time.Millisecond

// Set implements raft.StableStore.
func (p patient) Set(key, value []byte) error {
	return p.until(func() error { return p.StableStore.Set(key, value) })
}

// SetUint64 implements raft.StableStore.
func (p patient) SetUint64(key []byte, value uint64) error {
	return p.until(func() error { return p.StableStore.SetUint64(key, value) })
}

func (p patient) until(set func() error) error {
	for told := false; ; told = true {
		err := set()
		if err == nil {
			return nil
		}
		if !told {
			p.log.Error("a replica can't note its term or vote, and waits until it can", "error", err)
		}
		select {
		case <-time.After(patientAgain):
		case <-p.stop:
			runtime.Goexit() // an error would end the process, success would be a lie
		}
	}
}

// watched is a log that tells of each write, and takes its replica out of the
// group when it can't be written: it would only go on to fail, and be elected,
// and fail.
type watched struct {
	*wal.WAL
	promise *promise
	wrote   func(took time.Duration, err error)
	failed  func(error)
}

// StoreLog implements raft.LogStore.
func (w watched) StoreLog(l *raft.Log) error { return w.StoreLogs([]*raft.Log{l}) }

// StoreLogs implements raft.LogStore.
func (w watched) StoreLogs(logs []*raft.Log) error {
	start := time.Now()
	err := w.WAL.StoreLogs(logs)
	w.wrote(time.Since(start), err)
	if err != nil {
		w.failed(err)
	} else if len(logs) > 0 {
		w.promise.stored(logs[len(logs)-1].Index)
	}
	return err
}

// DeleteRange implements raft.LogStore. A leader has the log cut behind what it has
// itself; a mark that stayed ahead would then tell of a loss.
func (w watched) DeleteRange(from, to uint64) error {
	last, err := w.LastIndex()
	if err == nil && to >= last {
		err = w.promise.cut(from - 1)
	}
	if err != nil {
		return err
	}
	return w.WAL.DeleteRange(from, to)
}
