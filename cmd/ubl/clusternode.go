package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster"
	"ubl/cluster/mesh"
	"ubl/cluster/wire"
	"ubl/secretfile"
	"ubl/transport/auth"
)

// clusterFlags make the server one node of a cluster.
type clusterFlags struct {
	NodeID            string        `name:"node-id" help:"This node's name in the cluster; one is made up where none is given." placeholder:"NAME"`
	ClusterListen     string        `help:"Address for other nodes, TCP and UDP; makes this server one of a cluster." placeholder:"HOST:PORT"`
	ClusterAdvertise  string        `help:"Where other nodes find it; --cluster-listen unless given." placeholder:"HOST:PORT"`
	Join              []string      `help:"Other nodes' --cluster-listen; may be repeated. Without it the node founds a cluster, with the data it has." placeholder:"HOST:PORT"`
	BootstrapExpect   int           `help:"How many new nodes wait for each other before one founds the cluster." placeholder:"N"`
	ClusterSecretFile string        `type:"path" help:"File with the cluster's secret (see \"ubl cluster secret\"); else it is the variable UBL_CLUSTER_SECRET." placeholder:"FILE"`
	ClusterCA         string        `name:"cluster-ca" type:"path" help:"CA certificate of an own PKI for traffic between nodes." placeholder:"FILE"`
	ClusterCert       string        `type:"path" help:"This node's certificate under it." placeholder:"FILE"`
	ClusterKey        string        `type:"path" help:"That certificate's key." placeholder:"FILE"`
	ClusterTimeout    time.Duration `default:"500ms" help:"How long a leader may be silent before another is elected."`
	ClusterLogBytes   int64         `default:"134217728" help:"How far a partition's log grows before it is cut." placeholder:"N"`
}

// check refuses settings that make no sense.
func (c *clusterFlags) check() error {
	if c.ClusterListen == "" {
		if len(c.Join) > 0 || c.BootstrapExpect > 0 || c.NodeID != "" {
			return usagef("--join, --bootstrap-expect and --node-id are for a cluster: give --cluster-listen, too")
		}
		return nil
	}
	for _, address := range append([]string{c.ClusterListen, cmp.Or(c.ClusterAdvertise, c.ClusterListen)}, c.Join...) {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return usagef("--cluster-listen, --cluster-advertise and --join are addresses of the form HOST:PORT")
		}
	}
	switch {
	case c.NodeID != "" && !ubl.ValidNodeID(c.NodeID):
		return usagef("--node-id is 1 to 63 letters, digits, dots, dashes or underscores, and begins with a letter or digit")
	case c.BootstrapExpect < 0 || c.BootstrapExpect > 1 && len(c.Join) == 0:
		return usagef("--bootstrap-expect is how many nodes there will be; --join tells where they are")
	case (c.ClusterCA == "") != (c.ClusterCert == "") || (c.ClusterCA == "") != (c.ClusterKey == ""):
		return usagef("an own PKI takes --cluster-ca, --cluster-cert and --cluster-key")
	case c.ClusterTimeout < 50*time.Millisecond || c.ClusterTimeout > time.Minute:
		return usagef("--cluster-timeout is 50ms to 1m")
	case c.ClusterLogBytes < 1<<16:
		return usagef("--cluster-log-bytes is at least 65536")
	}
	return nil
}

// secret reads what the cluster's nodes share.
func (c *clusterFlags) secret(p *program) (mesh.Secret, error) {
	const holds = "the cluster's secret as \"ubl cluster secret\" makes it, or up to 8, one a line"
	text, place := p.env["UBL_CLUSTER_SECRET"], "the variable UBL_CLUSTER_SECRET"
	if c.ClusterSecretFile != "" {
		var err error
		place = "the file " + c.ClusterSecretFile
		if text, err = secretfile.Read(c.ClusterSecretFile, holds); err != nil {
			return mesh.Secret{}, err
		}
	}
	if strings.TrimSpace(text) == "" {
		return mesh.Secret{}, usagef("a cluster has a secret: make one with \"ubl cluster secret\" and give --cluster-secret-file or UBL_CLUSTER_SECRET")
	}
	secret, err := mesh.ParseSecret(text)
	if err != nil {
		err = secretfile.Wrong(place, holds)
	}
	return secret, err
}

// sharedKey is the token key's name among what nodes share.
const sharedKey = "identity.key"

// openMember opens the node of a cluster. While it waits to be let in, health
// checks are answered.
func (c *serveCmd) openMember(ctx context.Context, p *program, d *doors, log *slog.Logger) (*node, error) {
	held := mustHoldData(c.Data) == nil
	secret, err := c.secret(p)
	if err != nil {
		return nil, err
	}
	registry, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		return nil, err
	}
	n := p.newNode(log)
	n.held = held
	attached := make(chan struct{}) // closed when there are actors to ask
	waiting := d.wait(p)
	defer waiting.end()
	n.cluster, err = cluster.Open(ctx, cluster.Options{
		Dir: c.Data, NodeID: c.NodeID, Listen: c.ClusterListen, Advertise: c.ClusterAdvertise,
		Join: c.Join, Expect: c.BootstrapExpect, Secret: secret,
		CAFile: c.ClusterCA, CertFile: c.ClusterCert, KeyFile: c.ClusterKey,
		Timeout: c.ClusterTimeout, LogBytes: c.ClusterLogBytes, Registry: registry,
		Keys:    n.keyIDs,
		Version: version(), BackupAt: n.backupAt,
		Shared: func(alone bool) (map[string][]byte, error) { return c.shared(p, log, alone, held) },
		Keep:   func(shared map[string][]byte) error { return auth.SaveKey(c.keyPath(), shared[sharedKey]) },
		Joined: func(ctx context.Context, nodeID, serverID string, in bool) error {
			select {
			case <-attached:
				return n.tellChange(ctx, nodeID, serverID, in)
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Logged: n.figures.logged, Snapshotted: n.figures.snapshotted, Installed: n.figures.installed,
		Storage: *n.storage(), Now: p.now, Random: p.random, Log: log, Panics: n.panics,
	})
	if errors.Is(err, context.Canceled) {
		return nil, errStopped
	}
	if err != nil {
		return nil, openHint(c.Data, err)
	}
	n.store = n.cluster.Store()
	if err := n.run(c.Data); err != nil {
		return nil, errors.Join(err, n.cluster.Close())
	}
	n.cluster.Attach(n.actors)
	n.asker, n.feed = n.cluster, n.cluster
	close(attached)
	n.figures.watchCluster(n)
	if err := c.haveKey(ctx, n); err != nil {
		return nil, errors.Join(err, n.close(context.WithoutCancel(ctx)))
	}
	return n, nil
}

func (c *serveCmd) keyPath() string { return cmp.Or(c.IdentityKey, keyPath(c.Data)) }

// shared is what another node gets. A key is made by the first node alone: the others
// must not get one that nobody else has.
func (c *serveCmd) shared(p *program, log *slog.Logger, alone, held bool) (map[string][]byte, error) {
	key, err := auth.LoadKey(c.keyPath())
	if alone && errors.Is(err, fs.ErrNotExist) {
		key, err = c.ownKey(p, log, held)
	}
	if err != nil {
		return nil, err
	}
	pem, err := key.PEM()
	return map[string][]byte{sharedKey: pem}, err
}

// tellChange receipts that a node came or went, once for its server id.
func (n *node) tellChange(ctx context.Context, nodeID, serverID string, in bool) error {
	if err := n.bootstrap(ctx); err != nil {
		return err
	}
	req, err := n.request()
	if err != nil {
		return err
	}
	a := announcement{to: ubl.OpsRoom, did: ubl.DidPlatformNodeJoin, text: "Node joined: " + nodeID}
	if !in {
		a.did, a.text = ubl.DidPlatformNodeRemove, "Node removed: "+nodeID
	}
	a.more = ubl.Fields{ubl.Str("subject_node_id", nodeID)}
	req.Key = string(a.did) + ":" + serverID
	return n.announce(ctx, req, a)
}
