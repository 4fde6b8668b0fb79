package main

import (
	"context"
	"slices"

	"ubl"
	"ubl/transport/api"
)

// warnUnnamed tells of a start by which none of tenant 0's owners can sign in: no
// --operator names any. Who is named becomes an owner with their first request.
func (n *node) warnUnnamed(ctx context.Context, named []string) {
	ctx, cancel := context.WithTimeout(ctx, chore)
	defer cancel()
	members, err := ubl.Ask[[]ubl.Member](ctx, n.asker, ubl.TenantName(ubl.CoreTenant), ubl.ListMembers{Who: ubl.Platform()})
	if err != nil {
		n.log.Warn("couldn't tell whether an owner of tenant 0 is named by --operator", "error", err)
		return
	}
	owners := 0
	for _, m := range members {
		if m.IsService || m.Role != ubl.RoleOwner {
			continue
		}
		if slices.ContainsFunc(named, func(email string) bool { return ubl.SameEmail(email, m.Email) }) {
			return
		}
		owners++
	}
	if owners > 0 {
		n.log.Warn("no owner of tenant 0 is named by --operator, so none can sign in to back up or to look at the cluster: name one, or have a person you named sign in once, who becomes an owner", "owners", owners)
	}
}

// firstOwner is whom --owner names, where they may do what operators do: back everything
// up, and see how the node stands. On a node that nobody has grown yet they are the only
// one there is, and could stop it and do the same with --data. So it is only so while no
// --operator is named, the node is alone, and it can be reached from its own machine only:
// it listens on loopback, behind no proxy that it knows of, and no provider signs people in.
func (c *serveCmd) firstOwner(p *program, address string) string {
	shared := len(c.Operator) > 0 || c.ClusterListen != "" || c.PublicURL != "" || len(c.TrustedProxy) > 0 || len(c.OIDCIssuer)+len(p.oidc) > 0
	if shared || !loopback(address) {
		return ""
	}
	return c.Owner
}

// operators is what the API tells operators of this node's cluster.
func (n *node) operators() api.Cluster {
	if n.cluster != nil {
		return member{n}
	}
	return alone{n}
}

// alone is a node without a cluster.
type alone struct{ *node }

// nodeID is the name that the node would found a cluster under.
func (a alone) nodeID() string { return "node-" + a.store.Incarnation()[:6] }

// Status reports the node itself. A partition that takes no writes until a
// restart has no leader.
func (a alone) Status(context.Context) (*ubl.ClusterStatus, error) {
	id := a.nodeID()
	n := ubl.ClusterNode{NodeID: id, ServerID: id + "@" + a.store.Incarnation()[:8], State: ubl.NodeAlive, Version: version(), BackupAt: a.backupAt()}
	s := &ubl.ClusterStatus{NodeID: id}
	for i, stats := range a.store.Stats().Partitions {
		p := ubl.ClusterPartition{Partition: i, Voters: []string{id}, Learners: []string{}, Replicas: []ubl.ClusterReplica{{NodeID: id, Scrub: clusterScrub(stats)}}}
		if stats.Failed == nil {
			p.Leader = id
			n.Leads++
		}
		n.Voters++
		s.Partitions = append(s.Partitions, p)
	}
	s.Nodes = []ubl.ClusterNode{n}
	return s, nil
}

// Remove refuses: there is no other node.
func (a alone) Remove(_ context.Context, _ ubl.Request, nodeID string, _ int) error {
	if nodeID == a.nodeID() {
		return ubl.Errorf(ubl.CodeConflict, "the only node can't be removed")
	}
	return ubl.Errorf(ubl.CodeNotFound, "there is no such node")
}

// Failing lists the tenants with dead letters.
func (a alone) Failing(context.Context) ([]ubl.TenantID, error) { return a.actors.Failing(), nil }

// member is a node of a cluster.
type member struct{ *node }

// Status reports what the nodes know together.
func (m member) Status(ctx context.Context) (*ubl.ClusterStatus, error) {
	return m.cluster.Status(ctx)
}

// Remove puts on record who asks, then removes the node. That it is gone is
// receipted by the node that leads the cluster.
func (m member) Remove(ctx context.Context, req ubl.Request, nodeID string, keep int) error {
	asked := ubl.Request{Who: ubl.Platform(), ID: req.ID, Key: "platform.node.remove:" + string(req.Who.UserID) + ":" + req.Key}
	err := m.announce(ctx, asked, announcement{to: ubl.OpsRoom, text: "Removal of node " + nodeID + " asked for by " + string(req.Who.UserID)})
	if err != nil {
		return err
	}
	return m.cluster.Remove(ctx, nodeID, keep)
}

// Failing lists the tenants with dead letters.
func (m member) Failing(ctx context.Context) ([]ubl.TenantID, error) {
	return m.cluster.Failing(ctx), nil
}
