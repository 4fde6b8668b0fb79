package actors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// kept is a room and a workspace of ana's with bob, two agents with a mandate that he keeps, one
// without, and one of ana's.
type keptParty struct {
	*party
	agents []ubl.Identity // of bob's, with a mandate
	other  ubl.Identity
	places []ubl.Name
}

func openKept(t *testing.T, h *harness.House) *keptParty {
	k := &keptParty{party: openParty(t, h)}
	shelf := harness.Must[*ubl.ContainerMade](h, k.tenant, ubl.CreateContainer{Request: k.Request(k.ana), Kind: "workspace", Name: "Shelf"})
	k.places = []ubl.Name{k.general, ubl.ContainerName(k.ana.TenantID, shelf.Container.ContainerID)}
	m := ubl.Mandate{Tools: []string{"messenger.*"}, Places: []string{k.general.Local(), k.places[1].Local()}}
	mandated := func(by ubl.Identity, id string) ubl.Identity {
		t.Helper()
		harness.Must[*ubl.ServiceToken](h, k.tenant, ubl.CreateServiceToken{Request: k.Request(by), Name: id, ClientID: id, SecretHash: id, Mandate: &m})
		return k.agent(id)
	}
	k.agents = []ubl.Identity{mandated(k.bob, "one"), mandated(k.bob, "two")}
	k.other = mandated(k.ana, "hers")
	k.token(k.bob, "free")
	free := k.agent("free")
	for _, who := range append([]ubl.Identity{k.bob, k.other, free}, k.agents...) {
		k.let(who)
	}
	return k
}

// let has somebody in both places.
func (k *keptParty) let(who ubl.Identity) {
	k.t.Helper()
	for _, at := range k.places {
		_, err := k.Ask(k.t.Context(), at, ubl.AddMember{Request: k.Request(k.ana), Member: ubl.Member{UserID: who.UserID, Role: ubl.RoleMember, IsService: who.IsService}})
		if code := ubl.CodeOf(err); err != nil && code != ubl.CodeConflict {
			k.t.Fatal(err)
		}
	}
}

// in reports who of them is in a place.
func (k *keptParty) in(at ubl.Name, who ...ubl.Identity) (n int) {
	k.t.Helper()
	members := harness.Must[*ubl.AgreementView](k.House, at, ubl.GetAgreement{Who: k.ana}).Members
	for _, id := range who {
		if slices.ContainsFunc(members, func(m ubl.Member) bool { return m.UserID == id.UserID }) {
			n++
		}
	}
	return n
}

// TestAgentsFollowTheirKeeper out of a room and a container, and the answer names them, to a
// retry too. Who leaves by themselves leaves them there.
func TestAgentsFollowTheirKeeper(t *testing.T) {
	k := openKept(t, harness.Open(t, harness.Options{}))
	for _, at := range k.places {
		remove := ubl.RemoveMember{Request: k.Request(k.ana), UserID: k.bob.UserID}
		for range 2 {
			gone := harness.Must[*ubl.Member](k.House, at, remove)
			if want := []ubl.UserID{k.agents[0].UserID, k.agents[1].UserID}; gone.UserID != k.bob.UserID || len(gone.Agents) != 2 || !slices.Contains(want, gone.Agents[0]) || !slices.Contains(want, gone.Agents[1]) {
				t.Errorf("%s answers %+v", at, gone)
			}
		}
		if k.in(at, k.agents...) != 0 || k.in(at, k.other) != 1 {
			t.Errorf("in %s there are %d of his agents", at, k.in(at, k.agents...))
		}
	}
	k.let(k.agents[0]) // an owner lets one in again, which stays
	finished(k.House)
	for _, at := range k.places {
		if n := k.in(at, k.agents...); n != 1 {
			t.Errorf("in %s are %d, one was let in again", at, n)
		}
	}
	k.let(k.bob)
	for _, at := range k.places {
		if gone := harness.Must[*ubl.Member](k.House, at, ubl.RemoveMember{Request: k.Request(k.bob), UserID: k.bob.UserID}); gone.Agents != nil || k.in(at, k.agents...) != 1 {
			t.Errorf("bob has left %s with %v", at, gone.Agents)
		}
	}
	if n := alarmsOf(k.House, t, k.ana.TenantID); n > 0 {
		t.Errorf("%d records of alarms are left", n)
	}
	k.VerifyLedger(k.ana.TenantID)
}

// TestAgentsFollowAfterACrash: the node stops at each commit of a removal. After a restart the
// removal's alarm has the agents out, once each, without anybody asking again.
func TestAgentsFollowAfterACrash(t *testing.T) {
	for n := range 2 {
		for step := 1; step <= 3; step++ {
			for point, fault := range crashPoints() {
				t.Run(fmt.Sprintf("place %d, commit %d, %s", n, step, point), func(t *testing.T) {
					h, v := openWithValve(t, actors.Limits{})
					k := openKept(t, h)
					h.Clock.Add(time.Second)
					at, did := k.places[n], []ubl.Did{ubl.DidRoomRemove, ubl.DidContainerRemove}[n]
					crashAt(v, step, fault(v))
					k.Refused(ubl.CodeUnavailable, at, ubl.RemoveMember{Request: k.Request(k.ana), UserID: k.bob.UserID})
					v.setFault(nil)
					h.Restart()
					removed := k.in(at, k.bob) == 0
					if lasting := step > 1 || point == "after persisting, before the answer"; removed != lasting {
						t.Fatalf("the removal is on record: %v", removed)
					}
					for range 2 {
						finished(h)
						agents, acts := 2, 0
						if removed {
							agents, acts = 0, 3
						}
						if got := k.in(at, k.agents...); got != agents || k.in(at, k.other) != 1 {
							t.Errorf("%d of his agents are in", got)
						}
						if got := k.acts(k.ana.TenantID, did); got != acts {
							t.Errorf("%d removals are on record, want %d", got, acts)
						}
						h.Restart()
					}
					if n := alarmsOf(h, t, k.ana.TenantID); n > 0 {
						t.Errorf("%d records of alarms are left", n)
					}
					k.VerifyLedger(k.ana.TenantID)
				})
			}
		}
	}
}
