package suite

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"ubl/test/bench/internal/proc"
)

// tellers are nodes that do nothing but tell their metrics.
func tellers(t *testing.T, pages ...string) *cluster {
	t.Helper()
	c := &cluster{}
	for i, page := range pages {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }))
		t.Cleanup(server.Close)
		c.nodes = append(c.nodes, &node{admin: server.Listener.Addr().String(), spec: proc.Spec{Name: nodeID(i)}})
	}
	return c
}

func leads(node string, value int) string {
	return fmt.Sprintf("ubl_partition_leader{node=%q,partition=\"3\"} %d\n", node, value)
}

func TestLeader(t *testing.T) {
	for name, test := range map[string]struct {
		pages []string
		want  int // -1: nobody can be told
	}{
		"one":                   {[]string{leads("n1", 0), leads("n2", 1)}, 1},
		"by its server's id":    {[]string{leads("n1@3f2a91c0", 1), leads("n2@00000000", 0)}, 0},
		"what others say of it": {[]string{leads("n1", 0) + leads("n2", 1), leads("n2", 1)}, 1},
		"nobody":                {[]string{leads("n1", 0), leads("n2", 0)}, -1},
		"two":                   {[]string{leads("n1", 1), leads("n2", 1)}, -1},
		"no such metric":        {[]string{leads("n1", 1), "up 1\n"}, -1},
	} {
		leader, err := tellers(t, test.pages...).leader("3")
		if (err != nil) != (test.want < 0) || err == nil && leader != test.want {
			t.Errorf("%s: leader is %d, %v", name, leader, err)
		}
	}
}

func TestUneven(t *testing.T) {
	page := func(node string, leads ...int) (out string) {
		for partition, v := range leads {
			out += fmt.Sprintf("ubl_partition_leader{node=%q,partition=\"%d\"} %d\n", node, partition, v)
		}
		return out
	}
	if err := tellers(t, page("n1", 1, 1, 0), page("n2", 0, 0, 1)).uneven(); err != nil {
		t.Error(err)
	}
	if err := tellers(t, page("n1", 1, 1, 0), page("n2", 0, 0, 0)).uneven(); err == nil {
		t.Error("two and none count as even")
	}
}

func TestCatchingUp(t *testing.T) {
	page := func(node string, commit, applied int) string {
		return fmt.Sprintf("ubl_partition_commit_index{node=%q,partition=\"3\"} %d\nubl_partition_applied_index{node=%q,partition=\"3\"} %d\n", node, commit, node, applied)
	}
	c := tellers(t, page("n1", 12, 12), page("n2", 10, 9))
	committed, err := c.highest(commitMetric)
	if err != nil || committed["3"] != 12 {
		t.Fatalf("committed is %v, %v", committed, err)
	}
	if err := c.behind(0, committed); err != nil {
		t.Error(err)
	}
	if err := c.behind(1, committed); err == nil {
		t.Error("node 2 counts as caught up")
	}
	if partition, by := (indexes{"1": 5, "3": 12}).rose(indexes{"1": 4, "3": 2}); partition != "3" || by != 10 {
		t.Errorf("partition %s rose by %.0f", partition, by)
	}
}
