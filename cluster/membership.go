package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"ubl/durable"
)

// membership is cluster.json: the node's own place in the cluster. It appears
// when the node has founded or joined one, by a rename, and makes the directory
// one of replicas: it can't be opened as that of a node alone any more.
type membership struct {
	Format    int    `json:"format"`
	ClusterID string `json:"cluster_id"`
	NodeID    string `json:"node_id"`
	ServerID  string `json:"server_id"`
	// Peers are the addresses of others when they were last seen, by server id.
	Peers map[string]string `json:"peers"`
	// SecretID is the key of the cluster's secret that the node used last; "" in
	// files of earlier versions.
	SecretID string `json:"secret_id,omitempty"`
}

const (
	membershipFormat = 1
	membershipName   = "cluster.json"
	membershipLost   = "with the other nodes up, move the data directory away and start the node with an empty one, which gets the data from them; see \"A disk that was wiped\" in the runbook"
)

// ErrMember: the data directory belongs to a cluster.
var ErrMember = errors.New("the data directory belongs to a node of a cluster")

// CheckAlone refuses, with [ErrMember], a directory that a node alone must not
// write to.
func CheckAlone(dir string) error {
	_, err := os.Lstat(filepath.Join(dir, membershipName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return ErrMember
}

// readMembership is nil where the node is in no cluster yet.
func readMembership(dir string) (*membership, error) {
	text, err := os.ReadFile(filepath.Join(dir, membershipName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := new(membership)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s is damaged (%w): %s", membershipName, err, membershipLost)
	}
	if m.Format > membershipFormat {
		return nil, fmt.Errorf("%s has format %d, this program knows up to %d", membershipName, m.Format, membershipFormat)
	}
	if m.ClusterID == "" || m.NodeID == "" || m.ServerID == "" {
		return nil, fmt.Errorf("%s is not whole: %s", membershipName, membershipLost)
	}
	return m, nil
}

// write replaces the file whole.
func (m *membership) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.Replace(filepath.Join(dir, membershipName), append(text, '\n')); err != nil {
		return fmt.Errorf("couldn't write %s: %w", membershipName, err)
	}
	return nil
}

// remember notes where others are, and reports whether that is news.
func (m *membership) remember(peers map[string]string) bool {
	before := maps.Clone(m.Peers)
	if m.Peers == nil {
		m.Peers = make(map[string]string)
	}
	maps.Copy(m.Peers, peers)
	return !maps.Equal(before, m.Peers)
}
