package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// standing is how the double's cluster stands: one node is gone, and with it
// the leader of partition 1.
func standing() *ubl.ClusterStatus {
	return &ubl.ClusterStatus{ClusterID: "3f2a91c0", NodeID: "n1",
		Nodes: []ubl.ClusterNode{
			{NodeID: "n1", ServerID: "n1@3f2a91c0", Address: "10.0.0.1:7000", State: ubl.NodeAlive, Voters: 2, Leads: 1},
			{NodeID: "n2", ServerID: "n2@77aa00ff", Address: "10.0.0.2:7000", State: ubl.NodeDead, Leaving: true, Voters: 2},
		},
		Partitions: []ubl.ClusterPartition{
			{Partition: 0, Leader: "n1", Term: 4, Voters: []string{"n1", "n2"}, Learners: []string{"n3"}, CommitIndex: 1200,
				Replicas: []ubl.ClusterReplica{{NodeID: "n1", AppliedIndex: 1200}, {NodeID: "n3", AppliedIndex: 1100, Lag: 100}}},
			{Partition: 1, Term: 5, Voters: []string{"n1", "n2"}, Learners: []string{}, Replicas: []ubl.ClusterReplica{}},
		}}
}

// Status implements [Cluster].
func (s *actors) Status(context.Context) (*ubl.ClusterStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "Status")
	return standing(), s.refuse
}

// Remove implements [Cluster].
func (s *actors) Remove(_ context.Context, req ubl.Request, nodeID string, keep int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf("Remove %s by %s, keep %d, key %s", nodeID, req.Who.UserID, keep, req.Key))
	return s.refuse
}

// Failing implements [Cluster].
func (s *actors) Failing(context.Context) ([]ubl.TenantID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "Failing")
	return []ubl.TenantID{"t:acme.com", "t:far.com"}, s.refuse
}

// root runs the platform.
var root = ubl.Identity{UserID: "u:root", Email: "root@acme.com", EmailDomain: "acme.com",
	TenantID: ubl.CoreTenant, Issuer: "https://id.acme.com", Subject: "root"}

// doAs sends a request of a caller with a role in their tenant.
func (s *server) doAs(who ubl.Identity, role ubl.Role, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return s.serve(r.WithContext(envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: who}, role))))
}

func TestClusterStatus(t *testing.T) {
	s := newServer(t)
	w := s.doAs(root, ubl.RoleOwner, "GET", "/api/platform/cluster")
	newContract(t, s).check(t, s, "GET", "/api/platform/cluster", w)
	var answer struct{ Cluster *ubl.ClusterStatus }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || !reflect.DeepEqual(answer.Cluster, standing()) {
		t.Errorf("answered %d %s: %v", w.Code, w.Body, err)
	}
}

func TestRemoveNode(t *testing.T) {
	s := newServer(t)
	w := s.doAs(root, ubl.RoleOwner, "DELETE", "/api/platform/cluster/nodes/n2.ubl_0-a?keep=2", "Idempotency-Key", "k1")
	newContract(t, s).check(t, s, "DELETE", "/api/platform/cluster/nodes/n2.ubl_0-a", w)
	if asked := s.takeAsked(); w.Code != http.StatusOK || !reflect.DeepEqual(asked, []string{"Remove n2.ubl_0-a by u:root, keep 2, key k1"}) {
		t.Errorf("answered %d %s after %q", w.Code, w.Body, asked)
	}
}

// clusterRequests are both operations, well formed.
var clusterRequests = []string{"GET /api/platform/cluster", "DELETE /api/platform/cluster/nodes/n2"}

// TestClusterIsForOperators: nobody else learns of a node, or touches one.
func TestClusterIsForOperators(t *testing.T) {
	s := newServer(t)
	for _, request := range clusterRequests {
		method, target, _ := strings.Cut(request, " ")
		s.expect(t, "an owner of another tenant, "+request, s.doAs(ana, ubl.RoleOwner, method, target), ubl.CodeForbidden)
		s.expect(t, "a member of tenant 0, "+request, s.doAs(root, ubl.RoleMember, method, target), ubl.CodeForbidden)
	}
}

// TestOperatorsAreTold that they are: screens and programs offer what is for them to nobody else.
func TestOperatorsAreTold(t *testing.T) {
	for _, c := range []struct {
		who  ubl.Identity
		want bool
	}{{root, true}, {ana, false}} {
		s := newServer(t)
		s.caller = &c.who
		w := s.doAs(c.who, ubl.RoleOwner, "GET", "/api/whoami")
		newContract(t, s).check(t, s, "GET", "/api/whoami", w)
		if got := strings.Contains(w.Body.String(), `"operator":true`); w.Code != http.StatusOK || got != c.want {
			t.Errorf("%s of %s is answered %d %s", c.who.UserID, c.who.TenantID, w.Code, w.Body)
		}
	}
}

// TestRefusalsOfTheCluster keep their codes.
func TestRefusalsOfTheCluster(t *testing.T) {
	s := newServer(t)
	for _, s.refuse = range []error{ubl.Errorf(ubl.CodeNotFound, "no such node"), ubl.Errorf(ubl.CodeConflict, "the last node"),
		ubl.Errorf(ubl.CodeUnavailable, "no leader"), fmt.Errorf("a secret cause")} {
		for _, request := range clusterRequests {
			method, target, _ := strings.Cut(request, " ")
			w := s.doAs(root, ubl.RoleOwner, method, target)
			s.takeAsked()
			s.expect(t, request, w, ubl.CodeOf(s.refuse))
		}
	}
}

// TestNamesOfNodes holds the path's pattern against the domain's.
func TestNamesOfNodes(t *testing.T) {
	s := newServer(t)
	for _, id := range []string{"n", "N1", "node-3f2a91", "a.b_c-9", strings.Repeat("n", 63), strings.Repeat("n", 64), "-n", ".n", "_n", "n@1", "n%201", "n:1", "%C3%A9"} {
		w := s.doAs(root, ubl.RoleOwner, "DELETE", "/api/platform/cluster/nodes/"+id)
		if s.takeAsked(); (w.Code == http.StatusOK) != ubl.ValidNodeID(id) {
			t.Errorf("%s is answered %d %s", id, w.Code, w.Body)
		}
	}
}
