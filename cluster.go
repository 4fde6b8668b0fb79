package ubl

// ClusterStatus is how a cluster stands, as one of its nodes sees it now. It is
// the form ubl.cluster.status.v1.
//
// A server of one node without a cluster has one node and leads every
// partition; it has no cluster id, terms or indexes.
type ClusterStatus struct {
	// ClusterID was drawn when the cluster was founded; "" without a cluster.
	ClusterID string `json:"cluster_id"`
	// NodeID is who answers.
	NodeID string `json:"node_id"`
	// Nodes are by id, Partitions by number.
	Nodes      []ClusterNode      `json:"nodes"`
	Partitions []ClusterPartition `json:"partitions"`
}

// States of a node, as the others see it. Suspect means that it didn't answer
// for a moment; dead that it didn't for longer; left that it said good-bye.
const (
	NodeAlive   = "alive"
	NodeSuspect = "suspect"
	NodeDead    = "dead"
	NodeLeft    = "left"
)

// ClusterNode is how a node stands.
type ClusterNode struct {
	NodeID string `json:"node_id"`
	// ServerID is the node with the incarnation of its data: a node whose disk
	// was wiped is another server.
	ServerID string `json:"server_id"`
	// Address is where other nodes reach it, as HOST:PORT; "" without a cluster.
	Address string `json:"address"`
	State   string `json:"state"` // one of the four above
	// Leaving is set while its partitions are moved away for good.
	Leaving bool `json:"leaving"`
	// DiskFull is set where its disk has no room, and keeps it from voting.
	DiskFull bool `json:"disk_full,omitempty"`
	// ClockOffset is how far its clock is ahead of the other nodes', in milliseconds.
	ClockOffset int64 `json:"clock_offset_ms,omitempty"`
	// Version is the version of the program that the node runs; "" for a node that doesn't say.
	Version string `json:"version,omitempty"`
	// BackupAt is when the newest backup that was made through it was complete; nil where
	// it knows of none.
	BackupAt *Time `json:"backup_at,omitempty"`
	// Voters is in how many partitions it votes, Leads how many it leads.
	Voters int `json:"voters"`
	Leads  int `json:"leads"`
	// SecretIDs name the keys of the cluster's secret that the node has: it uses
	// the first, and accepts all. Empty where the node doesn't say.
	SecretIDs []string `json:"secret_ids,omitempty"`
	// KeyIDs name the keys of its identity.key likewise: it signs with the first.
	KeyIDs []string `json:"key_ids,omitempty"`
}

// ClusterPartition is how a partition stands.
type ClusterPartition struct {
	Partition int `json:"partition"`
	// Leader is a node id; "" while there is none, and the partition takes no
	// requests. The rest is then what its copies knew last.
	Leader string `json:"leader"`
	Term   int64  `json:"term"`
	// Voters and Learners are node ids, in order. Learners copy and don't vote.
	Voters   []string `json:"voters"`
	Learners []string `json:"learners"`
	// Differ are nodes whose copy holds something else than the others', as far as the
	// digests of their scrubs can be compared.
	Differ []string `json:"differ,omitempty"`
	// CommitIndex is the newest entry of the log that a quorum has.
	CommitIndex int64 `json:"commit_index"`
	// Replicas are the copies that told how far they are, by node id.
	Replicas []ClusterReplica `json:"replicas"`
}

// ClusterReplica is how far a copy of a partition is.
type ClusterReplica struct {
	NodeID string `json:"node_id"`
	// AppliedIndex is the newest entry that the copy holds, Lag how many it is
	// behind the commit index.
	AppliedIndex int64 `json:"applied_index"`
	Lag          int64 `json:"lag"`
	// LogLost is set while its log lacks entries that it had acknowledged: until it has
	// them from a leader it doesn't vote.
	LogLost bool `json:"log_lost,omitempty"`
	// Scrub is what the copy's background check has come to; absent if its node
	// doesn't say.
	Scrub *ClusterScrub `json:"scrub,omitempty"`
}

// ClusterScrub is what the background check of a copy has come to.
type ClusterScrub struct {
	// Bytes are those that the pass under way has read.
	Bytes int64 `json:"bytes"`
	// FinishedAt is when the last pass ended; absent if none has since the start.
	FinishedAt *Time `json:"finished_at,omitempty"`
	// Damages are the damaged places of the last pass, Met how often any reader met one.
	Damages int64 `json:"damages"`
	Met     int64 `json:"met"`
	// Digests are of the last pass.
	Digests []Digest `json:"digests,omitempty"`
}

// Digest stands for what a part of a partition's ranges hold. A range is 64
// numbers of one run of records that never change once they are written: atoms,
// events, messages. Of each run the first ranges count, up to a number with two
// binary digits that are not zero (1, 2, 3, 4, 6, 8, 12 …): so the same ranges
// count on copies that were checked at different times, until a run has grown by a
// third. Two copies whose Ranges are the same hold the same if their Sums are.
type Digest struct {
	Count  int64  `json:"count"`  // how many ranges
	Ranges string `json:"ranges"` // which ones: 16 hex digits
	Sum    string `json:"sum"`    // of what they hold: 16 hex digits
}

// Differing names the nodes whose copies of a partition hold something else than
// the copy of most, or of the first by name where it is one against one.
func Differing(copies []ClusterReplica) []string {
	var nodes []string
	for i, c := range copies {
		against, with := 0, 0
		first := true
		for j, other := range copies {
			switch same, known := c.Scrub.same(other.Scrub); {
			case i == j || !known:
			case same:
				with++
			default:
				against++
				first = first && c.NodeID < other.NodeID
			}
		}
		if against > with+1 || against > with && !first {
			nodes = append(nodes, c.NodeID)
		}
	}
	return nodes
}

// same compares the digests of the same ranges; known says whether there are any.
func (s *ClusterScrub) same(other *ClusterScrub) (same, known bool) {
	if s == nil || other == nil || len(s.Digests) != len(other.Digests) {
		return false, false
	}
	for i, d := range s.Digests {
		if o := other.Digests[i]; d.Count > 0 && d.Count == o.Count && d.Ranges == o.Ranges {
			known = true
			if d.Sum != o.Sum {
				return false, true
			}
		}
	}
	return known, known
}

// maxNodeID is the length of a label in DNS: a node may be named after its host.
const maxNodeID = 63

// ValidNodeID reports whether s may name a node:
// ^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$.
func ValidNodeID(s string) bool {
	if s == "" || len(s) > maxNodeID || s[0] == '.' || s[0] == '_' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if !isIDByte(s[i]) {
			return false
		}
	}
	return true
}
