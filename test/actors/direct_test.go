package actors_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// crew is a tenant of four, whose owner is ana.
type crew struct {
	*harness.House
	t                  *testing.T
	tenant             ubl.Name
	ana, bob, cem, dee ubl.Identity
}

func newCrew(t *testing.T) *crew {
	h := harness.Open(t, harness.Options{})
	c := &crew{House: h, t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com"), cem: harness.User("cem@example.com"), dee: harness.User("dee@example.com")}
	for _, who := range []ubl.Identity{c.ana, c.bob, c.cem, c.dee} {
		h.Enter(who)
	}
	c.tenant = ubl.TenantName(c.ana.TenantID)
	return c
}

func (c *crew) refused(want ubl.Code, what string, to ubl.Name, cmd ubl.Command) {
	c.t.Helper()
	if _, err := c.Ask(context.Background(), to, cmd); ubl.CodeOf(err) != want {
		c.t.Errorf("%s is answered %v, want %s", what, err, want)
	}
}

// open is the room of the direct messages that somebody opens.
func (c *crew) open(by ubl.Identity, with ...ubl.Identity) ubl.Name {
	c.t.Helper()
	open := ubl.OpenDirect{Request: c.Request(by)}
	for _, w := range with {
		open.With = append(open.With, w.UserID)
	}
	return ubl.RoomName(by.TenantID, harness.Must[*ubl.RoomSummary](c.House, c.tenant, open).RoomID)
}

func (c *crew) say(by ubl.Identity, in ubl.Name, text string) {
	c.t.Helper()
	harness.Must[*ubl.Sent](c.House, in, ubl.SendMessage{Request: c.Request(by), Text: text})
}

// lists reports whether a room is in somebody's list.
func (c *crew) lists(who ubl.Identity, room ubl.Name) bool {
	list := harness.Must[[]ubl.RoomEntry](c.House, c.tenant, ubl.ListRooms{Who: who})
	return slices.ContainsFunc(list, func(e ubl.RoomEntry) bool { return string(e.RoomID) == room.Local() && e.Member })
}

// TestDirectMessages: the same people have the same room, whoever of them asks; nobody else sees
// it, comes in, or changes what it is, the tenant's owner least.
func TestDirectMessages(t *testing.T) {
	c := newCrew(t)
	dm := c.open(c.bob, c.cem)
	for who, again := range map[string]ubl.Name{"cem": c.open(c.cem, c.bob), "twice": c.open(c.bob, c.cem, c.cem), "with themselves": c.open(c.bob, c.bob, c.cem)} {
		if again != dm {
			t.Errorf("%s: another room, %s and %s", who, again, dm)
		}
	}
	if other := c.open(c.bob, c.cem, c.dee); other == dm {
		t.Error("another set has the same room")
	}
	c.say(c.bob, dm, "between us")
	if page := harness.Must[*ubl.HistoryPage](c.House, dm, ubl.ReadHistory{Who: c.cem, Limit: 1}); len(page.Messages) != 1 {
		t.Errorf("cem reads %d messages", len(page.Messages))
	}
	r := harness.Must[*ubl.Room](c.House, dm, ubl.GetRoom{Who: c.cem})
	if want := []ubl.UserID{c.bob.UserID, c.cem.UserID}; r.Direct == nil || !slices.Equal(slices.Sorted(slices.Values(want)), r.Direct.Members) {
		t.Errorf("the room is between %+v", r.Direct)
	}
	for _, who := range []ubl.Identity{c.ana, c.dee} {
		c.refused(ubl.CodeNotAMember, "reading by others", dm, ubl.ReadHistory{Who: who, Limit: 1})
		c.refused(ubl.CodeNotAMember, "looking by others", dm, ubl.GetRoom{Who: who})
		c.refused(ubl.CodeNotAMember, "a card for others", dm, ubl.GetRoomCard{Who: who})
		c.refused(ubl.CodeNotAMember, "joining", dm, ubl.JoinRoom{Request: c.Request(who)})
		if c.lists(who, dm) {
			t.Errorf("%s sees it in their list", who.Email)
		}
	}
	dee := ubl.Member{UserID: c.dee.UserID, Email: c.dee.Email, Role: ubl.RoleMember}
	join := ubl.JoinTenant
	for what, cmd := range map[string]ubl.Command{
		"inviting":       ubl.AddMember{Request: c.Request(c.bob), Member: dee},
		"renaming":       ubl.DescribeRoom{Request: c.Request(c.bob), Patch: ubl.RoomDescriptionPatch{Name: new("ours")}},
		"another policy": ubl.SetRoomPolicy{Request: c.Request(c.bob), Patch: ubl.RoomPolicyPatch{Join: &join}},
		"a promotion":    ubl.SetMember{Request: c.Request(c.bob), UserID: c.bob.UserID, Role: ubl.RoleOwner},
		"taking cem out": ubl.RemoveMember{Request: c.Request(c.bob), UserID: c.cem.UserID},
		"naming an heir": ubl.SetHeir{Request: c.Request(c.bob), Heir: dee},
		"ending it":      ubl.EndAgreement{Request: c.Request(c.bob)},
	} {
		c.refused(ubl.CodeForbidden, what, dm, cmd)
	}
	with := func(ids ...ubl.UserID) ubl.OpenDirect { return ubl.OpenDirect{Request: c.Request(c.bob), With: ids} }
	many := make([]ubl.UserID, ubl.MaxDirect)
	for i := range many {
		many[i] = ubl.UserID(fmt.Sprint("u:", i))
	}
	c.refused(ubl.CodeValidation, "with nobody", c.tenant, with())
	c.refused(ubl.CodeValidation, "with too many", c.tenant, with(many...))
	c.refused(ubl.CodeNotFound, "with a stranger", c.tenant, with("u:stranger"))
	c.refused(ubl.CodeForbidden, "by a stranger", c.tenant, ubl.OpenDirect{Request: c.Request(harness.User("eve@example.org")), With: []ubl.UserID{c.bob.UserID}})
	id, _ := ubl.DirectRoom([]ubl.UserID{c.ana.UserID, c.dee.UserID})
	c.refused(ubl.CodeValidation, "a room of the same id", c.tenant, ubl.CreateRoom{Request: c.Request(c.cem), Name: string(id[2:])})
	c.VerifyLedger(c.ana.TenantID)
}

// TestDirectMessagesHidden: who leaves doesn't see them until the next message, or until they open
// them again.
func TestDirectMessagesHidden(t *testing.T) {
	c := newCrew(t)
	dm := c.open(c.bob, c.cem)
	hide := func() {
		t.Helper()
		harness.Must[*ubl.Member](c.House, dm, ubl.RemoveMember{Request: c.Request(c.cem), UserID: c.cem.UserID})
		if c.lists(c.cem, dm) || !c.lists(c.bob, dm) {
			t.Errorf("hidden by cem: cem lists it %t, bob %t", c.lists(c.cem, dm), c.lists(c.bob, dm))
		}
	}
	shown := func(why string) {
		t.Helper()
		if !c.lists(c.cem, dm) {
			t.Errorf("%s: cem doesn't see it", why)
		}
	}
	hide()
	c.refused(ubl.CodeConflict, "hiding it twice", dm, ubl.RemoveMember{Request: c.Request(c.cem), UserID: c.cem.UserID})
	c.say(c.bob, dm, "are you there?")
	shown("the next message")
	hide()
	if c.open(c.cem, c.bob) != dm {
		t.Error("it is another room")
	}
	shown("opened again")
	hide()
	harness.Must[[]ubl.Member](c.House, c.tenant, ubl.ListMembers{Who: c.ana})
	harness.Must[any](c.House, c.tenant, ubl.RemoveTenantMember{Request: c.Request(c.ana), UserID: c.cem.UserID})
	c.refused(ubl.CodeNotAMember, "reading by who is shut out", dm, ubl.ReadHistory{Who: c.cem, Limit: 1})
	harness.Must[any](c.House, c.tenant, ubl.SetTenantMember{Request: c.Request(c.ana), UserID: c.cem.UserID, Role: ubl.RoleMember})
	c.Enter(c.cem)
	if c.open(c.cem, c.bob) != dm {
		t.Error("let in again, it is another room")
	}
	shown("let in again")
	c.VerifyLedger(c.ana.TenantID)
}

// TestDirectMessagesSealed: once all have left the tenant, nobody gets in, and no owner is offered
// them.
func TestDirectMessagesSealed(t *testing.T) {
	c := newCrew(t)
	dm := c.open(c.bob, c.cem)
	c.say(c.bob, dm, "between us")
	for _, who := range []ubl.Identity{c.bob, c.cem} {
		harness.Must[any](c.House, c.tenant, ubl.RemoveTenantMember{Request: c.Request(c.ana), UserID: who.UserID})
	}
	if list := harness.Must[[]ubl.SealedPlace](c.House, c.tenant, ubl.ListSealed{Who: c.ana}); len(list) != 0 {
		t.Errorf("sealed places are %+v", list)
	}
	c.refused(ubl.CodeNotFound, "an heir", c.tenant, ubl.NameHeir{Request: c.Request(c.ana), Agreement: ubl.RoomAgreement(ubl.RoomID(dm.Local())), UserID: c.ana.UserID})
	c.refused(ubl.CodeNotAMember, "reading", dm, ubl.ReadHistory{Who: c.ana, Limit: 1})
}
