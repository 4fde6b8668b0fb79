package actors_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/poll"
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
		if len(page.Messages) != 4 { // the room's making, bob's coming twice, the end
			t.Errorf("%d entries are readable, want 4", len(page.Messages))
		}
		view := harness.Must[*ubl.AgreementView](h, general, ubl.GetAgreement{Who: bob})
		if last := view.History[len(view.History)-1]; last.Did != ubl.DidAgreementEnd || last.Receipt.Seq == 0 {
			t.Errorf("the history ends with %+v", last)
		}
	})
	t.Run("TenantLicense", func(t *testing.T) {
		h.Refused(ubl.CodeForbidden, tenant, ubl.EndAgreement{Request: h.Request(bob)})
		h.Refused(ubl.CodeForbidden, tenant, ubl.EndAgreement{Request: h.Request(agentOf(h, ana))})
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

// agentOf is an owner's service, which they have made an owner.
func agentOf(h *harness.House, owner ubl.Identity) ubl.Identity {
	tenant := ubl.TenantName(owner.TenantID)
	harness.Must[*ubl.ServiceToken](h, tenant, ubl.CreateServiceToken{Request: h.Request(owner), Name: "agent", ClientID: "agent", SecretHash: "agent"})
	agent := harness.Must[*ubl.ServiceCaller](h, tenant, ubl.CheckServiceToken{ClientID: "agent", SecretHash: "agent"}).Identity
	h.Enter(agent)
	harness.Must[*ubl.Member](h, tenant, ubl.SetTenantMember{Request: h.Request(owner), UserID: agent.UserID, Role: ubl.RoleOwner})
	return agent
}

// TestRetention: messages older than the policy go, in a receipted act; the
// page says from where on the room is kept; new messages stay.
func TestRetention(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	old := ubl.SendMessage{Request: h.Request(ana), Text: "old"}
	harness.Must[*ubl.Sent](h, general, old)
	days := 1
	harness.Must[*ubl.Room](h, general, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	h.Clock.Add(36 * time.Hour)
	fresh := harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "new"})

	before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	h.Alarms()
	after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	if after.Seq != before.Seq+2 {
		t.Errorf("trimming left %d atoms, want an action and an effect", after.Seq-before.Seq)
	}
	for _, loaded := range []string{"live", "loaded anew"} {
		zero := int64(0)
		page := harness.Must[*ubl.HistoryPage](h, general, ubl.ReadHistory{Who: ana, After: &zero, Limit: 10})
		if page.Head.AvailableFrom != 4 || page.FirstSeq != 4 || len(page.Messages) != 1 || string(page.Messages[0]) != string(fresh.Message) {
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

// TestRetentionAfterTheEnd: the policy is a promise to those who wrote, so the end of the
// room's Agreement doesn't stop it, whether messages were there before or the room is
// loaded later.
func TestRetentionAfterTheEnd(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	days := 2
	harness.Must[*ubl.Room](h, general, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "old"})
	h.Clock.Add(24 * time.Hour)
	harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "newer"})
	harness.Must[*ubl.AgreementView](h, general, ubl.EndAgreement{Request: h.Request(ana)})
	for _, left := range []int{2, 0} { // the message and the end
		h.Reload()
		h.Clock.Add(25 * time.Hour)
		h.Alarms()
		zero := int64(0)
		page := harness.Must[*ubl.HistoryPage](h, general, ubl.ReadHistory{Who: ana, After: &zero, Limit: 10})
		if len(page.Messages) != left {
			t.Errorf("after the end %d entries are readable, want %d: %s", len(page.Messages), left, page.Messages)
		}
	}
	h.VerifyLedger(ana.TenantID)
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

// TestNoGreetingUnderEnded: nobody is greeted once the Agreement that would authorise it
// has ended.
func TestNoGreetingUnderEnded(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	harness.Must[*ubl.ServiceToken](h, tenant, ubl.CreateServiceToken{Request: h.Request(ana), Name: "bot", ClientID: "c1", SecretHash: "00"})
	harness.Must[*ubl.AgreementView](h, tenant, ubl.EndAgreement{Request: h.Request(ana)})
	bot := &harness.Must[*ubl.ServiceCaller](h, tenant, ubl.CheckServiceToken{ClientID: "c1", SecretHash: "00"}).Identity
	before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	harness.Must[*ubl.Entered](h, tenant, ubl.Enter{Request: h.Request(*bot)}) // a GET
	after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})
	if after != before {
		page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: before.Seq + 1, Limit: 1})
		t.Errorf("a GET after the end of the TenantLicense wrote %s", page.Atoms[0])
	}
}

// TestPlatformCantBeShutOut: owners of tenant 0 can't take from the platform
// what it needs to receipt its own acts.
func TestPlatformCantBeShutOut(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	platform := ubl.Platform()
	h.Enter(platform)
	op := harness.User("op@example.com")
	op.TenantID = ubl.CoreTenant
	h.Enter(op)
	core, ops := ubl.TenantName(ubl.CoreTenant), ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom)
	h.Refused(ubl.CodeConflict, ops, ubl.RemoveMember{Request: h.Request(op), UserID: platform.UserID})
	h.Refused(ubl.CodeConflict, core, ubl.RemoveTenantMember{Request: h.Request(op), UserID: platform.UserID})
	h.Refused(ubl.CodeConflict, ops, ubl.EndAgreement{Request: h.Request(op)})
	h.Refused(ubl.CodeConflict, core, ubl.EndAgreement{Request: h.Request(op)})
	one := 1
	harness.Must[*ubl.Room](h, ops, ubl.SetRoomPolicy{Request: h.Request(op), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &one}})
	h.Restart()
	h.Enter(platform)
	harness.Must[*ubl.Sent](h, ops, ubl.Announce{Request: h.Request(platform), Did: ubl.DidPlatformStart, This: ubl.Fields{ubl.Str("node_id", "n1")}, Text: "Node started"})
}

// TestRetryAfterPolicy: what was accepted stays the outcome of its key, though
// the room would refuse it today.
func TestRetryAfterPolicy(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	send := ubl.SendMessage{Request: h.Request(ana), Text: "hello, world"}
	first := harness.Must[*ubl.Sent](h, general, send)
	five := 5
	harness.Must[*ubl.Room](h, general, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &five}})
	again, err := ubl.Ask[*ubl.Sent](context.Background(), h.Runtime, general, send)
	if err != nil || again.RoomSeq != first.RoomSeq {
		t.Errorf("after a smaller limit the retry of an accepted send gives %v", err)
	}
	harness.Must[*ubl.AgreementView](h, general, ubl.EndAgreement{Request: h.Request(ana)})
	if _, err := h.Ask(context.Background(), general, send); err != nil {
		t.Errorf("after the end of the Agreement it gives %v", err)
	}
}

// TestReadmitted: who was shut out and let in again is welcomed again.
func TestReadmitted(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	tenant := ubl.TenantName(ana.TenantID)
	harness.Must[*ubl.Member](h, tenant, ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID})
	harness.Must[*ubl.Member](h, tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleMember})
	h.Enter(bob)
	if rooms := harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: bob}); len(rooms) == 0 {
		t.Error("bob was let in again, and r:general stays shut")
	}
}

// TestExpelledOwner: a room whose only owner is shut out of the tenant passes
// to its oldest member.
func TestExpelledOwner(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	tenant := ubl.TenantName(ana.TenantID)
	made := harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(bob), Name: "plans"})
	plans := ubl.RoomName(ana.TenantID, made.RoomID)
	harness.Must[*ubl.Member](h, plans, ubl.AddMember{Request: h.Request(bob), Member: ubl.Member{UserID: ana.UserID, Email: ana.Email, Role: ubl.RoleMember}})
	harness.Must[*ubl.Member](h, tenant, ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID})
	v := harness.Must[*ubl.AgreementView](h, plans, ubl.GetAgreement{Who: ana})
	if v.Owners() == 0 && len(v.Members) > 0 {
		t.Errorf("the room has members %v and no owner", v.Members)
	}
}

// TestExpulsionIsFinished: a caller who leaves between the expulsion from the
// tenant and that from its rooms finishes it with a retry.
func TestExpulsionIsFinished(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	tenant, general := ubl.TenantName(ana.TenantID), ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	v.close()
	ctx, cancel := context.WithCancel(context.Background())
	remove := ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID}
	done := make(chan error, 1)
	go func() { _, err := h.Ask(ctx, tenant, remove); done <- err }()
	poll.Until(t, "submitted", func() bool { return v.holds() == 1 })
	cancel()
	if err := <-done; ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Fatal(err)
	}
	v.open()
	harness.Must[*ubl.Member](h, tenant, remove) // the client retries with the same key, as it is told to
	h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(bob)})
	if _, err := h.Ask(context.Background(), general, ubl.GetRoom{Who: bob}); err == nil {
		t.Error("bob is shut out of the tenant, and still a member of r:general: what a live stream asks says yes for ever")
	}
}

// TestLeavingTheTenantIsTold: streams of a whole tenant learn whom it shut out.
func TestLeavingTheTenantIsTold(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	var mu sync.Mutex
	told := false
	h.Subscribe(ubl.LedgerName(ana.TenantID), func(p ubl.Publication) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range p.Events {
			told = told || e.Kind == ubl.EventMemberLeft && e.RoomID == "" && e.UserID == bob.UserID
		}
	})
	harness.Must[*ubl.Member](h, ubl.TenantName(ana.TenantID), ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID})
	mu.Lock()
	defer mu.Unlock()
	if !told {
		t.Error("transport/sse ends a tenant's stream on room.member_left without a room; nobody publishes one")
	}
}

// TestLastHumanOwner: a tenant keeps a person as its owner, whatever its
// services are.
func TestLastHumanOwner(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	bot := harness.Must[*ubl.ServiceToken](h, tenant, ubl.CreateServiceToken{Request: h.Request(ana), Name: "bot", ClientID: "c1", SecretHash: "00"})
	harness.Must[*ubl.Member](h, tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: bot.UserID, Role: ubl.RoleOwner})
	h.Refused(ubl.CodeConflict, tenant, ubl.SetTenantMember{Request: h.Request(ana), UserID: ana.UserID, Role: ubl.RoleMember})
	h.Refused(ubl.CodeConflict, tenant, ubl.RemoveTenantMember{Request: h.Request(ana), UserID: ana.UserID})
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	h.Refused(ubl.CodeConflict, general, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID})
}

// TestRevokedAheadOfUse: operators revoke a token that leaked before anybody
// used it; its first use is refused then. Others can't tell whether it exists.
func TestRevokedAheadOfUse(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	platform := ubl.Platform()
	h.Enter(platform)
	op := harness.User("op@example.com")
	op.TenantID = ubl.CoreTenant
	h.Enter(op)
	core := ubl.TenantName(ubl.CoreTenant)
	h.Refused(ubl.CodeNotFound, core, ubl.RevokeToken{Request: h.Request(harness.User("eve@elsewhere.org")), JTI: "leaked"})
	if _, err := h.Ask(context.Background(), core, ubl.RevokeToken{Request: h.Request(op), JTI: "leaked"}); err != nil {
		t.Fatal(err)
	}
	h.Reload()
	h.Refused(ubl.CodeUnauthorized, core, ubl.AdmitToken{Request: h.Request(platform), Token: ubl.PlatformToken{
		JTI: "leaked", UserID: "u:someone", TenantID: "t:example.com", ExpiresAt: ubl.TimeOf(h.Clock.Now()).Add(time.Hour),
	}})
}
