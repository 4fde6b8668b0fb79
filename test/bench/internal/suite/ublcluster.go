package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// startUBLCluster starts three fresh nodes that found a cluster together. The
// account's room is there when it returns, and every node has answered once.
func (s *Suite) startUBLCluster(ctx context.Context, dir string) (*cluster, error) {
	nodes, err := s.ublNodes(ctx, dir)
	if err != nil {
		return nil, err
	}
	c, err := startNodes(ctx, nodes, isReady)
	if err != nil {
		return nil, err
	}
	if c.token, err = s.token(ctx, filepath.Join(dir, "n1"), sender); err == nil {
		err = c.touch()
	}
	if err != nil {
		return nil, errors.Join(err, c.complaint(), c.stop())
	}
	return c, nil
}

// touch makes the account's first request, then one at every other node.
func (c *cluster) touch() error {
	for _, n := range c.nodes {
		if err := touch(n.Host, c.token, roomsPath); err != nil {
			return fmt.Errorf("%s: %w", n.spec.Name, err)
		}
	}
	return nil
}

// ublNodes says how to start the nodes, and to start one again. Only what a
// cluster needs is given, and an address for metrics, which cost nothing until
// they are read.
func (s *Suite) ublNodes(ctx context.Context, dir string) ([]*node, error) {
	secret, err := s.secret(ctx, dir)
	if err != nil {
		return nil, err
	}
	hosts, err := proc.FreePorts(3 * nodeCount)
	if err != nil {
		return nil, err
	}
	listen, between, admin := hosts[:nodeCount], hosts[nodeCount:2*nodeCount], hosts[2*nodeCount:]
	nodes := make([]*node, nodeCount)
	for i := range nodes {
		id := nodeID(i)
		nodes[i] = &node{admin: admin[i], spec: proc.Spec{
			Name: "UBL node " + id, Path: s.UBL, Host: listen[i], LogDir: s.Scratch,
			Args: []string{
				"serve", "--data", filepath.Join(dir, id), unlimited, "--listen", listen[i], "--admin-listen", admin[i],
				"--node-id", id, "--cluster-listen", between[i], "--cluster-secret-file", secret,
				"--join", strings.Join(between, ","), "--bootstrap-expect", strconv.Itoa(nodeCount),
			},
		}}
	}
	return nodes, nil
}

// nodeID names nodes so that the first has the smallest name and founds.
func nodeID(i int) string { return "n" + strconv.Itoa(i+1) }

// secret makes the cluster's secret and returns its file.
func (s *Suite) secret(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	output, err := proc.Output(ctx, nil, s.UBL, "cluster", "secret")
	if err != nil {
		return "", fmt.Errorf("couldn't make a cluster secret: %w", err)
	}
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, output, 0o600); err != nil {
		return "", fmt.Errorf("couldn't keep the cluster secret: %w", err)
	}
	return path, nil
}

// startUBLAlone starts one node without any cluster, as a cluster of one.
func (s *Suite) startUBLAlone(ctx context.Context, dir string) (*cluster, error) {
	t, err := s.startUBL(ctx, dir, sender)
	if err != nil {
		return nil, err
	}
	alone := &node{Server: t.server, spec: proc.Spec{Name: string(report.UBL)}}
	return &cluster{nodes: []*node{alone}, token: t.token}, nil
}
