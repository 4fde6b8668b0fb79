package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/durable"
)

// clusterCmd is for operators of several nodes.
type clusterCmd struct {
	Secret clusterSecretCmd `cmd:"" help:"Make the secret that the nodes of a cluster share."`
	Status clusterStatusCmd `cmd:"" help:"Show how nodes and partitions stand, to operators (serve --operator EMAIL); fails where a partition has no leader."`
	Remove clusterRemoveCmd `cmd:"" help:"Take a node out of the cluster for good."`
}

// clusterSecretCmd makes a secret. It asks no server.
type clusterSecretCmd struct {
	Out string `type:"path" help:"Write it to this file, which must not exist yet and which only its owner may read, instead of to standard output." placeholder:"FILE"`
}

// Run writes the secret and nothing else.
func (c *clusterSecretCmd) Run(p *program) error {
	secret, err := mesh.NewSecret(p.random)
	if err != nil {
		return err
	}
	if c.Out == "" {
		_, err = fmt.Fprintln(p.out, secret)
		return err
	}
	err = durable.Create(c.Out, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, secret)
		return err
	})
	if err != nil {
		return fmt.Errorf("couldn't write the secret: %w", err)
	}
	return nil
}

// clusterStatusCmd shows the status that a node gives.
type clusterStatusCmd struct {
	remote
	format
}

// Run prints the status, and fails where a partition goes on without a leader: then scripts
// see it by the exit code.
func (c *clusterStatusCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	server.tries = 2 // the operator wants to know how it stands now
	s, whole, err := standingOf(ctx, server)
	for look := 1; err == nil && look < looks && leaderless(&s) != nil; look++ {
		pause(ctx, lookAfter)
		s, whole, err = standingOf(ctx, server)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = fmt.Fprintf(p.out, "%s\n", whole)
	} else {
		err = printCluster(p.out, &s)
	}
	if err != nil {
		return err
	}
	return errors.Join(leaderless(&s), unsound(&s))
}

// A partition whose leadership moves, as it does when nodes have started, has no leader for some
// milliseconds: that is no trouble, so one look isn't enough to tell of it.
const (
	looks     = 4
	lookAfter = 500 * time.Millisecond
)

// standingOf is the status that a node gives, and as it came.
func standingOf(ctx context.Context, server *client) (s ubl.ClusterStatus, whole json.RawMessage, err error) {
	var answer struct {
		Cluster json.RawMessage `json:"cluster"`
	}
	if err := server.call(ctx, "GET", "/api/platform/cluster", nil, &answer); err != nil {
		return s, nil, errors.Join(err, server.knows(ctx, err))
	}
	s, err = formed[ubl.ClusterStatus]("a status", answer.Cluster)
	return s, answer.Cluster, err
}

// unsound tells which keys and copies differ from the others, and which are damaged.
func unsound(s *ubl.ClusterStatus) error {
	errs := oddKeys(s)
	for _, part := range s.Partitions {
		if len(part.Differ) > 0 {
			errs = append(errs, fmt.Errorf("partition %d: the copy differs from the others on %s", part.Partition, clean(strings.Join(part.Differ, ", "))))
		}
		for _, r := range part.Replicas {
			if r.Scrub != nil && r.Scrub.Damages > 0 {
				errs = append(errs, fmt.Errorf("partition %d: %d damaged places on %s", part.Partition, r.Scrub.Damages, clean(r.NodeID)))
			}
		}
	}
	return errors.Join(errs...)
}

// oddKeys tells which nodes have another key than most of the others.
func oddKeys(s *ubl.ClusterStatus) (errs []error) {
	for _, n := range s.Nodes {
		peers := map[string][]string{}
		for _, other := range s.Nodes {
			if other.NodeID != n.NodeID {
				peers[other.NodeID] = other.KeyIDs
			}
		}
		if v := votesOn(n.KeyIDs, peers); len(n.KeyIDs) > 0 && v.lonely() {
			errs = append(errs, fmt.Errorf("%s has another key than %s, and refuses whom they let in: see the runbook (UBLKeyDiffers)", clean(n.NodeID), clean(strings.Join(v.against, ", "))))
		}
	}
	return errs
}

// knows is what a server says of itself to anybody, where it can't find out who is
// asking: that takes a leader.
func (c *client) knows(ctx context.Context, refused error) error {
	if e, ok := errors.AsType[*apiError](refused); !ok || e.status != http.StatusServiceUnavailable {
		return nil
	}
	if err := c.health(ctx, "/readyz"); err != nil {
		return fmt.Errorf("the node isn't ready: %w", err)
	}
	return nil
}

// leaderless tells which partitions take no requests.
func leaderless(s *ubl.ClusterStatus) error {
	var without []string
	for _, part := range s.Partitions {
		if part.Leader == "" {
			without = append(without, strconv.Itoa(part.Partition))
		}
	}
	if len(without) == 0 {
		return nil
	}
	return fmt.Errorf("no leader: partition %s", strings.Join(without, ", "))
}

// printCluster writes the status for people.
func printCluster(w io.Writer, s *ubl.ClusterStatus) error {
	if s.ClusterID == "" {
		fmt.Fprintf(w, "%s runs alone\n\n", clean(s.NodeID))
	} else {
		fmt.Fprintf(w, "cluster %s, seen by %s\n\n", clean(s.ClusterID), clean(s.NodeID))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tSTATE\tLEADS\tVOTES\tADDRESS\tSERVER\tSECRET\tKEY\tVERSION")
	for _, n := range s.Nodes {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", clean(n.NodeID), nodeState(n), n.Leads, n.Voters, orDash(clean(n.Address)), clean(n.ServerID), keysOf(n.SecretIDs), keysOf(n.KeyIDs), orDash(clean(n.Version)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	fmt.Fprintln(table, "PARTITION\tLEADER\tTERM\tCOMMITTED\tCOPIES")
	for _, part := range s.Partitions {
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%s\n", part.Partition, leaderOf(part), part.Term, part.CommitIndex, copies(part))
	}
	return table.Flush()
}

// leaderOf is the leader; "electing" while a majority of the voters answers and may
// vote, else NONE.
func leaderOf(part ubl.ClusterPartition) string {
	answer := 0
	for _, r := range part.Replicas {
		if slices.Contains(part.Voters, r.NodeID) && !r.LogLost {
			answer++
		}
	}
	switch {
	case part.Leader != "":
		return clean(part.Leader)
	case answer > len(part.Voters)/2:
		return "electing"
	}
	return "NONE"
}

// nodeState is in capitals where someone should look.
func nodeState(n ubl.ClusterNode) string {
	state := clean(n.State)
	if n.State != ubl.NodeAlive && n.State != ubl.NodeLeft {
		state = strings.ToUpper(state)
	}
	if n.DiskFull {
		state += ", DISK FULL"
	}
	if off := time.Duration(n.ClockOffset) * time.Millisecond; off.Abs() > 10*time.Second {
		state += fmt.Sprintf(", CLOCK OFF BY %s", off.Round(time.Second))
	}
	if n.Leaving {
		state += ", leaving"
	}
	return state
}

// keysOf names the key that a node uses, and those that it accepts beside it.
func keysOf(ids []string) string {
	if len(ids) < 2 {
		return orDash(clean(strings.Join(ids, "")))
	}
	return clean(ids[0] + " (accepts " + strings.Join(ids[1:], ", ") + ")")
}

// copies lists who holds a partition, and how far behind each is.
func copies(part ubl.ClusterPartition) string {
	lag, damages, lost := map[string]int64{}, map[string]int64{}, map[string]bool{}
	for _, r := range part.Replicas {
		lag[r.NodeID], lost[r.NodeID] = r.Lag, r.LogLost
		if r.Scrub != nil {
			damages[r.NodeID] = r.Scrub.Damages
		}
	}
	var out []string
	tell := func(id string, more ...string) {
		if slices.Contains(part.Differ, id) {
			more = append(more, "DIFFERS")
		}
		if lost[id] {
			more = append(more, "LOG LOST: NO VOTE")
		}
		if damages[id] > 0 {
			more = append(more, fmt.Sprintf("%d DAMAGED", damages[id]))
		}
		if behind, known := lag[id]; !known {
			more = append(more, "no word")
		} else if behind > 0 {
			more = append(more, fmt.Sprintf("%d behind", behind))
		}
		id = clean(id)
		if len(more) > 0 {
			id += " (" + strings.Join(more, ", ") + ")"
		}
		out = append(out, id)
	}
	for _, id := range part.Voters {
		tell(id)
	}
	for _, id := range part.Learners {
		tell(id, "learner")
	}
	return orDash(strings.Join(out, ", "))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// clusterRemoveCmd removes a node.
type clusterRemoveCmd struct {
	remote
	Node string `arg:"" help:"The node's id, as \"ubl cluster status\" lists it."`
	Keep int    `placeholder:"N" help:"At least so many nodes must stay. Without it three must, and no other node may be on its way out." config:"-"`
}

// Run asks for the removal, which goes on after it.
func (c *clusterRemoveCmd) Run(ctx context.Context, p *program) error {
	if !ubl.ValidNodeID(c.Node) {
		return usagef("NODE is not the id of a node, as \"ubl cluster status\" lists it")
	}
	if c.Keep < 0 || c.Keep > 1000 {
		return usagef("--keep is how many nodes must stay, 1 to 1000")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	path := "/api/platform/cluster/nodes/" + c.Node
	if c.Keep > 0 {
		path += "?keep=" + strconv.Itoa(c.Keep)
	}
	var answer struct{}
	if err := server.call(ctx, "DELETE", path, nil, &answer); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s is being removed\n", c.Node)
	fmt.Fprintln(p.err, p.copyable(`"ubl cluster status" shows it until its partitions have moved.`))
	return nil
}
