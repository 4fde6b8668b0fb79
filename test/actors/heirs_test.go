package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// estate is places of bob's in a yard, each with something of old inside.
type estate struct {
	*yard
	tenant           ubl.Name
	plans, shelf     ubl.Name
	ofPlans, ofShelf ubl.AgreementID
	document         ubl.DocumentID
	seq              int64 // of the last message from before
}

func openEstate(t *testing.T) *estate {
	t.Helper()
	y := openYard(t, harness.Open(t, harness.Options{}))
	e := &estate{yard: y, tenant: ubl.TenantName(y.ana.TenantID), ofPlans: "a:room:r:plans", ofShelf: "a:workspace:w:shelf"}
	room := harness.Must[*ubl.RoomSummary](y.House, e.tenant, ubl.CreateRoom{Request: y.Request(y.bob), Name: "plans"})
	shelf := harness.Must[*ubl.ContainerMade](y.House, e.tenant, ubl.CreateContainer{Request: y.Request(y.bob), Kind: "workspace", Name: "shelf"})
	e.plans, e.shelf = ubl.RoomName(y.ana.TenantID, room.RoomID), ubl.ContainerName(y.ana.TenantID, shelf.Container.ContainerID)
	e.seq = harness.Must[*ubl.Sent](y.House, e.plans, ubl.SendMessage{Request: y.Request(y.bob), Text: "secret"}).RoomSeq
	e.document = harness.Must[*ubl.DocumentResult](y.House, e.shelf, ubl.CreateDocument{Request: y.Request(y.bob), Title: "old", Content: "secret"}).Document.DocumentID
	return e
}

func (e *estate) setHeir(by ubl.Identity, of ubl.AgreementID, m ubl.Identity) ubl.SetHeir {
	return ubl.SetHeir{Request: e.Request(by), Agreement: of, Heir: ubl.Member{UserID: m.UserID, Email: m.Email, IsService: m.IsService}}
}

// name has bob name somebody for both places.
func (e *estate) name(m ubl.Identity) {
	e.t.Helper()
	harness.Must[*ubl.Member](e.House, e.plans, e.setHeir(e.bob, e.ofPlans, m))
	harness.Must[*ubl.Member](e.House, e.shelf, e.setHeir(e.bob, e.ofShelf, m))
}

// let has bob let somebody in.
func (e *estate) let(place ubl.Name, who ubl.Identity) {
	e.t.Helper()
	harness.Must[*ubl.Member](e.House, place, ubl.AddMember{Request: e.Request(e.bob), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: ubl.RoleMember}})
}

// shutOut removes somebody from the tenant, a moment later.
func (e *estate) shutOut(who ubl.Identity) {
	e.t.Helper()
	e.Clock.Add(time.Second)
	harness.Must[*ubl.Member](e.House, e.tenant, ubl.RemoveTenantMember{Request: e.Request(e.ana), UserID: who.UserID})
	e.Clock.Add(time.Second)
}

// sealed are the Agreements in the list for the tenant's owners.
func (e *estate) sealed() string {
	e.t.Helper()
	var ids []string
	for _, p := range harness.Must[[]ubl.SealedPlace](e.House, e.tenant, ubl.ListSealed{Who: e.ana}) {
		ids = append(ids, fmt.Sprintf("%s %q", p.AgreementID, p.Name))
	}
	return strings.Join(ids, ", ")
}

// closed sees that nothing from before is read by somebody who is in now.
func (e *estate) closed(to ubl.Identity) {
	e.t.Helper()
	after := int64(0)
	for _, c := range []ubl.ReadHistory{{Who: to, Limit: 200}, {Who: to, After: &after, Limit: 200}} {
		page := harness.Must[*ubl.HistoryPage](e.House, e.plans, c)
		if page.Head.AvailableFrom != e.seq+2 || slices.ContainsFunc(page.Messages, func(m json.RawMessage) bool { return bytes.Contains(m, []byte("secret")) }) {
			e.t.Errorf("%s reads %s", to.Email, page.Messages)
		}
	}
	if read := harness.Must[*ubl.ReadState](e.House, e.plans, ubl.MarkRead{Request: e.Request(to), Seq: 0}); read.Unread != 0 {
		e.t.Errorf("%s is told of %d messages", to.Email, read.Unread)
	}
	if d := harness.Must[*ubl.DocumentResult](e.House, e.shelf, ubl.GetDocument{Request: e.Request(to), DocumentID: e.document, Version: 1}).Document; d != nil {
		e.t.Errorf("%s reads %+v", to.Email, d)
	}
	if n := len(harness.Must[*ubl.DocumentList](e.House, e.shelf, ubl.ListDocuments{Request: e.Request(to)}).Documents); n != 0 {
		e.t.Errorf("%s sees %d documents", to.Email, n)
	}
}

// TestHeirFromOutside has what nobody is left in: from then on, and nothing from before.
func TestHeirFromOutside(t *testing.T) {
	e := openEstate(t)
	e.name(e.cem)
	e.shutOut(e.bob)
	for range 2 {
		for _, place := range []ubl.Name{e.plans, e.shelf} {
			if got := e.entries(place, e.cem); got != "cem owner" {
				t.Errorf("%s has %s", place, got)
			}
			v := harness.Must[*ubl.AgreementView](e.House, place, ubl.GetAgreement{Who: e.cem})
			if v.NamedHeir != "" || v.SealedAt != nil {
				t.Errorf("the record of %s is %+v", place, v.Agreement)
			}
		}
		e.closed(e.cem)
		e.Refused(ubl.CodeNotAMember, e.plans, ubl.ReadHistory{Who: e.ana, Limit: 10})
		if got := e.sealed(); got != "" {
			t.Errorf("the list has %s", got)
		}
		e.Reload()
	}
	harness.Must[*ubl.Sent](e.House, e.plans, ubl.SendMessage{Request: e.Request(e.cem), Text: "from now on"})
	harness.Must[*ubl.DocumentResult](e.House, e.shelf, ubl.CreateDocument{Request: e.Request(e.cem), Title: "new", Content: "mine"})
	e.checkLedger()
}

// TestHeirInside becomes the owner, before whom has been there for longer, and nothing
// is closed. Where others are left inside, nobody from outside gets in.
func TestHeirInside(t *testing.T) {
	e := openEstate(t)
	for _, who := range []ubl.Identity{e.ana, e.cem} {
		e.Clock.Add(time.Second)
		for _, place := range []ubl.Name{e.plans, e.shelf} {
			e.let(place, who)
		}
	}
	dan := harness.User("dan@example.com")
	e.Enter(dan)
	e.name(dan)
	harness.Must[*ubl.Member](e.House, e.plans, e.setHeir(e.bob, e.ofPlans, e.cem))
	e.shutOut(e.bob)
	for range 2 {
		if got := e.entries(e.plans, e.cem); got != "ana member, cem owner" {
			t.Errorf("the room has %s", got)
		}
		if got := e.entries(e.shelf, e.ana); got != "ana owner, cem member" {
			t.Errorf("the shelf has %s", got)
		}
		if page := harness.Must[*ubl.HistoryPage](e.House, e.plans, ubl.ReadHistory{Who: e.cem, Limit: 200}); page.Head.AvailableFrom != 1 {
			t.Errorf("the room begins at %d", page.Head.AvailableFrom)
		}
		e.Reload()
	}
	if v := harness.Must[*ubl.AgreementView](e.House, e.shelf, ubl.GetAgreement{Who: e.ana}); v.NamedHeir != dan.UserID {
		t.Errorf("the shelf's heir is %q", v.NamedHeir)
	}
	if c := harness.Must[*ubl.Container](e.House, e.shelf, ubl.GetContainer{Who: e.ana}); c.Heir != dan.UserID {
		t.Errorf("the shelf is served with the heir %q", c.Heir)
	}
	e.checkLedger()
}

// TestHeirGone: an heir who has left the tenant doesn't count. The place is sealed, the
// tenant's owners see that it is, and give it to somebody; the one who was named does
// not have it when they come back.
func TestHeirGone(t *testing.T) {
	e := openEstate(t)
	e.name(e.cem)
	e.shutOut(e.cem)
	e.shutOut(e.bob)
	harness.Must[*ubl.Member](e.House, e.tenant, ubl.SetTenantMember{Request: e.Request(e.ana), UserID: e.cem.UserID, Role: ubl.RoleMember})
	harness.Must[int](e.House, e.tenant, ubl.SweepRooms{Request: e.Request(ubl.Platform())})
	for range 2 {
		if got := e.sealed(); got != `a:room:r:plans "plans", a:workspace:w:shelf "shelf"` {
			t.Errorf("the list has %s", got)
		}
		e.Refused(ubl.CodeNotAMember, e.plans, ubl.ReadHistory{Who: e.cem, Limit: 10})
		e.Refused(ubl.CodeForbidden, e.tenant, ubl.ListSealed{Who: e.cem})
		e.Reload()
	}
	eve := harness.User("eve@else.example")
	e.Enter(eve)
	e.Refused(ubl.CodeForbidden, e.tenant, ubl.ListSealed{Who: eve})
	e.Refused(ubl.CodeForbidden, e.tenant, ubl.NameHeir{Request: e.Request(eve), Agreement: e.ofPlans, UserID: eve.UserID})
	if list := harness.Must[[]ubl.SealedPlace](e.House, ubl.TenantName(eve.TenantID), ubl.ListSealed{Who: eve}); len(list) != 0 {
		t.Errorf("another tenant's list has %+v", list)
	}
	for _, of := range []ubl.AgreementID{e.ofPlans, e.ofShelf} {
		harness.Must[*ubl.Member](e.House, e.tenant, ubl.NameHeir{Request: e.Request(e.ana), Agreement: of, UserID: e.cem.UserID})
	}
	if got := e.sealed(); got != "" {
		t.Errorf("the list has %s", got)
	}
	e.Clock.Add(time.Second)
	e.closed(e.cem)
	e.checkLedger()
}

// TestWhoNamesAnHeir: owners that are people, a person, and on record; members see it.
func TestWhoNamesAnHeir(t *testing.T) {
	e := openEstate(t)
	e.let(e.plans, e.ana)
	bot := e.cem
	bot.IsService = true
	for code, c := range map[ubl.Code][]ubl.SetHeir{
		ubl.CodeForbidden:  {e.setHeir(e.ana, e.ofPlans, e.cem)},
		ubl.CodeNotAMember: {e.setHeir(e.cem, e.ofPlans, e.cem)},
		ubl.CodeValidation: {e.setHeir(e.bob, e.ofPlans, bot), e.setHeir(e.bob, e.ofPlans, e.bob)},
		ubl.CodeConflict:   {e.setHeir(e.bob, e.ofPlans, ubl.Identity{})},
		ubl.CodeNotFound:   {e.setHeir(e.bob, e.ofShelf, e.cem)},
	} {
		for _, c := range c {
			e.Refused(code, e.plans, c)
		}
	}
	e.Refused(ubl.CodeNotFound, e.shelf, e.setHeir(e.cem, e.ofShelf, e.cem))
	service := e.setHeir(e.bob, e.ofPlans, e.cem)
	service.Who.IsService = true
	e.Refused(ubl.CodeForbidden, e.plans, service)

	named := e.setHeir(e.bob, e.ofPlans, e.cem)
	for range 2 {
		if m := harness.Must[*ubl.Member](e.House, e.plans, named); m.UserID != e.cem.UserID {
			t.Errorf("named is %+v", m)
		}
		v := harness.Must[*ubl.AgreementView](e.House, e.plans, ubl.GetAgreement{Who: e.ana})
		room := harness.Must[*ubl.Room](e.House, e.plans, ubl.GetRoom{Who: e.ana})
		if v.NamedHeir != e.cem.UserID || room.Heir != e.cem.UserID || v.History[len(v.History)-1].Did != ubl.DidHeirSet {
			t.Errorf("a member sees the record %+v, the room %+v", v, room)
		}
		e.Reload()
	}
	e.Refused(ubl.CodeConflict, e.plans, e.setHeir(e.bob, e.ofPlans, e.cem))
	harness.Must[*ubl.Member](e.House, e.plans, e.setHeir(e.bob, e.ofPlans, ubl.Identity{}))
	if v := harness.Must[*ubl.AgreementView](e.House, e.plans, ubl.GetAgreement{Who: e.bob}); v.NamedHeir != "" {
		t.Errorf("the heir is %q still", v.NamedHeir)
	}
	harness.Must[*ubl.AgreementView](e.House, e.plans, ubl.EndAgreement{Request: e.Request(e.bob), Agreement: e.ofPlans})
	e.Refused(ubl.CodeForbidden, e.plans, e.setHeir(e.bob, e.ofPlans, e.cem))
	e.checkLedger()
}

// TestHeirOfWhatIsOpen: a place that others could enter goes to who was named, before the
// tenant's oldest owner, with all that is inside.
func TestHeirOfWhatIsOpen(t *testing.T) {
	e := openEstate(t)
	join := ubl.JoinTenant
	harness.Must[*ubl.Room](e.House, e.plans, ubl.SetRoomPolicy{Request: e.Request(e.bob), Patch: ubl.RoomPolicyPatch{Join: &join}})
	e.name(e.cem)
	e.shutOut(e.bob)
	if got := e.entries(e.plans, e.cem); got != "cem owner" {
		t.Errorf("the room has %s", got)
	}
	if page := harness.Must[*ubl.HistoryPage](e.House, e.plans, ubl.ReadHistory{Who: e.cem, Limit: 200}); page.Head.AvailableFrom != 1 {
		t.Errorf("the room begins at %d", page.Head.AvailableFrom)
	}
}
