package placement

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrOtherCluster is a node that belongs to another cluster.
	ErrOtherCluster = errors.New("the node belongs to another cluster")
	// ErrOtherPartitions is a node whose data has another number of partitions.
	ErrOtherPartitions = errors.New("the node has another number of partitions")
	// ErrNameTaken is a node id that a living node has already.
	ErrNameTaken = errors.New("a living node has this node id")
	// ErrGone is a server that was replaced or removed. Its node may join again
	// with an empty data directory.
	ErrGone = errors.New("the server was replaced or removed: it can join again only with an empty data directory")
	// ErrUnknownNode is a node id that no member has.
	ErrUnknownNode = errors.New("no node has this node id")
	// ErrLastNode is the last node that isn't leaving.
	ErrLastNode = errors.New("the last node can't leave")
	// ErrBusy is a node that should leave while another does.
	ErrBusy = errors.New("another node is being removed")
	// ErrFew is a node without which too few would stay.
	ErrFew = errors.New("too few nodes would stay")
	// ErrHolds is a node that can't be forgotten, since it isn't leaving, still
	// holds replicas, or may do so in a partition that has no leader.
	ErrHolds = errors.New("the node still holds replicas")
)

// Join is what a node says that wants to be admitted.
type Join struct {
	Node       Node   // Leaving is ignored
	ClusterID  string // empty if it has never been in a cluster
	Partitions int
}

// Admit adds a node or updates the address of a known one. A known node id
// with another incarnation is a wiped disk: the new server takes the old one's
// record and places, and the old one is gone for good. The table itself is
// returned when nothing changes.
func (t *Table) Admit(j Join, v View) (*Table, error) {
	if err := t.admissible(j, v); err != nil {
		return nil, fmt.Errorf("couldn't admit node %q: %w", j.Node.ID, err)
	}
	joins := Node{ID: j.Node.ID, Server: j.Node.Server, Addr: j.Node.Addr}
	i, known := t.find(joins.ID)
	if !known {
		c := t.next()
		c.Nodes = slices.Insert(c.Nodes, i, joins)
		return c, nil
	}
	old := t.Nodes[i]
	if old.Server == joins.Server {
		joins.Leaving = old.Leaving
	}
	if old == joins {
		return t, nil
	}
	c := t.next()
	c.Nodes[i] = joins
	c.succeed(old.Server, joins.Server)
	return c, nil
}

func (t *Table) admissible(j Join, v View) error {
	if err := j.Node.validate(); err != nil {
		return err
	}
	old, known := t.Node(j.Node.ID)
	switch {
	case j.ClusterID != "" && j.ClusterID != t.ClusterID:
		return ErrOtherCluster
	case j.Partitions != t.Partitions:
		return ErrOtherPartitions
	case slices.Contains(t.Gone, j.Node.Server):
		return ErrGone
	case known && old.Server != j.Node.Server && v.Alive[old.Server]:
		return ErrNameTaken
	}
	return nil
}

// succeed gives one server's places to another.
func (t *Table) succeed(old, server string) {
	if old == server {
		return
	}
	t.bury(old)
	for _, voters := range t.Voters {
		if i := slices.Index(voters, old); i >= 0 {
			voters[i] = server
			slices.Sort(voters)
		}
	}
}

// Leave marks a node as leaving: Assign gives its places to others. One leaves at a
// time, and at least [MaxVoters] stay, since with fewer one that is down stops a
// partition. Where keep is above 0 both give way: at least so many stay.
func (t *Table) Leave(nodeID string, keep int) (*Table, error) {
	i, ok := t.find(nodeID)
	if !ok {
		return nil, fmt.Errorf("couldn't remove node %q: %w", nodeID, ErrUnknownNode)
	}
	if t.Nodes[i].Leaving {
		return t, nil
	}
	if err := t.spares(nodeID, keep); err != nil {
		return nil, fmt.Errorf("couldn't remove node %q: %w", nodeID, err)
	}
	c := t.next()
	c.Nodes[i].Leaving = true
	return c, nil
}

func (t *Table) spares(nodeID string, keep int) error {
	stay, busy := 0, false
	for _, n := range t.Nodes {
		switch {
		case n.Leaving:
			busy = true
		case n.ID != nodeID:
			stay++
		}
	}
	switch {
	case stay == 0:
		return ErrLastNode
	case keep == 0 && busy:
		return ErrBusy
	case keep == 0 && stay < MaxVoters, stay < keep:
		return ErrFew
	}
	return nil
}

// Forget strikes a leaving node that holds nothing any more: no place, no
// membership in a partition's configuration and, if it is alive, no open
// replica. Its server may not return.
func (t *Table) Forget(nodeID string, v View) (*Table, error) {
	i, ok := t.find(nodeID)
	if !ok {
		return nil, fmt.Errorf("couldn't forget node %q: %w", nodeID, ErrUnknownNode)
	}
	if n := t.Nodes[i]; !n.Leaving || t.holds(n.Server, v) {
		return nil, fmt.Errorf("couldn't forget node %q: %w", nodeID, ErrHolds)
	}
	c := t.next()
	c.Nodes = slices.Delete(c.Nodes, i, i+1)
	c.bury(t.Nodes[i].Server)
	return c, nil
}

func (t *Table) holds(server string, v View) bool {
	for p, voters := range t.Voters {
		a := v.partition(p)
		if !a.known(v) || slices.Contains(voters, server) || a.member(server) {
			return true
		}
		if v.Alive[server] && slices.Contains(a.Hosts, server) {
			return true
		}
	}
	return false
}
