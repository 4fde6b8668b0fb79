package actors_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// scheduler is a tenant whose people schedule messages.
type scheduler struct {
	*harness.House
	t        *testing.T
	ana, bob ubl.Identity
	general  ubl.Name
}

func openScheduler(t *testing.T, o harness.Options) *scheduler {
	w := &scheduler{House: harness.Open(t, o), t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	w.Enter(w.ana)
	w.Enter(w.bob)
	w.general = ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom)
	return w
}

func (w *scheduler) in(d time.Duration) string { return ubl.TimeOf(w.Clock.Now().Add(d)).String() }

func (w *scheduler) schedule(who ubl.Identity, text, at, rule string) *ubl.Scheduled {
	w.t.Helper()
	return harness.Must[*ubl.Scheduled](w.House, personOf(who), ubl.AddScheduled{
		Request: w.Request(who), RoomID: ubl.GeneralRoom, Text: text, At: at, Rule: rule, Zone: "Europe/Berlin",
	})
}

func (w *scheduler) list(who ubl.Identity) []ubl.Scheduled {
	w.t.Helper()
	return harness.Must[*ubl.ScheduledList](w.House, personOf(who), ubl.ListScheduled{Who: who}).Scheduled
}

// said is how often a text is in the room, as ana reads it, by whom.
func (w *scheduler) said(text string, by ubl.Identity) (n int) {
	w.t.Helper()
	page := harness.Must[*ubl.HistoryPage](w.House, w.general, ubl.ReadHistory{Who: w.ana, Limit: 100})
	for _, m := range page.Messages {
		if strings.Contains(string(m), `"text":"`+text+`"`) && strings.Contains(string(m), `"sender_id":"`+string(by.UserID)+`"`) {
			n++
		}
	}
	return n
}

// pass lets time go by, and waits until nothing is being sent.
func (w *scheduler) pass(d time.Duration, who ubl.Identity) {
	w.t.Helper()
	w.Clock.Add(d)
	w.Alarms()
	poll.Until(w.t, "nothing is being sent", func() bool {
		w.Alarms()
		for _, m := range w.list(who) {
			if m.Sending || m.Failed == nil && m.At <= ubl.TimeOf(w.Clock.Now()) {
				return false
			}
		}
		return true
	})
}

// TestScheduledMessage: it is sent at its time, as its author, once; until then only they see it.
func TestScheduledMessage(t *testing.T) {
	w := openScheduler(t, harness.Options{})
	m := w.schedule(w.bob, "good morning", w.in(time.Hour), "")
	w.Refused(ubl.CodeForbidden, personOf(w.bob), ubl.ListScheduled{Who: w.ana})
	w.pass(30*time.Minute, w.bob)
	text, later := "good day", w.in(2*time.Hour)
	harness.Must[*ubl.Scheduled](w.House, personOf(w.bob), ubl.UpdateScheduled{Request: w.Request(w.bob), ScheduledID: m.ScheduledID, Patch: ubl.ScheduledPatch{Text: &text, At: &later}})
	cancelled := w.schedule(w.bob, "never", w.in(time.Minute), "")
	harness.Must[*ubl.Scheduled](w.House, personOf(w.bob), ubl.RemoveScheduled{Request: w.Request(w.bob), ScheduledID: cancelled.ScheduledID})
	w.pass(time.Hour, w.bob)
	if n := w.said("good morning", w.bob) + w.said("good day", w.bob) + w.said("never", w.bob); n != 0 {
		t.Errorf("%d messages were sent before their time", n)
	}
	w.pass(time.Hour, w.bob)
	if n := w.said("good day", w.bob); n != 1 || len(w.list(w.bob)) > 0 {
		t.Errorf("it was sent %d times, and %+v is left", n, w.list(w.bob))
	}
	w.VerifyLedger(w.ana.TenantID)
	if export, _, err := harness.Export(t.Context(), w.House, w.ana.TenantID); err != nil || strings.Contains(export, "never") || strings.Contains(export, "good") {
		t.Errorf("the ledger tells of texts: %v", err)
	}
}

// TestRecurringMessage: a rule sends at each of its times, by the clocks of its zone, until it ends.
// Times that went by while nothing ran lead to one message.
func TestRecurringMessage(t *testing.T) {
	w := openScheduler(t, harness.Options{})
	w.schedule(w.bob, "stand-up", w.in(time.Hour), "FREQ=DAILY;COUNT=5")
	w.pass(2*time.Hour, w.bob)
	w.pass(24*time.Hour, w.bob)
	list := w.list(w.bob)
	if n := w.said("stand-up", w.bob); n != 2 || len(list) != 1 || list[0].Last == nil || list[0].Last.MsgID == "" {
		t.Fatalf("it was sent %d times, %+v is left", n, list)
	}
	w.pass(48*time.Hour, w.bob) // two of its times
	if n := w.said("stand-up", w.bob); n != 3 {
		t.Errorf("it was sent %d times", n)
	}
	w.pass(24*time.Hour, w.bob)
	if n := w.said("stand-up", w.bob); n != 4 || len(w.list(w.bob)) > 0 {
		t.Errorf("it was sent %d times at its end, and %+v is left", n, w.list(w.bob))
	}
	w.VerifyLedger(w.ana.TenantID)
}

// TestScheduledIsNotSent: whoever may not send it then doesn't, and learns why where they still can.
func TestScheduledIsNotSent(t *testing.T) {
	w := openScheduler(t, harness.Options{})
	tenant := ubl.TenantName(w.ana.TenantID)
	room := harness.Must[*ubl.RoomSummary](w.House, tenant, ubl.CreateRoom{Request: w.Request(w.bob), Name: "Harbour"}).RoomID
	w.Refused(ubl.CodeNotAMember, personOf(w.ana), ubl.AddScheduled{Request: w.Request(w.ana), RoomID: room, Text: "hello", At: w.in(time.Hour)})

	// The room takes shorter messages by then; a time later it is tried again.
	w.schedule(w.bob, "much too long", w.in(time.Hour), "FREQ=DAILY")
	short, long := 4, ubl.MaxMessageBytes
	harness.Must[*ubl.Room](w.House, w.general, ubl.SetRoomPolicy{Request: w.Request(w.ana), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &short}})
	w.pass(2*time.Hour, w.bob)
	list := w.list(w.bob)
	if len(list) != 1 || list[0].Failed == nil || list[0].Failed.Code != ubl.CodeTooLarge {
		t.Fatalf("bob learns %+v", list)
	}
	w.pass(48*time.Hour, w.bob)
	harness.Must[*ubl.Room](w.House, w.general, ubl.SetRoomPolicy{Request: w.Request(w.ana), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &long}})
	at, once := w.in(time.Hour), ""
	harness.Must[*ubl.Scheduled](w.House, personOf(w.bob), ubl.UpdateScheduled{Request: w.Request(w.bob), ScheduledID: list[0].ScheduledID, Patch: ubl.ScheduledPatch{At: &at, Rule: &once}})
	w.pass(2*time.Hour, w.bob)
	if n := w.said("much too long", w.bob); n != 1 {
		t.Errorf("it was sent %d times once it could be", n)
	}

	// The tenant closes the tool.
	w.schedule(w.bob, "closed", w.in(time.Hour), "")
	harness.Must[*ubl.ToolAccess](w.House, tenant, ubl.SetToolAccess{Request: w.Request(w.ana), Tool: string(ubl.DidSend), Allowed: true, Users: []ubl.UserID{w.ana.UserID}})
	w.pass(2*time.Hour, w.bob)
	if list := w.list(w.bob); len(list) != 1 || list[0].Failed == nil || list[0].Failed.Code != ubl.CodeForbidden {
		t.Errorf("bob learns %+v of a closed tool", list)
	}
	harness.Must[*ubl.ToolAccess](w.House, tenant, ubl.SetToolAccess{Request: w.Request(w.ana), Tool: string(ubl.DidSend), Allowed: true})

	// Ana is removed from a room.
	harness.Must[*ubl.Member](w.House, ubl.RoomName(w.bob.TenantID, room), ubl.AddMember{Request: w.Request(w.bob), Member: ubl.Member{UserID: w.ana.UserID, Role: ubl.RoleMember}})
	harness.Must[*ubl.Scheduled](w.House, personOf(w.ana), ubl.AddScheduled{Request: w.Request(w.ana), RoomID: room, Text: "hello", At: w.in(time.Hour)})
	harness.Must[*ubl.Member](w.House, ubl.RoomName(w.bob.TenantID, room), ubl.RemoveMember{Request: w.Request(w.bob), UserID: w.ana.UserID})
	w.pass(2*time.Hour, w.ana)
	if list := w.list(w.ana); len(list) != 1 || list[0].Failed == nil || list[0].Failed.Code != ubl.CodeNotAMember {
		t.Errorf("ana learns %+v of a room that she is no member of", list)
	}

	// Bob is removed. His mail's domain would let him in again, but not by a message.
	w.schedule(w.bob, "removed", w.in(time.Hour), "FREQ=DAILY")
	w.Ask(t.Context(), tenant, ubl.RemoveTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID})
	w.pass(2*time.Hour, w.bob)
	if n := w.said("closed", w.bob) + w.said("removed", w.bob); n != 0 {
		t.Errorf("%d messages were sent that nobody let him send", n)
	}
	w.Refused(ubl.CodeForbidden, tenant, ubl.FindMember{Who: w.bob, UserID: w.bob.UserID})
	w.VerifyLedger(w.ana.TenantID)
}

// TestScheduledIsRefused: what can't be changes nothing, and the refusal names its field.
func TestScheduledIsRefused(t *testing.T) {
	w := openScheduler(t, harness.Options{})
	hour := w.in(time.Hour)
	for _, c := range []struct {
		field string
		code  ubl.Code
		ubl.AddScheduled
	}{
		{"at", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: w.in(0)}},
		{"at", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: w.in(400 * 24 * time.Hour)}},
		{"at", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: "tomorrow"}},
		{"zone", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: hour, Zone: "Mars/Olympus"}},
		{"zone", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: hour, Zone: "Local"}},
		{"rule", ubl.CodeValidation, ubl.AddScheduled{Text: "x", At: hour, Rule: "FREQ=SECONDLY"}},
		{"", ubl.CodeValidation, ubl.AddScheduled{Text: " ", At: hour}},
		{"", ubl.CodeTooLarge, ubl.AddScheduled{Text: strings.Repeat("x", ubl.MaxMessageBytes+1), At: hour}},
		{"", ubl.CodeValidation, ubl.AddScheduled{Text: "x", Mentions: []ubl.Mention{"bob"}, At: hour}},
	} {
		c.Request, c.RoomID = w.Request(w.bob), ubl.GeneralRoom
		_, err := w.Ask(t.Context(), personOf(w.bob), c.AddScheduled)
		if e := ubl.AsError(err); err == nil || e.Code != c.code || c.field != "" && e.Details[c.field] == "" {
			t.Errorf("%s %s %s is answered %v", c.At, c.Zone, c.Rule, err)
		}
	}
	agent := w.bob
	agent.IsService = true
	w.Refused(ubl.CodeForbidden, personOf(w.bob), ubl.AddScheduled{Request: w.Request(agent), RoomID: ubl.GeneralRoom, Text: "x", At: hour})
	for range ubl.MaxScheduled {
		w.schedule(w.bob, "x", hour, "")
	}
	w.Refused(ubl.CodeConflict, personOf(w.bob), ubl.AddScheduled{Request: w.Request(w.bob), RoomID: ubl.GeneralRoom, Text: "x", At: hour})
}

// TestScheduledAtEveryCrashPoint: the node is gone at each commit of the way, before or after that
// was durable. After a restart the message is in the room once, and nothing waits any more.
func TestScheduledAtEveryCrashPoint(t *testing.T) {
	for point, fault := range crashPoints() {
		for n, step := range []string{"the intent", "the attempt's lease", "the message", "the effect"} {
			t.Run(step+", "+point, func(t *testing.T) {
				v := &valve{}
				w := openScheduler(t, harness.Options{Wrap: v.wrap})
				w.schedule(w.bob, "once", w.in(time.Hour), "")
				w.Alarms()
				var failed atomic.Bool
				crashAt(v, n+1, func(b *ubl.Batch, settled func(error)) bool {
					failed.Store(true)
					return fault(v)(b, settled)
				})
				crash := v.fault
				v.setFault(func(b *ubl.Batch, settled func(error)) bool { return !followed(b) && crash(b, settled) })
				w.Clock.Add(2 * time.Hour)
				poll.Until(t, fmt.Sprint("the commit fails that has ", step), func() bool {
					w.Look()
					return failed.Load()
				})
				v.setFault(nil)
				w.Restart()
				w.pass(time.Hour, w.bob)
				if n := w.said("once", w.bob); n != 1 || len(w.list(w.bob)) > 0 {
					t.Errorf("it was sent %d times, and %+v is left", n, w.list(w.bob))
				}
				w.VerifyLedger(w.ana.TenantID)
			})
		}
	}
}

// followed tells whether a commit says alone how far a follower has come: that is no step of ours,
// and may come between any two.
func followed(b *ubl.Batch) bool {
	return len(b.Atoms) == 0 && len(b.Records) == 1 && bytes.Contains(b.Records[0].Key, []byte("tail|"))
}
