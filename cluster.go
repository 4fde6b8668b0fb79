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
	// requests.
	Leader string `json:"leader"`
	Term   int64  `json:"term"`
	// Voters and Learners are node ids, in order. Learners copy and don't vote.
	Voters   []string `json:"voters"`
	Learners []string `json:"learners"`
	// CommitIndex is the newest entry of the log that a quorum has.
	CommitIndex int64 `json:"commit_index"`
	// Replicas are the voters and learners of which the leader knows how far
	// they are, by node id.
	Replicas []ClusterReplica `json:"replicas"`
}

// ClusterReplica is how far a copy of a partition is.
type ClusterReplica struct {
	NodeID string `json:"node_id"`
	// AppliedIndex is the newest entry that the copy holds, Lag how many it is
	// behind the commit index.
	AppliedIndex int64 `json:"applied_index"`
	Lag          int64 `json:"lag"`
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
