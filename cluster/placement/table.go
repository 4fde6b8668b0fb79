package placement

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// Format is the version of the table's stored form.
	Format = 1
	// MaxVoters is how many voters a partition gets where there are nodes enough.
	MaxVoters = 3

	maxPartitions = 1024
	// maxGone bounds the memory of server ids that may not return. Where disks
	// are wiped at every restart it would grow for ever.
	maxGone = 256
)

// Table is what the cluster has decided: its nodes, and who should vote in
// which partition. It is a record of partition 0. A Table is never changed;
// what changes it returns a copy with a higher Version.
type Table struct {
	ClusterID  string
	Version    int64 // rises by one with each change
	Partitions int
	Nodes      []Node     // sorted by ID
	Voters     [][]string // a partition's desired voters: server ids of Nodes, sorted, at most MaxVoters; empty until decided
	Gone       []string   // server ids that were replaced or forgotten and may not return, oldest first
}

// Node is a member of the cluster.
type Node struct {
	ID      string // its name, chosen by the operator
	Server  string // ID@incarnation: its Raft server id; another disk is another server
	Addr    string // host:port
	Leaving bool   // an operator removes it: it gives its places away
}

// New founds a cluster of one node, the only voter of every partition.
func New(clusterID string, partitions int, first Node) (*Table, error) {
	t := &Table{ClusterID: clusterID, Version: 1, Partitions: partitions, Nodes: []Node{first}}
	for range min(partitions, maxPartitions) {
		t.Voters = append(t.Voters, []string{first.Server})
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("couldn't found the cluster: %w", err)
	}
	return t, nil
}

// Node returns the member with this node id.
func (t *Table) Node(id string) (Node, bool) {
	i, ok := t.find(id)
	if !ok {
		return Node{}, false
	}
	return t.Nodes[i], true
}

// Server returns the member with this server id. A server id that was replaced
// has none, even if its node id is a member's.
func (t *Table) Server(server string) (Node, bool) {
	id, _, _ := strings.Cut(server, "@")
	n, ok := t.Node(id)
	return n, ok && n.Server == server
}

// Has tells whether the server is a member's.
func (t *Table) Has(server string) bool {
	_, ok := t.Server(server)
	return ok
}

// Stays tells whether the server is a member's that isn't leaving.
func (t *Table) Stays(server string) bool {
	n, ok := t.Server(server)
	return ok && !n.Leaving
}

func (t *Table) find(id string) (int, bool) {
	return slices.BinarySearchFunc(t.Nodes, id, func(n Node, id string) int { return strings.Compare(n.ID, id) })
}

// next is a copy to change, one version on.
func (t *Table) next() *Table {
	c := *t
	c.Version++
	c.Nodes = slices.Clone(t.Nodes)
	c.Gone = slices.Clone(t.Gone)
	c.Voters = make([][]string, len(t.Voters))
	for p, voters := range t.Voters {
		c.Voters[p] = slices.Clone(voters)
	}
	return &c
}

// bury notes that a server id may not return.
func (t *Table) bury(server string) {
	t.Gone = append(t.Gone, server)
	if extra := len(t.Gone) - maxGone; extra > 0 {
		t.Gone = slices.Delete(t.Gone, 0, extra)
	}
}
