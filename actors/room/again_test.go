package room_test

import (
	"fmt"
	"reflect"
	"testing"

	"ubl"
	"ubl/actors/agreement"
	"ubl/actors/room"
	"ubl/test/harness"
)

// TestAnsweredAgain: each command that changes a room is answered from memory as a retry
// is from the store, while the room is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob, cem := harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("cem@example.com")
	for _, who := range []ubl.Identity{ubl.Platform(), ana, bob, cem} {
		h.Enter(who)
	}
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	plans, ops := ubl.RoomName(ana.TenantID, made.RoomID), ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom)
	kinds := map[string]bool{}
	ask := func(at ubl.Name, cmd ubl.Command) any {
		t.Helper()
		first := harness.Must[any](h, at, cmd)
		for range 2 {
			if again := harness.Must[any](h, at, cmd); !reflect.DeepEqual(again, first) {
				t.Errorf("%T is answered again with\n%+v, first with\n%+v", cmd, again, first)
			}
			h.Reload()
		}
		kinds[fmt.Sprintf("%T", cmd)] = true
		return first
	}
	days, join, entry := 3, ubl.JoinTenant, ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}
	sent := ask(plans, ubl.SendMessage{Request: h.Request(ana), Text: "do <this>\u2028\n"}).(*ubl.Sent)
	if sent.RoomSeq != 2 {
		t.Errorf("the first message is answered %+v", sent)
	}
	ask(plans, ubl.AddMember{Request: h.Request(ana), Member: entry})
	ask(plans, ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner})
	ask(plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days, Join: &join}})
	ask(plans, ubl.JoinRoom{Request: h.Request(cem)})
	join = ubl.JoinInvite
	ask(plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{Join: &join}})
	ask(plans, ubl.RemoveMember{Request: h.Request(cem), UserID: cem.UserID})
	ask(plans, ubl.SetHeir{Request: h.Request(ana), Heir: entry})
	ask(plans, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
	ask(plans, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID, Expel: true}) // nobody is left
	ask(plans, agreement.Inherit{Request: h.Request(ana), Heir: entry})
	ask(plans, ubl.EndAgreement{Request: h.Request(bob)})
	ask(ops, ubl.Announce{Request: h.Request(ubl.Platform()), Text: "hello"})
	ask(ops, ubl.Announce{Request: h.Request(ubl.Platform()), Did: ubl.DidPlatformStart, This: ubl.Fields{ubl.Str("node_id", "n1")}, Text: "Node n1 started."})
	if len(kinds) != room.Changing() {
		t.Errorf("%d commands were asked, %d change a room", len(kinds), room.Changing())
	}
	h.VerifyLedger(ana.TenantID)
}
