package actors_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// entries are the addresses and roles of who belongs to a place, by address.
func (y *yard) entries(of ubl.Name, as ubl.Identity) string {
	y.t.Helper()
	var said []string
	for _, m := range harness.Must[*ubl.AgreementView](y.House, of, ubl.GetAgreement{Who: as}).Members {
		said = append(said, strings.TrimSuffix(m.Email, "@example.com")+" "+string(m.Role))
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

// TestSweepShutsOutMany: where the server died while several people were being
// shut out of the same places, one sweep finishes it for all of them.
func TestSweepShutsOutMany(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	y := openYard(t, h)
	tenant, general := ubl.TenantName(y.ana.TenantID), ubl.RoomName(y.ana.TenantID, ubl.GeneralRoom)
	purse := y.found("wallet", "purse", "")
	for _, who := range []ubl.Identity{y.bob, y.cem} {
		y.add(purse, who, ubl.RoleMember)
	}
	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if !holds(b, `"did":"container.remove"`) && !holds(b, `"did":"room.remove"`) {
			return false
		}
		go settled(errors.New("the power went"))
		return true
	})
	for _, who := range []ubl.Identity{y.bob, y.cem} {
		h.Refused(ubl.CodeUnavailable, tenant, ubl.RemoveTenantMember{Request: h.Request(y.ana), UserID: who.UserID})
	}
	v.setFault(nil)
	h.Restart()
	for _, place := range []ubl.Name{general, purse} {
		if got := y.entries(place, y.ana); got != "ana owner, bob member, cem member" {
			t.Fatalf("before the sweep %s has %s", place, got)
		}
	}
	harness.Must[int](h, tenant, ubl.SweepRooms{Request: h.Request(ubl.Platform())})
	for _, place := range []ubl.Name{general, purse} {
		if got := y.entries(place, y.ana); got != "ana owner" {
			t.Errorf("after the sweep %s has %s", place, got)
		}
	}
	y.checkLedger()
}

// TestSoleOwnersHeir: what was one person's alone is not lost when they are shut
// out: the tenant's oldest owner has it, and reaches what is inside.
func TestSoleOwnersHeir(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	tenant := ubl.TenantName(y.ana.TenantID)
	harness.Must[*ubl.Member](y.House, tenant, ubl.SetTenantMember{Request: y.Request(y.ana), UserID: y.cem.UserID, Role: ubl.RoleOwner})
	made := func(kind, name string) ubl.Name {
		c := ubl.CreateContainer{Request: y.Request(y.bob), Kind: kind, Name: name}
		if kind == "workspace" {
			c.Physics = physics("versioned/objects/gated/sandboxed")
		}
		return ubl.ContainerName(y.ana.TenantID, harness.Must[*ubl.ContainerMade](y.House, tenant, c).Container.ContainerID)
	}
	purse, shelf, pot := made("wallet", "purse"), made("workspace", "shelf"), y.found("wallet", "pot", "")
	y.issue(purse, 7)
	text := harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.CreateDocument{Request: y.Request(y.bob), Title: "plan", Content: "secret"}).Document
	plans := ubl.RoomName(y.ana.TenantID, harness.Must[*ubl.RoomSummary](y.House, tenant, ubl.CreateRoom{Request: y.Request(y.bob), Name: "plans"}).RoomID)

	// cem shuts bob out, and ana is the owner for longest.
	harness.Must[*ubl.Member](y.House, tenant, ubl.RemoveTenantMember{Request: y.Request(y.cem), UserID: y.bob.UserID})
	for range 2 {
		for _, place := range []ubl.Name{purse, shelf, plans} {
			if got := y.entries(place, y.ana); got != "ana owner" {
				t.Errorf("%s has %s", place, got)
			}
		}
		y.Reload()
	}
	if got := y.tell(purse, ubl.Transfer{Request: y.Request(y.ana), To: id(pot), Amount: 7}); got != "ok" {
		t.Errorf("the credits stay: %s", got)
	}
	if got := y.tell(shelf, ubl.GetDocument{Request: y.Request(y.ana), DocumentID: text.DocumentID}); got != "plan v1: secret" {
		t.Errorf("the document reads %s", got)
	}
	if got := y.tell(plans, ubl.SendMessage{Request: y.Request(y.ana), Text: "who was here?"}); got != "ok" {
		t.Errorf("the room answers %s", got)
	}
	y.checkLedger()
}
