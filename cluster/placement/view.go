package placement

import "slices"

// MaxLag is how many entries behind the commit index a replica may be and still
// count as caught up. Indexes are reported at different moments, and a busy
// partition commits some thousand entries a second: a smaller bound would
// never be met under load. What is missing then is sent in a moment.
const MaxLag = 1000

// View is what the leader of partition 0 knows now.
type View struct {
	// Alive, by server id: gossip says so and the server answers. The server
	// that decides is alive too.
	Alive map[string]bool
	// LongDead, by server id: not alive for longer than the grace period, which
	// the caller measures. It counts only where Alive doesn't say otherwise.
	LongDead map[string]bool
	// Partitions holds what is known of each, in order.
	Partitions []Actual
}

// Actual is what is known of one partition. All but Applied and Hosts comes
// from its leader; without a leader it may be empty. Indexes are Raft's: they
// count configurations too, which a store never sees.
type Actual struct {
	Leader   string            // server id; empty if nobody is known to lead
	Term     uint64            // the leader's
	Config   uint64            // log index of the leader's newest configuration
	Voters   []string          // of that configuration, by server id
	Learners []string          // its non-voters
	Commit   uint64            // the leader's commit index
	Applied  map[string]uint64 // by server id, as last reported; none is as good as 0
	Hosts    []string          // servers that have a replica open, member or not
}

// partition is what is known of p; nothing if the view doesn't reach so far.
func (v View) partition(p int) Actual {
	if p >= len(v.Partitions) {
		return Actual{}
	}
	return v.Partitions[p]
}

// longDead tells whether a server may lose its places.
func (v View) longDead(server string) bool {
	return v.LongDead[server] && !v.Alive[server]
}

// known tells whether the configuration can be believed: who reported it lives
// and votes.
func (a Actual) known(v View) bool {
	return a.Leader != "" && v.Alive[a.Leader] && slices.Contains(a.Voters, a.Leader)
}

func (a Actual) member(server string) bool {
	return slices.Contains(a.Voters, server) || slices.Contains(a.Learners, server)
}

// caughtUp tells whether a replica has nearly all that is committed.
func (a Actual) caughtUp(server string) bool {
	return a.Commit <= MaxLag || a.Applied[server] >= a.Commit-MaxLag
}

// mayVote tells whether a learner may be promoted: caught up, and it has the
// configuration that made it a learner. Few entries may hide a large snapshot;
// who has that configuration has what came before it.
func (a Actual) mayVote(learner string) bool {
	applied := a.Applied[learner]
	return applied > 0 && applied >= a.Config && a.caughtUp(learner)
}

// up tells whether a server can take part in the partition now. One that isn't
// in the table can't: its disk was replaced, and whoever uses its name is an
// impostor.
func (a Actual) up(t *Table, v View, server string) bool {
	return t.Has(server) && v.Alive[server] && (server == a.Leader || slices.Contains(a.Hosts, server))
}
