package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft-wal/metadb"

	"ubl/durable"
)

// A replica whose wal-meta.db is damaged no longer knows its log: nothing else says which
// segments belong to it. It is rebuilt from its peers. The log is kept as
// raft/N/log.damaged, and the replica begins with an empty one and no snapshot.
//
// It stays the same voter, since all that Raft must not forget is still there:
//
//	its term and vote    in raft/N/vote. So it never votes twice in a term, and refuses
//	                     what a leader of an earlier term sends it.
//	what it has stored   raft/N/acked says up to where, and is first moved to the newest
//	                     entry of log, snapshot and data. Until a leader has sent all of that
//	                     again the replica neither votes nor stands (see promise.go).
//	                     So it elects nobody who lacks an entry that counted on it.
//	the configuration    isn't needed: without one Raft waits for a leader, and doesn't
//	                     stand. An old one could make it elect itself.
//
// Where the logs of most replicas are lost at once nobody can be elected, and an operator
// decides (the runbook, UBLLogLost).
//
// The only replica of a partition isn't rebuilt, nor one whose raft/N/vote or raft/N/acked
// is gone too. It stays closed, since it could vote twice.

// openFiles opens what Raft keeps, and rebuilds the replica where that is needed and safe.
func (g *group) openFiles() (*files, error) {
	n := g.node
	f, err := openFiles(n.opts.Dir, n.server, g.partition, n.raftLog)
	damage, ok := errors.AsType[logMetaDamage](err)
	if ok {
		if err := g.rebuild(damage); err != nil {
			return nil, fmt.Errorf("%w; the replica stays closed, since it could vote twice: %w", damage, err)
		}
		f, err = openFiles(n.opts.Dir, n.server, g.partition, n.raftLog)
	}
	if err == nil && f.ballots.differed != nil {
		n.log.Warn("a replica's term and vote were taken from the copy that is sound or newer", "partition", g.partition, "cause", f.ballots.differed)
	}
	if err == nil && f.promise.remade {
		n.log.Warn("the mark of what a replica had acknowledged was damaged, and was made again from its log", "partition", g.partition)
	}
	return f, err
}

func (g *group) rebuild(damage logMetaDamage) error {
	n := g.node
	if !n.hasPeers(g.partition) {
		return errors.New("no other node has its data; restore a backup")
	}
	kept, err := beginAgain(n.opts.Dir, n.server, g.partition, n.engine.Applied(g.partition))
	if err != nil {
		return err
	}
	n.spoil(g.partition, damage)
	n.log.Error("a replica's log can't be read; the replica is rebuilt from its peers", "partition", g.partition, "kept", kept, "error", damage)
	return nil
}

// hasPeers reports whether others should have a replica of the partition: as the table
// says, or, where partition 0 isn't read yet, if any other node was ever seen.
func (n *Node) hasPeers(partition int) bool {
	others := func(servers []string) bool {
		return slices.ContainsFunc(servers, func(s string) bool { return s != n.server })
	}
	if t := n.storedTable(); t != nil {
		return others(t.Voters[partition])
	}
	return n.sawOthers()
}

// beginAgain puts an empty log in place of one that can't be read, and says where that
// is kept. applied is what the partition's file has. Interrupted, it is done again.
func beginAgain(dir, server string, partition int, applied uint64) (kept string, err error) {
	base := groupDir(dir, partition)
	logs := filepath.Join(base, logDir)
	p, err := readPromise(dir, server, partition)
	if err != nil || !p.known {
		return "", errors.Join(errors.New("what it promised can't be read either"), err)
	}
	if _, err := readVote(filepath.Join(base, voteName), p.salt); err != nil {
		return "", fmt.Errorf("its copy can't be read either: %w", err)
	}
	stored, err := newestStored(base)
	if err != nil {
		return "", err
	}
	if err := durable.CreateMark(p.path, p.salt, max(p.index, stored, applied)); err != nil {
		return "", err
	}
	fresh := logs + ".new"
	if err := makeLogMeta(fresh); err != nil {
		return "", err
	}
	// Without a snapshot before the new log is there: an old configuration would be in it.
	if err := errors.Join(setAside(logs, logs+damagedSuffix), os.RemoveAll(filepath.Join(base, snapshotsDir)), durable.Sync(base)); err != nil {
		return "", err
	}
	return logs + damagedSuffix, errors.Join(os.Rename(fresh, logs), durable.Sync(base))
}

// makeLogMeta makes the directory of a log that has no segment yet.
func makeLogMeta(logs string) error {
	if err := os.RemoveAll(logs); err != nil {
		return err
	}
	if err := os.Mkdir(logs, 0o700); err != nil {
		return err
	}
	meta := new(metadb.BoltMetaDB)
	_, err := meta.Load(logs)
	return errors.Join(err, meta.Close(), durable.Sync(logs))
}

// setAside renames a directory in place of what was set aside before; one that is empty
// or missing has been set aside already.
func setAside(dir, as string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return os.Remove(dir)
	}
	return errors.Join(os.RemoveAll(as), os.Rename(dir, as))
}

// newestStored is the newest entry that the files of a group have, in a snapshot or in
// the log's newest segment, which has the highest id.
func newestStored(base string) (uint64, error) {
	var stored, newest uint64
	snapshots, err := filepath.Glob(filepath.Join(base, snapshotsDir, "*-*-*"))
	if err != nil {
		return 0, err
	}
	for _, path := range snapshots { // named by term, index and time
		var term, index uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "%d-%d-", &term, &index); err == nil {
			stored = max(stored, index)
		}
	}
	segments, err := filepath.Glob(filepath.Join(base, logDir, "*.wal"))
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	for _, path := range segments {
		var begin, id uint64
		if _, err := fmt.Sscanf(filepath.Base(path), "%020d-%016x.wal", &begin, &id); err != nil || id < newest {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		_, whole, seen, _ := reach(data, begin)
		newest, last = id, max(whole, seen)
	}
	return max(stored, last), nil
}
