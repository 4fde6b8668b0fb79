package mesh

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// State is what gossip says of a node. Suspicion isn't told: who is suspected of
// having died is Alive until the others agree that it has.
type State string

const (
	Alive State = "alive"
	Dead  State = "dead" // it stopped answering
	Left  State = "left" // it said goodbye
)

// Member is a node as gossip knows it.
type Member struct {
	NodeID, ServerID string
	Addr             string // HOST:PORT to dial, as the node advertises it
	ClusterID        string // empty before it belongs to a cluster
	Expect           int    // with how many nodes it wants to found one
	State            State
	Since            time.Time // when the state became so, as seen from here
	Self             bool
	Beats            bool // it has a BeatLayer, which earlier versions lack
	// Keys is another text where the node has other keys than before; "" where it doesn't say.
	Keys string

	gossip string // IP:PORT that memberlist knows it by
}

// members is what memberlist tells us of the nodes. It keeps the dead ones,
// which memberlist forgets after half a minute. memberlist calls it under a lock
// of its own, so nothing here may call memberlist.
type members struct {
	log     *slog.Logger
	now     func() time.Time
	changed chan struct{} // holds one: something has changed since it was read

	mu      sync.Mutex
	own     meta
	encoded []byte // own, as it is gossiped
	all     map[string]Member
}

// setOwn changes what we tell of ourselves; what doesn't fit changes nothing. What others can
// do without gives way first.
func (t *members) setOwn(change func(*meta)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.own
	change(&own)
	encoded, err := own.encode()
	if err != nil && own.Keys != "" {
		own.Keys = ""
		encoded, err = own.encode()
	}
	if err != nil {
		return err
	}
	t.own, t.encoded = own, encoded
	return nil
}

func (t *members) list() []Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.all), func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.NodeID, b.NodeID), cmp.Compare(a.ServerID, b.ServerID))
	})
}

func (t *members) get(serverID string) (Member, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.all[serverID]
	return m, ok
}

// lost forgets who went before the given time, and returns the addresses of the
// dead at which nobody else answers.
func (t *members) lost(forget time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	inUse := map[string]bool{}
	for id, m := range t.all {
		if m.State == Alive {
			inUse[m.Addr] = true
		} else if m.Since.Before(forget) {
			delete(t.all, id)
		}
	}
	var addrs []string
	for _, m := range t.all {
		if m.State == Dead && !inUse[m.Addr] {
			addrs = append(addrs, m.Addr)
		}
	}
	return addrs
}

func (t *members) notify() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// NotifyJoin, NotifyUpdate and NotifyLeave are memberlist's events.
func (t *members) NotifyJoin(n *memberlist.Node) {
	if m, ok := t.put(n, Alive); ok && !m.Self {
		t.log.Info("a node joined", "node", m.NodeID, "server", m.ServerID, "addr", m.Addr)
	}
}

func (t *members) NotifyUpdate(n *memberlist.Node) { t.put(n, Alive) }

func (t *members) NotifyLeave(n *memberlist.Node) {
	if about, err := decodeMeta(n.Meta); err == nil && about.Leaving {
		if m, ok := t.put(n, Left); ok && !m.Self {
			t.log.Info("a node left", "node", m.NodeID, "server", m.ServerID)
		}
	} else if m, ok := t.put(n, Dead); ok {
		t.log.Warn("a node stopped answering", "node", m.NodeID, "server", m.ServerID, "addr", m.Addr)
	}
}

// put notes what was told of a node that was accepted.
func (t *members) put(n *memberlist.Node, s State) (Member, bool) {
	about, err := decodeMeta(n.Meta)
	if err != nil {
		return Member{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m := Member{
		NodeID: about.Node, ServerID: about.Server, Addr: about.Addr,
		ClusterID: about.Cluster, Expect: about.Expect,
		State: s, Since: t.now(), Self: about.Server == t.own.Server, Beats: about.Beats, Keys: about.Keys, gossip: n.Address(),
	}
	before, known := t.all[m.ServerID]
	if !known && s != Alive { // one that was refused, or is forgotten
		return Member{}, false
	}
	if known && before.State == s {
		m.Since = before.Since
	}
	t.all[m.ServerID] = m
	t.notify()
	return m, true
}

// NodeMeta is memberlist's question for our metadata. Its other questions are
// for messages of our own, of which there are none.
func (t *members) NodeMeta(int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.encoded
}

func (t *members) NotifyMsg([]byte)                {}
func (t *members) GetBroadcasts(int, int) [][]byte { return nil }
func (t *members) LocalState(bool) []byte          { return nil }
func (t *members) MergeRemoteState([]byte, bool)   {}

// NotifyAlive decides whether a node that is said to be alive is one of ours.
// memberlist logs the error.
func (t *members) NotifyAlive(n *memberlist.Node) error {
	about, err := decodeMeta(n.Meta)
	if err != nil {
		return err
	}
	if about.Server != n.Name {
		return errMeta
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if about.Server == t.own.Server {
		return nil
	}
	if err := t.foreign(about); err != nil {
		if _, known := t.all[about.Server]; known { // it joined before it belonged to a cluster
			delete(t.all, about.Server)
			t.notify()
		}
		return err
	}
	return t.taken(about, n.Address())
}

// NotifyMerge decides, when one node joins by another, whether the two belong
// together. Both ask; an error fails the Join.
func (t *members) NotifyMerge(peers []*memberlist.Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range peers {
		about, err := decodeMeta(n.Meta)
		if err != nil || n.State == memberlist.StateDead || n.State == memberlist.StateLeft {
			continue
		}
		if err := t.foreign(about); err != nil {
			return err
		}
		if self := t.all[t.own.Server]; about.Node == t.own.Node && about.Server != t.own.Server && n.Address() != self.gossip {
			return takenBy(about.Node, about.Server, about.Addr)
		}
	}
	return nil
}

// foreign reports a node of another cluster; it is called under the lock.
func (t *members) foreign(about meta) error {
	if t.own.Cluster == "" || about.Cluster == "" || t.own.Cluster == about.Cluster {
		return nil
	}
	return fmt.Errorf("%s at %s belongs to cluster %s, not to %s", about.Server, about.Addr, about.Cluster, t.own.Cluster)
}

// taken reports a node whose id another server has that is alive elsewhere: who
// was there first keeps it. On the same address the other must be gone, since
// an address has one listener: a disk was wiped, and gossip hasn't noticed yet.
func (t *members) taken(about meta, addr string) error {
	for _, m := range t.all {
		if m.State == Alive && m.NodeID == about.Node && m.ServerID != about.Server && m.gossip != addr {
			return takenBy(about.Node, m.ServerID, m.Addr)
		}
	}
	return nil
}

func takenBy(node, server, addr string) error {
	return fmt.Errorf("the node id %s is taken: %s at %s has it", node, server, addr)
}
