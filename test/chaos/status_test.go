//go:build linux

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ubl"
)

// replica is what a node says of one partition, in its metrics.
type replica struct {
	leader  bool
	term    uint64
	applied uint64
	commit  uint64
}

// replicas reads what a node says of its partitions.
func (n *node) replicas(ctx context.Context) (map[int]replica, error) {
	text, err := n.world.get(ctx, "http://"+n.addresses().admin+"/metrics")
	if err != nil {
		return nil, err
	}
	out := make(map[int]replica)
	for line := range strings.Lines(text) {
		name, p, value, ok := sample(line)
		if !ok {
			continue
		}
		r := out[p]
		switch name {
		case "ubl_partition_leader":
			r.leader = value == 1
		case "ubl_partition_term":
			r.term = uint64(value)
		case "ubl_partition_applied_index":
			r.applied = uint64(value)
		case "ubl_partition_commit_index":
			r.commit = uint64(value)
		default:
			continue
		}
		out[p] = r
	}
	return out, nil
}

// sample reads a metric of a partition: name{…partition="3"…} 7.
func sample(line string) (name string, partition int, value float64, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), "{")
	labels, number, ok := strings.Cut(rest, "} ")
	_, after, found := strings.Cut(","+labels, `,partition="`)
	digits, _, closed := strings.Cut(after, `"`)
	partition, err := strconv.Atoi(digits)
	value, err2 := strconv.ParseFloat(number, 64)
	return name, partition, value, ok && found && closed && cmp.Or(err, err2) == nil
}

// picture is every partition's replicas, by node, as the metrics show them.
type picture map[int]map[*node]replica

// picture is what the members say; with an error it lacks some of them.
func (w *world) picture(ctx context.Context) (picture, error) {
	all, errs := make(picture), []error(nil)
	for _, n := range w.members() {
		if n.running() == nil {
			continue
		}
		mine, err := n.replicas(ctx)
		errs = append(errs, err)
		for p, r := range mine {
			if all[p] == nil {
				all[p] = make(map[*node]replica)
			}
			all[p][n] = r
		}
	}
	return all, errors.Join(errs...)
}

// leader is the node that leads the partition in the highest term.
func (p picture) leader(partition int) *node {
	var best *node
	for n, r := range p[partition] {
		if r.leader && (best == nil || r.term > p[partition][best].term) {
			best = n
		}
	}
	return best
}

// terms is the sum of all partitions' terms: it rises with each election.
func (p picture) terms() (sum uint64) {
	for _, replicas := range p {
		top := uint64(0)
		for _, r := range replicas {
			top = max(top, r.term)
		}
		sum += top
	}
	return sum
}

// spread says which node leads more than its share: some leadership is yet to move.
func (p picture) spread() error {
	leads := make(map[*node]int)
	for i := range partitions {
		leads[p.leader(i)]++
	}
	for n, count := range leads {
		if share := (partitions + len(p[0]) - 1) / max(1, len(p[0])); n == nil || count > share {
			return fmt.Errorf("%s leads %d partitions of %d", n, count, partitions)
		}
	}
	return nil
}

// partitions is how many a cluster has.
const partitions = 8

// newest is the newest entry that anyone has of each partition.
func (p picture) newest() map[int]uint64 {
	out := make(map[int]uint64)
	for i, replicas := range p {
		for _, r := range replicas {
			out[i] = max(out[i], r.applied, r.commit)
		}
	}
	return out
}

// behind says which replica hasn't applied what it should have by now.
func (p picture) behind(goal map[int]uint64) error {
	if len(p) != partitions {
		return fmt.Errorf("%d partitions have a replica, want %d", len(p), partitions)
	}
	for i, replicas := range p {
		for n, r := range replicas {
			if r.applied < goal[i] {
				return fmt.Errorf("%s has applied %d of %d entries of partition %d", n, r.applied, goal[i], i)
			}
		}
		if p.leader(i) == nil {
			return fmt.Errorf("partition %d has no leader", i)
		}
	}
	return nil
}

// status is how the cluster stands, as some node sees it.
func (w *world) status(ctx context.Context) (*ubl.ClusterStatus, error) {
	var out struct {
		Cluster ubl.ClusterStatus `json:"cluster"`
	}
	err := w.operator().ask(ctx, "GET", "/api/platform/cluster", "", nil, &out)
	return &out.Cluster, err
}

// lists reports whether a node is a member.
func lists(s *ubl.ClusterStatus, id string) bool {
	return slices.ContainsFunc(s.Nodes, func(n ubl.ClusterNode) bool { return n.NodeID == id })
}

// settled is the picture of a cluster whose partitions all have their voters
// among the members.
func (w *world) settled(ctx context.Context) (picture, error) {
	s, err := w.status(ctx)
	if err == nil {
		err = placed(s, w.members())
	}
	if err != nil {
		return nil, err
	}
	return w.picture(ctx)
}

// placed says who is a member and should not be, and which partition hasn't its
// voters among the members. A learner is
// a voter to come: the disk that it replaces still counts under the same name.
func placed(s *ubl.ClusterStatus, members []*node) error {
	if len(s.Nodes) != len(members) || slices.ContainsFunc(s.Nodes, func(n ubl.ClusterNode) bool { return n.Leaving }) {
		return fmt.Errorf("the cluster's nodes are %+v, want %v", s.Nodes, members)
	}
	if len(s.Partitions) != partitions {
		return fmt.Errorf("the status has %d partitions, want %d", len(s.Partitions), partitions)
	}
	want := min(3, len(members))
	for _, p := range s.Partitions {
		here := slices.DeleteFunc(slices.Clone(p.Voters), func(id string) bool {
			return !slices.ContainsFunc(members, func(n *node) bool { return n.id == id })
		})
		if len(here) != want || len(p.Voters) != want || len(p.Learners) != 0 {
			return fmt.Errorf("partition %d has the voters %v and the learners %v, want %d of the members", p.Partition, p.Voters, p.Learners, want)
		}
	}
	return nil
}
