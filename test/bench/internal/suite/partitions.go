package suite

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"ubl/test/bench/internal/promtext"
)

// The metrics that tell of a node's partitions.
const (
	clusterMetrics = "ubl_partition_"
	leaderMetric   = clusterMetrics + "leader"
	appliedMetric  = clusterMetrics + "applied_index"
	commitMetric   = clusterMetrics + "commit_index"
)

// indexes are a node's view of one metric, by partition.
type indexes map[string]float64

// partitions reads what node i says of itself.
func (c *cluster) partitions(i int, metric string) (indexes, error) {
	page, err := promtext.Scrape(c.nodes[i].admin, clusterMetrics)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.nodes[i].spec.Name, err)
	}
	out := make(indexes)
	for _, sample := range page[metric] {
		// A node may call itself by its id alone, or with its incarnation.
		if id, _, _ := strings.Cut(sample.Labels["node"], "@"); id == nodeID(i) {
			out[sample.Labels["partition"]] = sample.Value
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no metric %s of its own", c.nodes[i].spec.Name, metric)
	}
	return out, nil
}

// highest joins what all nodes say: the highest value of each partition.
func (c *cluster) highest(metric string) (indexes, error) {
	out := make(indexes)
	for i := range c.nodes {
		own, err := c.partitions(i, metric)
		if err != nil {
			return nil, err
		}
		for partition, v := range own {
			out[partition] = max(out[partition], v)
		}
	}
	return out, nil
}

// rose tells which partition's index rose most, and by how much.
func (after indexes) rose(before indexes) (partition string, by float64) {
	for p, v := range after {
		if v-before[p] > by {
			partition, by = p, v-before[p]
		}
	}
	return partition, by
}

// leader finds the node that leads a partition; there must be one alone.
func (c *cluster) leader(partition string) (int, error) {
	found := -1
	for i := range c.nodes {
		own, err := c.partitions(i, leaderMetric)
		if err != nil {
			return 0, err
		}
		if own[partition] != 1 {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%s and %s both lead partition %s", nodeID(found), nodeID(i), partition)
		}
		found = i
	}
	if found < 0 {
		return 0, errors.New("nobody leads partition " + partition)
	}
	return found, nil
}

// uneven tells why leaderships are not spread over the nodes as they will be, or nil. Until
// they are, they are handed over every now and then.
func (c *cluster) uneven() error {
	least, most := math.MaxInt, 0
	for i := range c.nodes {
		own, err := c.partitions(i, leaderMetric)
		if err != nil {
			return err
		}
		leads := 0
		for _, v := range own {
			leads += int(v)
		}
		least, most = min(least, leads), max(most, leads)
	}
	if most > least+1 {
		return fmt.Errorf("one node leads %d partitions, another one %d", least, most)
	}
	return nil
}

// behind tells why node i has not caught up with what was committed, or nil.
func (c *cluster) behind(i int, committed indexes) error {
	applied, err := c.partitions(i, appliedMetric)
	if err != nil {
		return err
	}
	for partition, want := range committed {
		if got, there := applied[partition]; !there || got < want {
			return fmt.Errorf("%s has applied %.0f of %.0f in partition %s", nodeID(i), got, want, partition)
		}
	}
	return nil
}
