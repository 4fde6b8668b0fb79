package deploy

import (
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// nodes are the names of the nodes in compose.yaml.
var nodes = []string{"n1", "n2", "n3"}

// place is where the world of compose.yaml lies on this machine: each container
// has a loopback address, with the ports that it has in its own network, and
// its paths lie in a directory of the test. Nothing else is changed.
type place struct {
	net string // the first three bytes of the addresses
	dir string
}

// newPlace draws a network, so that two runs don't meet.
func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{net: fmt.Sprintf("127.%d.%d.", 1+rand.IntN(254), rand.IntN(255)), dir: t.TempDir()}
	for _, who := range append([]string{"lb"}, nodes...) {
		l, err := net.Listen("tcp", p.address(who)+":8080")
		if err != nil {
			t.Skipf("port 8080 isn't free on a loopback address of one's own: %v", err)
		}
		_ = l.Close()
	}
	return p
}

// address is the load balancer's, or a node's.
func (p *place) address(who string) string {
	last := map[string]string{"lb": "10", "n1": "11", "n2": "12", "n3": "13"}
	return p.net + last[who]
}

func (p *place) url(who string) string { return "http://" + p.address(who) + ":8080" }

func (p *place) data(node string) string { return filepath.Join(p.dir, node) }

func (p *place) secret() string { return filepath.Join(p.dir, "cluster-secret") }

// in maps what a container says to what its process must say here.
func (p *place) in(who string) *strings.Replacer {
	pairs := []string{
		"0.0.0.0:", p.address(who) + ":",
		"bind :", "bind " + p.address(who) + ":",
		"/run/secrets/cluster-secret", p.secret(),
		"=/data", "=" + p.data(who),
	}
	for _, node := range nodes {
		pairs = append(pairs, node+":", p.address(node)+":")
	}
	return strings.NewReplacer(pairs...)
}
