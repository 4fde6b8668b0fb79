package placement

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// validate holds a table against its own rules. It names places, not values.
func (t *Table) validate() error {
	switch {
	case !validName(t.ClusterID):
		return errors.New("the cluster id is no name")
	case t.Version < 1:
		return errors.New("the version is below 1")
	case t.Partitions < 1 || t.Partitions > maxPartitions:
		return errors.New("the number of partitions is impossible")
	case len(t.Voters) != t.Partitions:
		return errors.New("there are more or fewer lists of voters than partitions")
	}
	if err := t.validateNodes(); err != nil {
		return err
	}
	return t.validateServers()
}

func (t *Table) validateNodes() error {
	if len(t.Nodes) == 0 {
		return errors.New("there is no node")
	}
	for i, n := range t.Nodes {
		if err := n.validate(); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		if i > 0 && t.Nodes[i-1].ID >= n.ID {
			return fmt.Errorf("node %d: not in order", i)
		}
	}
	return nil
}

func (t *Table) validateServers() error {
	for p, voters := range t.Voters {
		if len(voters) > MaxVoters || !ascending(voters) || slices.ContainsFunc(voters, func(s string) bool { return !t.Has(s) }) {
			return fmt.Errorf("partition %d: its voters aren't a sorted few of the nodes", p)
		}
	}
	if len(t.Gone) > maxGone {
		return errors.New("too many servers are gone")
	}
	for i, s := range t.Gone {
		if !validServer(s) || t.Has(s) || slices.Contains(t.Gone[:i], s) {
			return fmt.Errorf("gone %d: no server id, a member's, or twice", i)
		}
	}
	return nil
}

func (n Node) validate() error {
	if id, _, _ := strings.Cut(n.Server, "@"); !validServer(n.Server) || id != n.ID {
		return errors.New("the server id isn't the node id and an incarnation")
	}
	if host, port, err := net.SplitHostPort(n.Addr); err != nil || host == "" || port == "" || len(n.Addr) > 300 || !printable(n.Addr) {
		return errors.New("the address isn't host:port")
	}
	return nil
}

// validServer: node id, @, incarnation.
func validServer(s string) bool {
	id, incarnation, ok := strings.Cut(s, "@")
	return ok && validName(id) && validName(incarnation)
}

// validName: 1 to 64 letters, digits, dots, dashes and underscores. Host names
// of a container platform fit, and so does what stands in a URL's path.
func validName(s string) bool {
	return s != "" && len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	}) < 0
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

func ascending(list []string) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}
