package actors_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

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
// shut out of the same places, their alarms finish it for all of them.
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
			t.Fatalf("before their alarms %s has %s", place, got)
		}
	}
	finished(h)
	for _, place := range []ubl.Name{general, purse} {
		if got := y.entries(place, y.ana); got != "ana owner" {
			t.Errorf("after their alarms %s has %s", place, got)
		}
	}
	y.checkLedger()
}

// TestSealedRoomTellsWhoLeft: everyone whose entry a sealing takes is told of as gone, agents
// of others too, or their streams would go on into what an heir says.
func TestSealedRoomTellsWhoLeft(t *testing.T) {
	for _, heirs := range []bool{false, true} {
		y := openYard(t, harness.Open(t, harness.Options{}))
		tenant := ubl.TenantName(y.ana.TenantID)
		plans := ubl.RoomName(y.ana.TenantID, harness.Must[*ubl.RoomSummary](y.House, tenant, ubl.CreateRoom{Request: y.Request(y.bob), Name: "plans"}).RoomID)
		agent := ubl.Member{UserID: "u:agent-of-cem", IsService: true, Role: ubl.RoleMember}
		harness.Must[*ubl.Member](y.House, plans, ubl.AddMember{Request: y.Request(y.bob), Member: agent})
		if heirs {
			harness.Must[*ubl.Member](y.House, plans, ubl.SetHeir{Request: y.Request(y.bob), Agreement: "a:room:r:plans", Heir: ubl.Member{UserID: y.cem.UserID, Email: y.cem.Email}})
		}
		var left []ubl.UserID
		cancel := y.Subscribe(plans, func(p ubl.Publication) {
			for _, e := range p.Events {
				if e.Kind == ubl.EventMemberLeft {
					left = append(left, e.UserID)
				}
			}
		})
		harness.Must[*ubl.Member](y.House, tenant, ubl.RemoveTenantMember{Request: y.Request(y.ana), UserID: y.bob.UserID})
		cancel()
		if want := []ubl.UserID{y.bob.UserID, agent.UserID}; !slices.Equal(left, want) {
			t.Errorf("with an heir (%t) %q are told of as gone, want %q", heirs, left, want)
		}
	}
}

// TestSoleOwnersPlacesAreSealed: what was one person's alone is sealed when they are
// shut out: nobody reads it, the tenant's owners neither. An heir whom one of them
// names, on record, has it from then on, and nothing that was inside but the credits.
func TestSoleOwnersPlacesAreSealed(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	tenant := ubl.TenantName(y.ana.TenantID)
	made := func(kind, name string) ubl.Name {
		c := ubl.CreateContainer{Request: y.Request(y.bob), Kind: kind, Name: name}
		return ubl.ContainerName(y.ana.TenantID, harness.Must[*ubl.ContainerMade](y.House, tenant, c).Container.ContainerID)
	}
	purse, shelf, pot := made("wallet", "purse"), made("workspace", "shelf"), y.found("wallet", "pot", "")
	y.issue(purse, 7)
	text := harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.CreateDocument{Request: y.Request(y.bob), Title: "plan", Content: "secret"}).Document
	plans := ubl.RoomName(y.ana.TenantID, harness.Must[*ubl.RoomSummary](y.House, tenant, ubl.CreateRoom{Request: y.Request(y.bob), Name: "plans"}).RoomID)
	secret := harness.Must[*ubl.Sent](y.House, plans, ubl.SendMessage{Request: y.Request(y.bob), Text: "for me alone"})
	records := map[ubl.Name]ubl.AgreementID{purse: "a:wallet:k:purse", shelf: "a:workspace:w:shelf", plans: "a:room:r:plans"}
	heir := func(by ubl.Identity, of ubl.Name, user ubl.UserID) ubl.Command {
		return ubl.NameHeir{Request: y.Request(by), Agreement: records[of], UserID: user}
	}
	y.Refused(ubl.CodeConflict, tenant, heir(y.ana, plans, y.ana.UserID)) // bob is in

	harness.Must[*ubl.Member](y.House, tenant, ubl.RemoveTenantMember{Request: y.Request(y.ana), UserID: y.bob.UserID})
	y.Clock.Add(time.Second)
	for range 2 {
		for _, who := range []ubl.Identity{y.ana, y.bob, y.cem} {
			y.Refused(ubl.CodeNotAMember, plans, ubl.ReadHistory{Who: who, Limit: 10})
			y.Refused(ubl.CodeNotAMember, plans, ubl.JoinRoom{Request: y.Request(who)})
			y.Refused(ubl.CodeNotAMember, plans, ubl.AddMember{Request: y.Request(who), Member: ubl.Member{UserID: who.UserID, Role: ubl.RoleOwner}})
			y.Refused(ubl.CodeNotFound, shelf, ubl.GetDocument{Request: y.Request(who), DocumentID: text.DocumentID})
			y.Refused(ubl.CodeNotFound, shelf, ubl.SearchDocuments{Request: y.Request(who), DocumentQuery: ubl.DocumentQuery{Query: "secret"}})
			y.Refused(ubl.CodeNotFound, purse, ubl.Transfer{Request: y.Request(who), To: id(pot), Amount: 7})
		}
		for of := range records {
			y.Refused(ubl.CodeForbidden, tenant, heir(y.cem, of, y.cem.UserID))
			y.Refused(ubl.CodeNotFound, tenant, heir(y.ana, of, y.bob.UserID))
		}
		harness.Must[int](y.House, tenant, ubl.SweepRooms{Request: y.Request(ubl.Platform())})
		y.Reload()
	}
	for of := range records {
		if m := harness.Must[*ubl.Member](y.House, tenant, heir(y.ana, of, y.cem.UserID)); m.Role != ubl.RoleOwner {
			t.Errorf("the heir of %s is %+v", of, m)
		}
		y.Refused(ubl.CodeConflict, tenant, heir(y.ana, of, y.ana.UserID)) // once
	}
	harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.CreateDocument{Request: y.Request(y.cem), Title: "new", Content: "no secret"})
	for range 2 {
		page := harness.Must[*ubl.HistoryPage](y.House, plans, ubl.ReadHistory{Who: y.cem, Limit: 200})
		begins := secret.RoomSeq + 2 // behind who left, which is closed with what was before
		if len(page.Messages) != 2 || page.FirstSeq != begins || page.Head.AvailableFrom != begins {
			t.Errorf("the heir reads %s", page.Messages)
		}
		after := int64(0)
		if page := harness.Must[*ubl.HistoryPage](y.House, plans, ubl.ReadHistory{Who: y.cem, After: &after, Limit: 200}); len(page.Messages) != 2 {
			t.Errorf("forwards the heir reads %s", page.Messages)
		}
		if got := y.tell(shelf, ubl.GetDocument{Request: y.Request(y.cem), DocumentID: text.DocumentID, Version: 1}); strings.Contains(got, "secret") {
			t.Errorf("the document reads %s", got)
		}
		y.Refused(ubl.CodeNotFound, shelf, ubl.ListVersions{Request: y.Request(y.cem), DocumentID: text.DocumentID})
		y.Refused(ubl.CodeNotFound, shelf, ubl.Transfer{Request: y.Request(y.cem), To: ubl.GeneralWorkspace, DocumentID: text.DocumentID})
		if n := len(harness.Must[*ubl.DocumentList](y.House, shelf, ubl.ListDocuments{Request: y.Request(y.cem)}).Documents); n != 1 {
			t.Errorf("the heir sees %d documents", n)
		}
		if hits := harness.Must[*ubl.DocumentHits](y.House, shelf, ubl.SearchDocuments{Request: y.Request(y.cem), DocumentQuery: ubl.DocumentQuery{Query: "secret"}}).Documents; len(hits) != 1 || hits[0].Title != "new" {
			t.Errorf("the heir finds %+v", hits)
		}
		y.Reload()
	}
	if got := y.tell(purse, ubl.Transfer{Request: y.Request(y.cem), To: id(pot), Amount: 7}); got != "ok" {
		t.Errorf("the credits stay: %s", got)
	}
	y.checkLedger()
}
