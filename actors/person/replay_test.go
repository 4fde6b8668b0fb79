package person_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors/person"
	"ubl/test/harness"
)

// flaky is a push service that is there, gone, or down, as a history draws.
type flaky struct {
	pusher
	code ubl.Code
}

func (f *flaky) Push(context.Context, ubl.Name, string, []byte, ubl.Subscription, ubl.Push) error {
	if f.code == "" {
		return nil
	}
	return ubl.Errorf(f.code, "as drawn")
}

// mailer is a mail server that takes mails, refuses them, or is down, as a history draws.
type mailer struct{ code ubl.Code }

func (m *mailer) Mail(context.Context, ubl.UnreadMail) error {
	if m.code == "" {
		return nil
	}
	return ubl.Errorf(m.code, "as drawn")
}

// TestStateIsDerived: over random histories, a person loaded from what is stored knows exactly
// what the live one knows, and so does one made of a snapshot.
func TestStateIsDerived(t *testing.T) {
	service, server := &flaky{}, &mailer{}
	owns := func(local string) bool { return len(local) > 2 && local[:2] == ubl.PersonPrefix }
	h := harness.OpenLive(t, "person", owns, person.Opening(service, server))
	filled := harness.Filled{}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ana := harness.User(fmt.Sprintf("ana@example%d.com", n))
		h.Enter(ana)
		at := ubl.PersonName(ana.TenantID, ana.UserID)
		service.code, server.code = "", ""
		ask := func(cmd ubl.Command) any {
			answer, _ := h.Ask(context.Background(), at, cmd)
			return answer
		}
		get := func() *ubl.Person { return ask(ubl.GetPerson{Who: ana}).(*ubl.Person) }
		get()
		seq, step := int64(0), 0
		room := func(rt *rapid.T) ubl.RoomID {
			return rapid.SampledFrom([]ubl.RoomID{"r:general", "r:a", "r:b"}).Draw(rt, "room")
		}
		seconds := func(rt *rapid.T) *int64 {
			return rapid.Ptr(rapid.SampledFrom([]int64{0, 60, 3600}), true).Draw(rt, "seconds")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"prefer": func(rt *rapid.T) {
				words := rapid.Ptr(rapid.Map(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3, rapid.ID), func(list []string) ubl.WordList {
					return ubl.WordList{Words: list}
				}), true)
				ask(ubl.SetPreferences{Request: h.Request(ana), Patch: ubl.PreferencesPatch{
					Keywords: words.Draw(rt, "keywords"), Sections: words.Draw(rt, "sections"), DoNotDisturbSeconds: seconds(rt),
					Preview: rapid.Ptr(rapid.SampledFrom([]string{"", ubl.PreviewNone}), true).Draw(rt, "preview"),
					Quiet:   rapid.Ptr(rapid.SampledFrom([]ubl.QuietHours{{}, {From: "12:00", To: "13:00", Zone: "UTC"}}), true).Draw(rt, "quiet"),
				}})
			},
			"mail": func(rt *rapid.T) {
				ask(ubl.SetPreferences{Request: h.Request(ana), Patch: ubl.PreferencesPatch{
					Mail:     rapid.Ptr(rapid.SampledFrom([]ubl.MailLevel{"", ubl.MailOff, ubl.MailMentions, ubl.MailAlways, ubl.MailDaily}), true).Draw(rt, "mail"),
					MailText: rapid.Ptr(rapid.Bool(), true).Draw(rt, "text"), Language: rapid.Ptr(rapid.SampledFrom([]string{"", "de"}), true).Draw(rt, "language"),
				}})
			},
			"no mail": func(*rapid.T) { ask(ubl.StopMail{Request: h.Request(ubl.Platform())}) },
			"mail server": func(rt *rapid.T) {
				server.code = rapid.SampledFrom([]ubl.Code{"", "", ubl.CodeForbidden, ubl.CodeConflict}).Draw(rt, "answer")
			},
			"talk": func(rt *rapid.T) { // in a room that is there
				sent := harness.Must[*ubl.Sent](h.House, ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(ana), Text: "x"})
				ask(ubl.Notify{Request: h.Request(ubl.Platform()), News: ubl.News{RoomID: ubl.GeneralRoom, Seq: sent.RoomSeq, Author: "u:bob", Mentioned: true}})
			},
			"room": func(rt *rapid.T) {
				ask(ubl.SetRoomPreference{Request: h.Request(ana), RoomID: room(rt), Patch: ubl.RoomPreferencePatch{
					Level:       rapid.Ptr(rapid.SampledFrom([]ubl.NotifyLevel{"", ubl.NotifyAll, ubl.NotifyMentions, ubl.NotifyNothing}), true).Draw(rt, "level"),
					MuteSeconds: seconds(rt), Favourite: rapid.Ptr(rapid.Bool(), true).Draw(rt, "favourite"),
					Section: rapid.Ptr(rapid.SampledFrom([]string{"", "x", "y"}), true).Draw(rt, "section"),
				}})
			},
			"device": func(rt *rapid.T) {
				ask(ubl.MakePushKey{Request: h.Request(ana)})
				ask(ubl.AddDevice{Request: h.Request(ana), Name: "x", Subscription: ubl.Subscription{
					Endpoint: rapid.SampledFrom([]string{"https://a.example", "https://b.example"}).Draw(rt, "endpoint"),
				}})
			},
			"no device": func(rt *rapid.T) {
				for _, d := range get().Devices {
					ask(ubl.RemoveDevice{Request: h.Request(ana), DeviceID: d.DeviceID})
					break
				}
			},
			"remind": func(rt *rapid.T) {
				at := ubl.TimeOf(h.Clock.Now()).Add(time.Duration(rapid.IntRange(0, 90).Draw(rt, "minutes")) * time.Minute)
				ask(ubl.AddReminder{Request: h.Request(ana), RoomID: room(rt), MsgID: "m:1", At: at})
			},
			"no reminder": func(rt *rapid.T) {
				for _, r := range get().Reminders {
					ask(ubl.RemoveReminder{Request: h.Request(ana), ReminderID: r.ReminderID})
					break
				}
			},
			"schedule": func(rt *rapid.T) {
				at := ubl.TimeOf(h.Clock.Now()).Add(time.Duration(rapid.IntRange(0, 90).Draw(rt, "minutes")) * time.Minute)
				ask(ubl.AddScheduled{
					Request: h.Request(ana), RoomID: ubl.GeneralRoom, Text: "later", Mentions: []ubl.Mention{ubl.MentionRoom}, At: at.String(), Zone: "Europe/Berlin",
					ReplyTo: rapid.SampledFrom([]ubl.MessageID{"", "m:none"}).Draw(rt, "reply"), Thread: rapid.SampledFrom([]ubl.MessageID{"", "m:none"}).Draw(rt, "thread"),
					Rule: rapid.SampledFrom([]string{"", "FREQ=DAILY"}).Draw(rt, "rule"),
				})
			},
			"reschedule": func(rt *rapid.T) {
				for _, m := range ask(ubl.ListScheduled{Who: ana}).(*ubl.ScheduledList).Scheduled {
					at := ubl.TimeOf(h.Clock.Now()).Add(time.Hour).String()
					ask(ubl.UpdateScheduled{Request: h.Request(ana), ScheduledID: m.ScheduledID, Patch: ubl.ScheduledPatch{At: &at}})
					break
				}
			},
			"unschedule": func(rt *rapid.T) {
				for _, m := range ask(ubl.ListScheduled{Who: ana}).(*ubl.ScheduledList).Scheduled {
					ask(ubl.RemoveScheduled{Request: h.Request(ana), ScheduledID: m.ScheduledID})
					break
				}
			},
			"news": func(rt *rapid.T) {
				seq++
				ask(ubl.Notify{Request: h.Request(ubl.Platform()), News: ubl.News{
					RoomID: room(rt), Seq: seq, Author: "u:bob", Text: rapid.SampledFrom([]string{"x", "nothing"}).Draw(rt, "text"),
					Mentioned: rapid.Bool().Draw(rt, "mentioned"), Direct: rapid.Bool().Draw(rt, "direct"),
				}})
			},
			"seen": func(rt *rapid.T) {
				ask(ubl.SeenRoom{Request: h.Request(ana), RoomID: room(rt), Seq: seq})
			},
			"service": func(rt *rapid.T) {
				service.code = rapid.SampledFrom([]ubl.Code{"", "", ubl.CodeNotFound, ubl.CodeForbidden}).Draw(rt, "answer")
			},
			"time": func(rt *rapid.T) {
				h.Clock.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
			},
			"": func(rt *rapid.T) {
				if step++; step%4 > 0 { // what differs now does so later, too
					return
				}
				h.Alarms()
				live, loaded := h.Pair(rt, at)
				live.Look(filled.Look)
				if got, want := loaded.Snapshot(), live.Snapshot(); got != want {
					rt.Fatalf("loaded state differs\n got %s\nwant %s", got, want)
				}
				if got, err := live.Restored(); err != nil || got != live.Snapshot() {
					rt.Fatalf("restored state differs, %v\n got %s\nwant %s", err, got, live.Snapshot())
				}
			},
		})
	})
	// Open is empty, and nothing Sending, whenever nothing is under way; the salt of preferences is in answers alone.
	filled.Want(t, "State.Open", "State.Scheduled.Scheduled.Sending", "State.Preferences.Salt")
}
