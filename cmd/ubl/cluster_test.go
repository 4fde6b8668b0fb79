package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"ubl"
)

// standing is a cluster in trouble: n2 is dead, n4 takes its place, and
// partitions 1 and 2 have nobody to lead them.
func standing() *ubl.ClusterStatus {
	return &ubl.ClusterStatus{ClusterID: "3f2a91c0", NodeID: "n1",
		Nodes: []ubl.ClusterNode{
			{NodeID: "n1", ServerID: "n1@00000001", Address: "10.0.0.1:7000", State: ubl.NodeAlive, Version: "0.2.0", Leads: 1, Voters: 2},
			{NodeID: "n2", ServerID: "n2@00000002", Address: "10.0.0.2:7000", State: ubl.NodeDead, Leaving: true, Voters: 2},
			{NodeID: "n3", ServerID: "n3@00000003", Address: "10.0.0.3:7000\x1b[31m", State: ubl.NodeSuspect, Voters: 2},
		},
		Partitions: []ubl.ClusterPartition{
			{Partition: 0, Leader: "n1", Term: 12, Voters: []string{"n1", "n2", "n3"}, Learners: []string{"n4"}, CommitIndex: 123456,
				Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 123456}, {NodeID: "n3", AppliedIndex: 123336, Lag: 120}, {NodeID: "n4", AppliedIndex: 7, Lag: 123449}}},
			{Partition: 1, Term: 13, Voters: []string{"n1", "n2", "n3"}, Learners: []string{}, Replicas: []ubl.ClusterReplica{}},
			{Partition: 2, Term: 14, Voters: []string{"n1", "n2", "n3"}, Learners: []string{}, CommitIndex: 9,
				Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 9}, {NodeID: "n3", AppliedIndex: 8, Lag: 1}}},
			{Partition: 3, Term: 14, Voters: []string{"n1", "n2", "n3"}, Learners: []string{}, CommitIndex: 9,
				Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 9}, {NodeID: "n2", Lag: 9, LogLost: true}, {NodeID: "n3", Lag: 9, LogLost: true}}},
		}}
}

const standingText = `cluster 3f2a91c0, seen by n1

NODE  STATE          LEADS  VOTES  ADDRESS             SERVER       SECRET  KEY  VERSION
n1    alive          1      2      10.0.0.1:7000       n1@00000001  -       -    0.2.0
n2    DEAD, leaving  0      2      10.0.0.2:7000       n2@00000002  -       -    -
n3    SUSPECT        0      2      10.0.0.3:7000�[31m  n3@00000003  -       -    -

PARTITION  LEADER    TERM  COMMITTED  COPIES
0          n1        12    123456     n1, n2 (no word), n3 (120 behind), n4 (learner, 123449 behind)
1          NONE      13    0          n1 (no word), n2 (no word), n3 (no word)
2          electing  14    9          n1, n2 (no word), n3 (1 behind)
3          NONE      14    9          n1, n2 (LOG LOST: NO VOTE, 9 behind), n3 (LOG LOST: NO VOTE, 9 behind)
`

// serveStanding answers with a status, and with the removal of n2.
func serveStanding(t *testing.T, status *ubl.ClusterStatus) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /api/platform/cluster":
			data, _ := json.Marshal(status)
			fmt.Fprintf(w, `{"cluster":%s,"request_id":"req:123456"}`, data)
		case "DELETE /api/platform/cluster/nodes/n2":
			if keep := r.URL.Query().Get("keep"); keep != "" && keep != "2" {
				refuse(w, 409, "conflict")
				return
			}
			fmt.Fprint(w, `{"node_id":"n2","removed":true}`)
		default:
			refuse(w, 404, "not_found")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestClusterStatusLooksAgain: leadership that moves is no trouble, though a look may find it on
// its way.
func TestClusterStatusLooksAgain(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := ubl.ClusterStatus{Partitions: []ubl.ClusterPartition{{Partition: 0}}}
		if asked.Add(1) > 1 {
			status.Partitions[0].Leader = "n1"
		}
		data, err := json.Marshal(status)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"cluster":%s,"request_id":"req:123456"}`, data)
	}))
	defer s.Close()
	if code, out, errs := run(t, s.URL, "", "cluster", "status"); code != 0 || asked.Load() != 2 {
		t.Errorf("after %d looks exit code %d, %q\n%s", asked.Load(), code, errs, out)
	}
}

// TestClusterStatusFailsWithoutALeader, after it has shown everything: scripts
// go by the exit code, people by the table.
func TestClusterStatusFailsWithoutALeader(t *testing.T) {
	url := serveStanding(t, standing())
	code, out, errs := run(t, url, "", "cluster", "status")
	if code != 1 || out != standingText || errs != "ubl: no leader: partition 1, 2, 3\n" {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
	code, out, errs = run(t, url, "", "cluster", "status", "--json")
	var got ubl.ClusterStatus
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 1 || !reflect.DeepEqual(&got, standing()) || strings.Count(out, "\n") != 1 {
		t.Errorf("exit code %d, %q, %v\n%s", code, errs, err, out)
	}
}

// TestClusterStatusOfAnOddKey: a node whose key the others don't have is named.
func TestClusterStatusOfAnOddKey(t *testing.T) {
	s := standing()
	s.Partitions = s.Partitions[:1]
	s.Nodes[1].DiskFull = true
	s.Nodes[0].KeyIDs, s.Nodes[1].KeyIDs, s.Nodes[2].KeyIDs = []string{"new", "old"}, []string{"new", "old"}, []string{"old"}
	code, out, errs := run(t, serveStanding(t, s), "", "cluster", "status")
	if !strings.Contains(out, "\nn2    DEAD, DISK FULL, leaving  0") {
		t.Errorf("it shows\n%s", out)
	}
	if want := "ubl: n3 has another key than n1, n2, and refuses whom they let in: see the runbook (UBLKeyDiffers)\n"; code != 1 || errs != want {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

func TestClusterStatusIsFineWithLeaders(t *testing.T) {
	s := standing()
	s.Partitions = s.Partitions[:1]
	if code, out, errs := run(t, serveStanding(t, s), "", "cluster", "status"); code != 0 || errs != "" || strings.Contains(out, "NONE") {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
}

// TestClusterStatusWithoutAQuorum tells why it waits, in the server's words, and doesn't wait for long.
func TestClusterStatusWithoutAQuorum(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/platform/cluster" {
			asked++
		}
		refuse(w, 503, "unavailable")
	}))
	defer s.Close()
	code, out, errs := run(t, s.URL, "", "cluster", "status")
	if code != 1 || out != "" || asked != 2 || strings.Count(errs, "way; trying again…\n") != 1 {
		t.Errorf("exit code %d after %d requests: %s%s", code, asked, out, errs)
	}
}

func TestClusterStatusOfAnotherForm(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }))
	defer s.Close()
	if code, out, errs := run(t, s.URL, "", "cluster", "status"); code != 1 || out != "" || !strings.Contains(errs, "a status of another form") {
		t.Errorf("exit code %d, %q\n%s", code, errs, out)
	}
}

func TestClusterRemove(t *testing.T) {
	url := serveStanding(t, standing())
	if code, out, errs := run(t, url, "", "cluster", "remove", "n2"); code != 0 || out != "n2 is being removed\n" || !strings.Contains(errs, "until its partitions have moved") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, out, _ := run(t, url, "", "cluster", "remove", "--keep", "2", "n2"); code != 0 || out != "n2 is being removed\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if code, out, _ := run(t, url, "", "cluster", "remove", "--keep", "3", "n2"); code != 1 || out != "" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if code, out, _ := run(t, url, "", "cluster", "remove", "n9"); code != 1 || out != "" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if code, _, errs := run(t, url, "", "cluster", "remove", "../n2"); code != 2 || !strings.Contains(errs, "NODE is not the id of a node") {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

// TestNodeAlone is one node that leads every partition.
func TestNodeAlone(t *testing.T) {
	n := opened(t, &program{now: testNow, random: &counter64{}}, t.TempDir())
	s, err := n.operators().Status(t.Context())
	if err != nil || len(s.Nodes) != 1 || !ubl.ValidNodeID(s.NodeID) || s.Nodes[0].Leads != len(s.Partitions) || len(s.Partitions) != n.store.Partitions() || leaderless(s) != nil {
		t.Errorf("the node stands as %+v: %v", s, err)
	}
	for id, want := range map[string]ubl.Code{s.NodeID: ubl.CodeConflict, "n2": ubl.CodeNotFound} {
		if err := n.operators().Remove(t.Context(), ubl.Request{}, id, 0); ubl.CodeOf(err) != want {
			t.Errorf("removing %s: %v", id, err)
		}
	}
}
