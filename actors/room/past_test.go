package room_test

import (
	"reflect"
	"testing"
	"time"

	"ubl"
	"ubl/actors/agreement"
	"ubl/test/harness"
)

// seen is what a member saw of a room at some moment.
type seen struct {
	seq       int64
	at        ubl.Time
	room      *ubl.Room
	agreement *ubl.AgreementView
}

// TestPast: the room and its Agreement as of each moment, by the ledger's seq and by
// time, are what was answered then.
func TestPast(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	before := look(h, ana, ubl.RoomName(ana.TenantID, ubl.GeneralRoom))
	h.Clock.Add(time.Second)
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	plans := ubl.RoomName(ana.TenantID, made.RoomID)
	days, size, entry := 3, 100, ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}
	history := []*seen{look(h, ana, plans)}
	for _, act := range []ubl.Command{
		ubl.SendMessage{Request: h.Request(ana), Text: "one"},
		ubl.AddMember{Request: h.Request(ana), Member: entry},
		ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}},
		ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner},
		ubl.SendMessage{Request: h.Request(bob), Text: "two"},
		ubl.SetHeir{Request: h.Request(ana), Heir: entry},
		ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &size}},
		ubl.RemoveMember{Request: h.Request(ana), UserID: bob.UserID},
		ubl.EndAgreement{Request: h.Request(ana)},
	} {
		h.Clock.Add(time.Second)
		harness.Must[any](h, plans, act)
		history = append(history, look(h, ana, plans))
	}
	h.Clock.Add(time.Second)
	for i, then := range history {
		for _, at := range []ubl.AsOf{{Seq: then.seq}, {Time: then.at}, {Time: then.at + 999}} {
			room := harness.Must[*ubl.Room](h, plans, ubl.GetRoom{Who: ana, AsOf: at})
			agreement := harness.Must[*ubl.AgreementView](h, plans, ubl.GetAgreement{Who: ana, AsOf: at})
			if room.AsOf == nil || agreement.AsOf == nil || room.AsOf.Seq > then.seq || *room.AsOf != *agreement.AsOf {
				t.Errorf("as of %+v was answered under the receipts %+v and %+v", at, room.AsOf, agreement.AsOf)
			}
			room.AsOf, agreement.AsOf = nil, nil
			if !reflect.DeepEqual(room, then.room) || !reflect.DeepEqual(agreement, then.agreement) {
				t.Errorf("moment %d, as of %+v:\n%+v\n%+v, then\n%+v\n%+v", i, at, room, agreement, then.room, then.agreement)
			}
		}
	}
	head := history[len(history)-1].seq
	h.Refused(ubl.CodeValidation, plans, ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Seq: head + 1}})
	h.Refused(ubl.CodeValidation, plans, ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Time: ubl.TimeOf(h.Clock.Now()) + 1}})
	h.Refused(ubl.CodeNotFound, plans, ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Seq: before.seq}})
	for _, cmd := range []ubl.Command{ // an act of this very millisecond may follow
		ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Time: ubl.TimeOf(h.Clock.Now())}}, ubl.GetAgreement{Who: ana, AsOf: ubl.AsOf{Time: ubl.TimeOf(h.Clock.Now())}},
	} {
		h.Refused(ubl.CodeValidation, plans, cmd)
	}
	h.Refused(ubl.CodeNotAMember, plans, ubl.GetRoom{Who: bob, AsOf: ubl.AsOf{Seq: history[5].seq}})
	h.Refused(ubl.CodeNotAMember, plans, ubl.GetAgreement{Who: bob, AsOf: ubl.AsOf{Seq: history[5].seq}})
}

// look is what a room's member sees of it now.
func look(h *harness.House, who ubl.Identity, at ubl.Name) *seen {
	return &seen{
		seq: harness.Must[ubl.LedgerHead](h, ubl.LedgerName(who.TenantID), ubl.GetLedgerHead{}).Seq, at: ubl.TimeOf(h.Clock.Now()),
		room:      harness.Must[*ubl.Room](h, at, ubl.GetRoom{Who: who}),
		agreement: harness.Must[*ubl.AgreementView](h, at, ubl.GetAgreement{Who: who}),
	}
}

// TestPastOfTrimmed: once the messages of then are gone, the number of the newest one is
// that of the newest act on the room.
func TestPastOfTrimmed(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	send := func() { harness.Must[any](h, general, ubl.SendMessage{Request: h.Request(ana), Text: "hello"}) }
	send()
	days := 1
	harness.Must[any](h, general, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	set := look(h, ana, general)
	send()
	later := look(h, ana, general)
	h.Clock.Add(50 * time.Hour)
	send()
	harness.Must[any](h, general, ubl.Sweep{Request: h.Request(ubl.Platform())})
	if now := look(h, ana, general); now.room.AvailableFrom <= later.room.LastSeq {
		t.Fatalf("the room still has the messages from %d on", now.room.AvailableFrom)
	}
	then := harness.Must[*ubl.Room](h, general, ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Seq: later.seq}})
	if then.LastSeq != set.room.LastSeq || then.AvailableFrom != later.room.AvailableFrom {
		t.Errorf("answered %+v", then)
	}
}

// TestPastOfSealed: who inherits a sealed room doesn't look behind the sealing.
func TestPastOfSealed(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	plans := ubl.RoomName(ana.TenantID, made.RoomID)
	secret := look(h, ana, plans)
	harness.Must[any](h, plans, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID, Expel: true})
	harness.Must[any](h, plans, agreement.Inherit{Request: h.Request(ana), Heir: ubl.Member{UserID: bob.UserID, Email: bob.Email}})
	own := look(h, bob, plans)
	h.Refused(ubl.CodeForbidden, plans, ubl.GetRoom{Who: bob, AsOf: ubl.AsOf{Seq: secret.seq}})
	h.Refused(ubl.CodeForbidden, plans, ubl.GetAgreement{Who: bob, AsOf: ubl.AsOf{Seq: secret.seq}})
	if got := harness.Must[*ubl.Room](h, plans, ubl.GetRoom{Who: bob, AsOf: ubl.AsOf{Seq: own.seq}}); got.LastSeq != own.room.LastSeq {
		t.Errorf("after the sealing it was %+v, answered %+v", own.room, got)
	}
}

// TestPastOfWrongClock: an act of a clock that was ahead hides no later act of an earlier
// time: as of a time is the newest act that isn't later.
func TestPastOfWrongClock(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	plans := ubl.RoomName(ana.TenantID, made.RoomID)
	keep := func(days int) ubl.Time {
		harness.Must[any](h, plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
		return ubl.TimeOf(h.Clock.Now())
	}
	first := keep(10)
	h.Clock.Add(6 * time.Hour)
	ahead := keep(20)
	h.Clock.Add(time.Minute - 6*time.Hour)
	second := keep(30)
	h.Clock.Add(7 * time.Hour)
	for at, want := range map[ubl.Time]int{first: 10, first + 1000: 10, second: 30, second + 1000: 30, ahead: 30, ahead + 1000: 30} {
		if got := harness.Must[*ubl.Room](h, plans, ubl.GetRoom{Who: ana, AsOf: ubl.AsOf{Time: at}}).Policy.RetentionDays; got != want {
			t.Errorf("as of %s the room keeps messages for %d days, want %d", at, got, want)
		}
	}
}
