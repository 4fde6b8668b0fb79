package actors_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestEndedAgreements: every Agreement can be ended by its owner, and from then
// on each act under it is refused while reading goes on.
func TestEndedAgreements(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	tenant, general := ubl.TenantName(ana.TenantID), ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	days := 3

	t.Run("RoomGovernance", func(t *testing.T) {
		h.Refused(ubl.CodeForbidden, general, ubl.EndAgreement{Request: h.Request(bob)})
		ended := harness.Must[*ubl.AgreementView](h, general, ubl.EndAgreement{Request: h.Request(ana)})
		if ended.Status != ubl.AgreementEnded || ended.EndedAt == nil {
			t.Fatalf("the ended Agreement is %+v", ended)
		}
		h.Reload()
		for _, act := range []ubl.Command{
			ubl.SendMessage{Request: h.Request(ana), Text: "hello"},
			ubl.AddMember{Request: h.Request(ana), Member: ubl.Member{UserID: "u:new", Role: ubl.RoleMember}},
			ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner},
			ubl.RemoveMember{Request: h.Request(ana), UserID: bob.UserID},
			ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID},
			ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}},
			ubl.EndAgreement{Request: h.Request(ana)},
			ubl.JoinRoom{Request: h.Request(harness.User("eve@example.com"))},
		} {
			h.Refused(ubl.CodeForbidden, general, act)
		}
		page := harness.Must[*ubl.HistoryPage](h, general, ubl.ReadHistory{Who: bob, Limit: 10})
		if len(page.Messages) != 2 {
			t.Errorf("%d messages are readable, want 2", len(page.Messages))
		}
		view := harness.Must[*ubl.AgreementView](h, general, ubl.GetAgreement{Who: bob})
		if last := view.History[len(view.History)-1]; last.Did != ubl.DidAgreementEnd || last.Receipt.Seq == 0 {
			t.Errorf("the history ends with %+v", last)
		}
	})
	t.Run("TenantLicense", func(t *testing.T) {
		h.Refused(ubl.CodeForbidden, tenant, ubl.EndAgreement{Request: h.Request(bob)})
		harness.Must[*ubl.AgreementView](h, tenant, ubl.EndAgreement{Request: h.Request(ana)})
		h.Reload()
		for _, act := range []ubl.Command{
			ubl.Enter{Request: h.Request(ana), Act: true},
			ubl.Enter{Request: h.Request(harness.User("newcomer@example.com"))},
			ubl.CreateRoom{Request: h.Request(ana), Name: "plans"},
			ubl.SetDefaults{Request: h.Request(ana), Patch: ubl.TenantDefaultsPatch{RetentionDays: &days}},
			ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner},
			ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID},
			ubl.CreateServiceToken{Request: h.Request(ana), Name: "bot", ClientID: "x", SecretHash: "00"},
			ubl.EndAgreement{Request: h.Request(ana)},
		} {
			h.Refused(ubl.CodeForbidden, tenant, act)
		}
		harness.Must[*ubl.Entered](h, tenant, ubl.Enter{Request: h.Request(bob)})
		harness.Must[*ubl.Tenant](h, tenant, ubl.GetTenant{Who: bob})
	})
}

// TestRetention: messages older than the policy go, in a receipted act; the
// page says from where on the room is kept; new messages stay.
func TestRetention(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant, general := ubl.TenantName(ana.TenantID), ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	old := ubl.SendMessage{Request: h.Request(ana), Text: "old"}
	harness.Must[*ubl.Sent](h, general, old)
	days := 1
	harness.Must[*ubl.Room](h, general, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	h.Clock.Add(36 * time.Hour)
	fresh := harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "new"})

	before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	if swept := harness.Must[int](h, tenant, ubl.SweepRooms{Request: h.Request(ubl.Platform())}); swept != 1 {
		t.Errorf("%d rooms were swept, want 1", swept)
	}
	after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	if after.Seq != before.Seq+2 {
		t.Errorf("trimming left %d atoms, want an action and an effect", after.Seq-before.Seq)
	}
	for _, loaded := range []string{"live", "loaded anew"} {
		zero := int64(0)
		page := harness.Must[*ubl.HistoryPage](h, general, ubl.ReadHistory{Who: ana, After: &zero, Limit: 10})
		if page.Head.AvailableFrom != 3 || page.FirstSeq != 3 || len(page.Messages) != 1 || string(page.Messages[0]) != string(fresh.Message) {
			t.Errorf("%s: the room is kept from %d, and holds %s", loaded, page.Head.AvailableFrom, page.Messages)
		}
		if page.NextCursor != nil {
			t.Errorf("%s: there is a page before the first message kept", loaded)
		}
		h.Refused(ubl.CodeConflict, general, old) // its key still counts: never a second message
		h.Reload()
	}
	h.Refused(ubl.CodeForbidden, general, ubl.Sweep{Request: h.Request(ana)})
}

// TestMembership: invitations, rules, removal, and what the directory shows.
func TestMembership(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob, eve := harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("eve@elsewhere.org")
	for _, u := range []ubl.Identity{ana, bob, eve} {
		h.Enter(u)
	}
	tenant := ubl.TenantName(ana.TenantID)
	made := harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "Plans 2026"})
	if made.RoomID != "r:plans-2026" {
		t.Fatalf("the room is %s", made.RoomID)
	}
	h.Refused(ubl.CodeConflict, tenant, ubl.CreateRoom{Request: h.Request(bob), Name: "plans 2026"})
	plans := ubl.RoomName(ana.TenantID, made.RoomID)
	sees := func(who ubl.Identity) (rooms []string) {
		for _, r := range harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: who, Details: true}) {
			text := string(r.RoomID)
			if r.Member {
				var m ubl.Message
				if err := json.Unmarshal(r.LastMessage, &m); err != nil {
					t.Fatal(err)
				}
				text += ": " + m.Body.Text
			}
			rooms = append(rooms, text)
		}
		return rooms
	}
	want := func(who ubl.Identity, rooms ...string) {
		t.Helper()
		got, _ := json.Marshal(sees(who))
		if wanted, _ := json.Marshal(rooms); string(got) != string(wanted) {
			t.Errorf("%s sees %s, want %s", who.Email, got, wanted)
		}
	}
	joinedBob := "r:general: " + string(bob.UserID) + " joined"
	want(ana, joinedBob, "r:plans-2026: Room created: Plans 2026")
	want(bob, joinedBob)

	h.Refused(ubl.CodeNotAMember, plans, ubl.SendMessage{Request: h.Request(bob), Text: "may I?"})
	h.Refused(ubl.CodeNotAMember, plans, ubl.JoinRoom{Request: h.Request(bob)})
	open := ubl.JoinTenant
	harness.Must[*ubl.Room](h, plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{Join: &open}})
	want(bob, joinedBob, "r:plans-2026")
	join := ubl.JoinRoom{Request: h.Request(bob)}
	harness.Must[*ubl.Member](h, plans, join)
	harness.Must[*ubl.Member](h, plans, join) // a retry, not a conflict
	want(bob, joinedBob, "r:plans-2026: "+string(bob.UserID)+" joined")

	h.Refused(ubl.CodeForbidden, plans, ubl.RemoveMember{Request: h.Request(bob), UserID: ana.UserID})
	h.Refused(ubl.CodeConflict, plans, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID}) // the last owner
	harness.Must[*ubl.Member](h, plans, ubl.RemoveMember{Request: h.Request(ana), UserID: bob.UserID})
	h.Refused(ubl.CodeNotAMember, plans, ubl.ReadHistory{Who: bob, Limit: 10})

	// Out of the tenant is out of its rooms.
	h.Refused(ubl.CodeForbidden, tenant, ubl.RemoveTenantMember{Request: h.Request(bob), UserID: ana.UserID})
	harness.Must[*ubl.Member](h, tenant, ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID})
	h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(bob)})
	h.Refused(ubl.CodeNotAMember, ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(bob), Text: "still here?"})
	harness.Must[*ubl.Member](h, tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleMember})
	h.Enter(bob)

	// Another tenant's member is nobody here.
	h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(eve)})
	h.Refused(ubl.CodeForbidden, tenant, ubl.ListRooms{Who: eve})
	h.Refused(ubl.CodeNotAMember, plans, ubl.ReadHistory{Who: eve, Limit: 1})
}

// TestPlatformTenant: tenant 0 is bootstrapped by the platform, its first human
// owns it and its rooms, and what the platform does is announced there.
func TestPlatformTenant(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	platform := ubl.Platform()
	h.Refused(ubl.CodeForbidden, ubl.TenantName("t:example.com"), ubl.Enter{Request: h.Request(platform)})
	h.Enter(platform)
	ops := ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom)
	announce := ubl.Announce{Request: h.Request(platform), Did: ubl.DidPlatformStart, This: ubl.Fields{ubl.Str("node_id", "n1")}, Text: "Node n1 started."}
	sent := harness.Must[*ubl.Sent](h, ops, announce)
	again := harness.Must[*ubl.Sent](h, ops, announce)
	if string(sent.Message) != string(again.Message) {
		t.Error("a retried announcement is announced twice")
	}
	op := harness.User("op@example.com")
	op.TenantID = ubl.CoreTenant
	if entered := h.Enter(op); entered.Role != ubl.RoleOwner {
		t.Errorf("the first operator is %s", entered.Role)
	}
	announce.Who = op
	h.Refused(ubl.CodeForbidden, ops, announce)
	for _, room := range []ubl.RoomID{ubl.OpsRoom, ubl.AuditRoom, ubl.CeremonyRoom, ubl.GeneralRoom} {
		harness.Must[*ubl.HistoryPage](h, ubl.RoomName(ubl.CoreTenant, room), ubl.ReadHistory{Who: op, Limit: 10})
	}
	token := ubl.AdmitToken{Request: h.Request(platform), Token: ubl.PlatformToken{JTI: "j1", UserID: op.UserID, TenantID: op.TenantID, ExpiresAt: ubl.TimeOf(h.Clock.Now()) + 1}}
	if _, err := h.Ask(context.Background(), ubl.TenantName(ubl.CoreTenant), token); err != nil {
		t.Fatal(err)
	}
	head := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{})
	if _, err := h.Ask(context.Background(), ubl.TenantName(ubl.CoreTenant), token); err != nil {
		t.Fatal(err)
	}
	if again := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}); again != head {
		t.Error("a token known already left another receipt")
	}
}
