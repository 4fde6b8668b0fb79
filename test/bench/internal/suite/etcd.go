package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/rawhttp"
)

// startEtcd starts three nodes with the settings that etcd comes with: only
// names, addresses and directories are given. Nodes and clients speak without
// TLS and without authentication.
func (s *Suite) startEtcd(ctx context.Context, dir string) (*cluster, error) {
	hosts, err := proc.FreePorts(2 * nodeCount)
	if err != nil {
		return nil, err
	}
	clients, peers := hosts[:nodeCount], hosts[nodeCount:]
	members := make([]string, nodeCount)
	for i, peer := range peers {
		members[i] = fmt.Sprintf("n%d=http://%s", i+1, peer)
	}
	nodes := make([]*node, nodeCount)
	for i := range nodes {
		name := fmt.Sprintf("n%d", i+1)
		nodes[i] = &node{spec: proc.Spec{
			Name: "etcd node " + name, Path: s.Etcd, Host: clients[i], LogDir: s.Scratch,
			Args: []string{
				"--name", name, "--data-dir", filepath.Join(dir, name),
				"--listen-client-urls", "http://" + clients[i], "--advertise-client-urls", "http://" + clients[i],
				"--listen-peer-urls", "http://" + peers[i], "--initial-advertise-peer-urls", "http://" + peers[i],
				"--initial-cluster", strings.Join(members, ","), "--initial-cluster-state", "new",
			},
		}}
	}
	return startNodes(ctx, nodes, etcdHealthy)
}

// etcdHealthy asks for what etcd calls health: it knows a leader and can write.
func etcdHealthy(host string) error {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, body, err := conn.Do(rawhttp.Get(host, "/health", "", "*/*"))
	if err != nil {
		return err
	}
	if status != http.StatusOK || !strings.Contains(string(body), `"true"`) {
		return errors.New("/health says " + string(body))
	}
	return nil
}
