package actors_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestRolesInRooms: who may do what in a room, by role.
func TestRolesInRooms(t *testing.T) {
	c := newCrew(t)
	room := ubl.RoomName(c.ana.TenantID, harness.Must[*ubl.RoomSummary](c.House, c.tenant, ubl.CreateRoom{Request: c.Request(c.ana), Name: "plans"}).RoomID)
	add := func(who ubl.Identity, role ubl.Role) {
		harness.Must[*ubl.Member](c.House, room, ubl.AddMember{Request: c.Request(c.ana), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: role}})
	}
	add(c.bob, ubl.RoleModerator)
	add(c.cem, ubl.RoleMember)
	said := func(by ubl.Identity) ubl.MessageID {
		var m ubl.Message
		if err := json.Unmarshal(harness.Must[*ubl.Sent](c.House, room, ubl.SendMessage{Request: c.Request(by), Text: "hi"}).Message, &m); err != nil {
			t.Fatal(err)
		}
		return m.MsgID
	}
	days := 7
	roles := map[string]ubl.Identity{"owner": c.ana, "moderator": c.bob, "member": c.cem}
	acts := []struct {
		name    string
		allowed string
		cmd     func(by ubl.Identity) ubl.Command
	}{
		{"describe", "owner moderator", func(by ubl.Identity) ubl.Command {
			return ubl.DescribeRoom{Request: c.Request(by), Patch: ubl.RoomDescriptionPatch{Topic: new("by " + by.Email)}}
		}},
		{"rename", "owner moderator", func(by ubl.Identity) ubl.Command {
			return ubl.DescribeRoom{Request: c.Request(by), Patch: ubl.RoomDescriptionPatch{Name: new("Plans")}}
		}},
		{"redact another's", "owner moderator", func(by ubl.Identity) ubl.Command {
			return ubl.PostEntry{Request: c.Request(by), Type: ubl.EntryRedaction, Target: said(c.dee), Body: ubl.RedactionContent("")}
		}},
		{"pin", "owner moderator member", func(by ubl.Identity) ubl.Command {
			return ubl.PostEntry{Request: c.Request(by), Type: ubl.EntryPin, Target: said(c.dee), Body: ubl.PinContent(true)}
		}},
		{"set a policy", "owner", func(by ubl.Identity) ubl.Command {
			return ubl.SetRoomPolicy{Request: c.Request(by), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}}
		}},
		{"promote", "owner", func(by ubl.Identity) ubl.Command {
			return ubl.SetMember{Request: c.Request(by), UserID: c.dee.UserID, Role: ubl.RoleMember}
		}},
		{"remove an owner", "owner", func(by ubl.Identity) ubl.Command {
			harness.Must[any](c.House, room, ubl.SetMember{Request: c.Request(c.ana), UserID: c.dee.UserID, Role: ubl.RoleOwner})
			return ubl.RemoveMember{Request: c.Request(by), UserID: c.dee.UserID}
		}},
		{"remove a moderator", "owner", func(by ubl.Identity) ubl.Command {
			harness.Must[any](c.House, room, ubl.SetMember{Request: c.Request(c.ana), UserID: c.dee.UserID, Role: ubl.RoleModerator})
			return ubl.RemoveMember{Request: c.Request(by), UserID: c.dee.UserID}
		}},
		{"remove a member", "owner moderator", func(by ubl.Identity) ubl.Command {
			return ubl.RemoveMember{Request: c.Request(by), UserID: c.dee.UserID}
		}},
	}
	for _, a := range acts {
		got := ""
		for _, role := range []string{"owner", "moderator", "member"} {
			if in := harness.Must[*ubl.AgreementView](c.House, room, ubl.GetAgreement{Who: c.ana, Brief: true}).Agreement.Members; in[c.dee.UserID].UserID == "" {
				add(c.dee, ubl.RoleMember)
			} else {
				harness.Must[any](c.House, room, ubl.SetMember{Request: c.Request(c.ana), UserID: c.dee.UserID, Role: ubl.RoleMember})
			}
			switch _, err := c.Ask(t.Context(), room, a.cmd(roles[role])); {
			case err == nil:
				got += " " + role
			case ubl.CodeOf(err) != ubl.CodeForbidden:
				t.Errorf("%s by the %s: %v", a.name, role, err)
			}
		}
		if got != " "+a.allowed {
			t.Errorf("%s is allowed to%s, want %s", a.name, got, a.allowed)
		}
	}
	c.refused(ubl.CodeConflict, "the last owner leaving", room, ubl.RemoveMember{Request: c.Request(c.ana), UserID: c.ana.UserID})
	c.VerifyLedger(c.ana.TenantID)
}

// TestAnnouncements: where owners and moderators write, others react, and answer in threads where
// the policy says so.
func TestAnnouncements(t *testing.T) {
	c := newCrew(t)
	room := ubl.RoomName(c.ana.TenantID, ubl.GeneralRoom)
	harness.Must[*ubl.Member](c.House, room, ubl.SetMember{Request: c.Request(c.ana), UserID: c.bob.UserID, Role: ubl.RoleModerator})
	var first ubl.Message
	if err := json.Unmarshal(harness.Must[*ubl.Sent](c.House, room, ubl.SendMessage{Request: c.Request(c.ana), Text: "news"}).Message, &first); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ posting, writes, answers string }{
		{ubl.PostingModerators, "ana bob", "ana bob"}, {ubl.PostingThreads, "ana bob", "ana bob cem"}, {ubl.PostingEveryone, "ana bob cem", "ana bob cem"},
	} {
		r := harness.Must[*ubl.Room](c.House, room, ubl.SetRoomPolicy{Request: c.Request(c.ana), Patch: ubl.RoomPolicyPatch{Posting: &test.posting}})
		if test.posting == ubl.PostingEveryone && r.Policy.Posting != "" {
			t.Errorf("the usual rule is shown as %q", r.Policy.Posting)
		}
		writes, entries, answers, reacts := "", "", "", ""
		for _, by := range []ubl.Identity{c.ana, c.bob, c.cem} {
			name := " " + by.Email[:3]
			may := func(cmd ubl.Command, list *string) {
				switch _, err := c.Ask(t.Context(), room, cmd); {
				case err == nil:
					*list += name
				case ubl.CodeOf(err) != ubl.CodeForbidden:
					t.Errorf("%s under %s: %v", name, test.posting, err)
				}
			}
			may(ubl.SendMessage{Request: c.Request(by), Text: "hi"}, &writes)
			may(ubl.PostEntry{Request: c.Request(by), Type: ubl.EntryMessage, Body: ubl.TextContent("hi")}, &entries)
			may(ubl.SendMessage{Request: c.Request(by), Text: "hi", Thread: first.MsgID}, &answers)
			may(ubl.PostEntry{Request: c.Request(by), Type: ubl.EntryReaction, Target: first.MsgID, Body: ubl.ReactionContent("👍")}, &reacts)
		}
		if writes != " "+test.writes || entries != writes || answers != " "+test.answers || reacts != " ana bob cem" {
			t.Errorf("under %s write%s and%s, answer%s, react%s", test.posting, writes, entries, answers, reacts)
		}
	}
}

// TestDescribed: a room's name, topic and description are what was said last, in the timeline and
// in lists, and a refusal changes nothing.
func TestDescribed(t *testing.T) {
	c := newCrew(t)
	made := harness.Must[*ubl.RoomSummary](c.House, c.tenant, ubl.CreateRoom{Request: c.Request(c.ana), Name: "plans"})
	room := ubl.RoomName(c.ana.TenantID, made.RoomID)
	describe := func(p ubl.RoomDescriptionPatch) ubl.DescribeRoom {
		return ubl.DescribeRoom{Request: c.Request(c.ana), Patch: p}
	}
	harness.Must[*ubl.Room](c.House, room, describe(ubl.RoomDescriptionPatch{Name: new(" Launch "), Topic: new("In May"), Description: new("The **plan**\nfirst")}))
	page := harness.Must[*ubl.HistoryPage](c.House, room, ubl.ReadHistory{Who: c.ana, Limit: 1, Entries: true})
	var e ubl.Entry
	if err := json.Unmarshal(page.Entries[0], &e); err != nil || e.Type != ubl.EntryRoom || string(e.Body.JSON) != `{"description":"The **plan**\nfirst","name":"Launch","topic":"In May"}` {
		t.Errorf("the timeline has %s (%v)", page.Entries[0], err)
	}
	for what, p := range map[string]ubl.RoomDescriptionPatch{
		"nothing": {}, "an empty name": {Name: new(" ")}, "two lines of topic": {Topic: new("a\nb")}, "a long topic": {Topic: new(fmt.Sprintf("%0251d", 1))},
		"a control character": {Description: new("a\x01b")}, "a topic that nobody sees": {Topic: new("\u200b")},
	} {
		c.refused(ubl.CodeValidation, what, room, describe(p))
	}
	c.refused(ubl.CodeTooLarge, "a long description", room, describe(ubl.RoomDescriptionPatch{Description: new(fmt.Sprintf("%02049d", 1))}))
	r := harness.Must[*ubl.Room](c.House, room, describe(ubl.RoomDescriptionPatch{Description: new("")}))
	if r.Name != "Launch" || r.Topic != "In May" || r.Description != "" || r.RoomID != made.RoomID {
		t.Errorf("the room is %+v", r)
	}
	for _, e := range harness.Must[[]ubl.RoomEntry](c.House, c.tenant, ubl.ListRooms{Who: c.ana}) {
		if e.RoomID == made.RoomID && (e.Name != "Launch" || e.Topic != "In May") {
			t.Errorf("the list has %+v", e)
		}
	}
	c.VerifyLedger(c.ana.TenantID)
}

// TestDirectory: it has the rooms that one may join and isn't in, by words and page by page; who
// joins is in it no more, and who leaves may come back.
func TestDirectory(t *testing.T) {
	c := newCrew(t)
	join := ubl.JoinTenant
	rooms := map[string]ubl.Name{}
	for _, name := range []string{"alpha", "beta", "closed"} {
		room := ubl.RoomName(c.ana.TenantID, harness.Must[*ubl.RoomSummary](c.House, c.tenant, ubl.CreateRoom{Request: c.Request(c.ana), Name: name}).RoomID)
		if rooms[name] = room; name != "closed" {
			harness.Must[*ubl.Room](c.House, room, ubl.SetRoomPolicy{Request: c.Request(c.ana), Patch: ubl.RoomPolicyPatch{Join: &join}})
		}
	}
	harness.Must[*ubl.Room](c.House, rooms["beta"], ubl.DescribeRoom{Request: c.Request(c.ana), Patch: ubl.RoomDescriptionPatch{Topic: new("Launch in May")}})
	shows := func(who ubl.Identity, query string, after ubl.RoomID, limit int) (names string) {
		t.Helper()
		for _, e := range harness.Must[[]ubl.RoomEntry](c.House, c.tenant, ubl.ListRooms{Who: who, Directory: true, Query: query, After: after, Limit: limit}) {
			if names += " " + e.Name; e.Card == nil || e.Card.Members != 1 || e.Card.ActiveAt == 0 {
				t.Errorf("%s is shown with %+v, %s", e.Name, e.Card, e.FailedWhy)
			}
		}
		return names
	}
	for _, test := range []struct {
		what, query string
		after       ubl.RoomID
		limit       int
		want        string
	}{
		{"all", "", "", 0, " alpha beta"}, {"a word of the topic", "LAUNCH", "", 0, " beta"}, {"two words", "may beta", "", 0, " beta"}, {"no such words", "may alpha", "", 0, ""},
		{"the first page", "", "", 1, " alpha"}, {"the second page", "", "r:alpha", 1, " beta"}, {"a private room's name", "closed", "", 0, ""},
	} {
		if got := shows(c.bob, test.query, test.after, test.limit); got != test.want {
			t.Errorf("%s:%s, want%s", test.what, got, test.want)
		}
	}
	if got := shows(c.ana, "", "", 0); got != "" {
		t.Errorf("who is in all of them is shown%s", got)
	}
	alpha := rooms["alpha"]
	harness.Must[*ubl.Member](c.House, alpha, ubl.JoinRoom{Request: c.Request(c.bob)})
	if got := shows(c.bob, "", "", 0); got != " beta" {
		t.Errorf("after joining there is%s", got)
	}
	harness.Must[*ubl.Member](c.House, alpha, ubl.RemoveMember{Request: c.Request(c.bob), UserID: c.bob.UserID})
	if got := shows(c.bob, "", "", 0); got != " alpha beta" {
		t.Errorf("after leaving there is%s", got)
	}
	c.say(c.ana, alpha, "while bob was away")
	harness.Must[*ubl.Member](c.House, alpha, ubl.JoinRoom{Request: c.Request(c.bob)})
	page := harness.Must[*ubl.HistoryPage](c.House, alpha, ubl.ReadHistory{Who: c.bob, Limit: 100, Entries: true})
	for _, e := range harness.Must[[]ubl.RoomEntry](c.House, c.tenant, ubl.ListRooms{Who: c.bob}) {
		if e.RoomID == "r:alpha" && (e.Read.Unread != 0 || e.Read.ReadSeq > page.Head.LastSeq) {
			t.Errorf("come back, bob has read %+v of %d", e.Read, page.Head.LastSeq)
		}
	}
	if page.FirstSeq != 1 {
		t.Errorf("come back, bob reads from %d on", page.FirstSeq)
	}
}
