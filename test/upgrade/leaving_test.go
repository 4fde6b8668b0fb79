package upgrade

import (
	"fmt"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// beforeLeaving opens what the version wrote in which removed people left their
// agents inside, and collaborative let in the whole tenant. Ana and eve own the
// tenant, and eve was removed; bob and cem are members.
func beforeLeaving(t *testing.T) (h *harness.House, ana, bob ubl.Identity) {
	t.Helper()
	h = harness.Open(t, harness.Options{Dir: harness.Restore(t, "testdata/before-leaving/data.tar.gz"), From: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)})
	return h, local("ana@leaving.example"), local("bob@leaving.example")
}

// TestServicesFromBefore: the agent of an owner who was removed then is refused at
// once, and gone with the first sweep. A token without an end gets one then, 90 days
// later, and goes on meanwhile.
func TestServicesFromBefore(t *testing.T) {
	h, ana, _ := beforeLeaving(t)
	tenant := ubl.TenantName(ana.TenantID)
	eves := ubl.Identity{UserID: ubl.UserIDFor("urn:ubl:service", "eves", false), IsService: true, TenantID: ana.TenantID, Issuer: "urn:ubl:service", Subject: "eves"}
	h.Refused(ubl.CodeUnauthorized, tenant, ubl.CheckServiceToken{ClientID: "eves", SecretHash: "eves"})
	h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(eves)})
	began := ubl.TimeOf(h.Clock.Now())
	swept(t, h, ana.TenantID)
	for range 2 {
		for _, token := range harness.Must[[]ubl.ServiceToken](h, tenant, ubl.ListServiceTokens{Who: ana}) {
			if ended := token.RevokedAt != nil; ended != (token.ClientID == "eves") {
				t.Errorf("%s has ended: %v", token.ClientID, ended)
			}
		}
		if got := harness.Must[*ubl.ServiceCaller](h, tenant, ubl.CheckServiceToken{ClientID: "anas", SecretHash: "anas"}); got.ExpiresAt != began.Add(ubl.ServiceTokenTTL) {
			t.Errorf("ana's agent ends at %s", got.ExpiresAt)
		}
		h.Refused(ubl.CodeNotFound, tenant, ubl.FindMember{Who: ana, UserID: eves.UserID})
		h.Refused(ubl.CodeNotAMember, ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.ReadHistory{Who: eves, Limit: 1})
		h.Clock.Add(time.Hour)
		h.Restart()
		swept(t, h, ana.TenantID) // has nothing left to do
	}
	h.VerifyLedger(ana.TenantID)
}

// TestContainersFromBefore: who read and wrote in collaborative containers without
// an entry goes on: in those of the version before as in open ones, in the general
// workspace as an entry. An ended one is read by all as before.
func TestContainersFromBefore(t *testing.T) {
	h, ana, bob := beforeLeaving(t)
	tenant := ubl.TenantName(ana.TenantID)
	at := func(id ubl.ContainerID) ubl.Name { return ubl.ContainerName(ana.TenantID, id) }
	open := ubl.Physics{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Open, Execution: ubl.Sandboxed}
	h.Enter(bob)
	for id, documents := range map[ubl.ContainerID]int{"w:shared": 2, "w:busy": 1, "w:general": 1, "w:ended": 1} {
		if n := len(harness.Must[*ubl.DocumentList](h, at(id), ubl.ListDocuments{Request: h.Request(bob)}).Documents); n != documents {
			t.Errorf("bob sees %d documents in %s, want %d", n, id, documents)
		}
	}
	for id, want := range map[ubl.ContainerID]ubl.Physics{"w:shared": open, "w:busy": open, "w:ended": open, "w:general": ubl.WorkspaceKind().Physics} {
		view := harness.Must[*ubl.Container](h, at(id), ubl.GetContainer{Who: bob})
		agreement := harness.Must[*ubl.AgreementView](h, at(id), ubl.GetAgreement{Who: bob, Brief: true})
		if view.Physics != want || *agreement.Physics != want || view.Member != (id == "w:general") {
			t.Errorf("%s is %v, its Agreement says %v; bob is a member: %v", id, view.Physics, agreement.Physics, view.Member)
		}
	}
	for n := range 2 {
		for _, id := range []ubl.ContainerID{"w:shared", "w:busy", "w:general"} {
			req := h.Request(bob)
			req.Key = fmt.Sprint("on ", n) // the fixture has keys of its own
			harness.Must[*ubl.DocumentResult](h, at(id), ubl.CreateDocument{Request: req, Title: "on", Content: "and on"})
		}
		h.Refused(ubl.CodeForbidden, at("w:ended"), ubl.CreateDocument{Request: h.Request(bob), Title: "on"})
		list := harness.Must[*ubl.ContainerList](h, tenant, ubl.ListContainers{Request: h.Request(bob)}).Containers
		if len(list) != 4 {
			t.Errorf("bob sees %+v", list)
		}
		h.Reload()
	}
	req := h.Request(ana)
	req.Key = "new"
	made := harness.Must[*ubl.ContainerMade](h, tenant, ubl.CreateContainer{Request: req, Kind: "workspace", Name: "New"}).Container
	h.Refused(ubl.CodeNotFound, at(made.ContainerID), ubl.ListDocuments{Request: h.Request(bob)})
	h.VerifyLedger(ana.TenantID)
}
