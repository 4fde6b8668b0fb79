package cluster

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"ubl/storage"
)

// What a node alone has written becomes entry 1 of term 1.
const (
	firstIndex = 1
	firstTerm  = 1
)

// found makes a cluster of one out of the data of a node alone, or of none.
// cluster.json comes last: interrupted, it begins anew and finds the data as it
// was.
func (n *Node) found() error {
	step := n.opts.step()
	if err := os.RemoveAll(filepath.Join(n.opts.Dir, raftDir)); err != nil {
		return err
	}
	step("found: cleared")
	store, err := storage.Open(n.opts.Dir, n.opts.plainStorage())
	if err != nil {
		return err
	}
	err = store.MarkApplied(firstIndex)
	step("found: marked")
	for p := 0; err == nil && p < store.Partitions(); p++ {
		if err = n.foundPartition(store, p); err != nil {
			err = fmt.Errorf("couldn't make the first snapshot of partition %d: %w", p, err)
		}
		step("found: snapshot")
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	id, err := newClusterID(n.opts.Random)
	if err != nil {
		return err
	}
	member := &membership{Format: membershipFormat, ClusterID: id, NodeID: n.opts.NodeID, ServerID: n.server}
	if err := member.write(n.opts.Dir); err != nil {
		return err
	}
	n.mu.Lock()
	n.member = member
	n.mu.Unlock()
	step("found: member")
	n.log.Info("founded a cluster", "cluster_id", id, "node_id", n.opts.NodeID)
	return nil
}

// foundPartition writes what Raft would have of a partition, had it been there
// from the beginning: a term, a snapshot at index 1, and an empty log. A log
// that starts at 1 would not do: a newcomer would replay it onto nothing.
func (n *Node) foundPartition(store *storage.Engine, partition int) error {
	f, err := openFiles(n.opts.Dir, n.server, partition, hclog.NewNullLogger())
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.log.SetUint64([]byte("CurrentTerm"), firstTerm); err != nil {
		return err
	}
	snapshot, err := store.Snapshot(partition)
	if err != nil {
		return err
	}
	defer snapshot.Release()
	alone := raft.Configuration{Servers: []raft.Server{{
		Suffrage: raft.Voter, ID: raft.ServerID(n.server), Address: raft.ServerAddress(n.server),
	}}}
	_, transport := raft.NewInmemTransport(raft.ServerAddress(n.server))
	defer transport.Close()
	sink, err := f.snapshots.Create(raft.SnapshotVersionMax, firstIndex, firstTerm, alone, firstIndex, transport)
	if err != nil {
		return err
	}
	return persist(snapshot, sink)
}

// persist writes a snapshot into Raft's store, whole or not at all.
func persist(s *storage.Snapshot, sink raft.SnapshotSink) error {
	if _, err := s.WriteTo(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func newClusterID(random io.Reader) (string, error) {
	var id [8]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", fmt.Errorf("couldn't draw a cluster id: %w", err)
	}
	return "c-" + hex.EncodeToString(id[:]), nil
}
