package forward

import (
	"context"
	"time"

	"ubl"
)

// anyBrowser stands for push services: the commands between nodes are what is tested here.
type anyBrowser struct{}

func (anyBrowser) NewKey(ubl.Name) (string, []byte, error) { return "public", []byte{0, 255}, nil }
func (anyBrowser) Check(ubl.Subscription) error            { return nil }
func (anyBrowser) Push(context.Context, ubl.Name, string, []byte, ubl.Subscription, ubl.Push) error {
	return nil
}

// anyMailer stands for a mail server.
type anyMailer struct{}

func (anyMailer) Mail(context.Context, ubl.UnreadMail) error { return nil }

// person asks for what is somebody's own.
func (w *world) person() {
	bob, now := ubl.PersonName(w.bob.TenantID, w.bob.UserID), ubl.TimeOf(w.h.Clock.Now())
	hour, yes := int64(3600), true
	prefers := must[*ubl.Preferences](w.forwarder, bob, ubl.SetPreferences{Request: w.h.Request(w.bob), Patch: ubl.PreferencesPatch{
		Keywords: &ubl.WordList{Words: []string{"<invoice>"}}, DoNotDisturbSeconds: &hour, Quiet: &ubl.QuietHours{From: "22:00", To: "07:00", Zone: "UTC", Days: []string{"mon"}},
	}})
	if prefers.DisturbAt != now.Add(time.Hour) || prefers.Quiet.Days[0] != "mon" {
		w.t.Errorf("bob prefers %+v", prefers)
	}
	must[*ubl.RoomPreference](w.forwarder, bob, ubl.SetRoomPreference{Request: w.h.Request(w.bob), RoomID: "r:general", Patch: ubl.RoomPreferencePatch{Favourite: &yes}})
	if key := must[*ubl.PushKey](w.forwarder, bob, ubl.MakePushKey{Request: w.h.Request(w.bob)}); key.Key != "public" {
		w.t.Errorf("bob's key is %+v", key)
	}
	device := must[*ubl.Device](w.forwarder, bob, ubl.AddDevice{Request: w.h.Request(w.bob), Name: "x", Subscription: ubl.Subscription{Endpoint: "https://push.example"}})
	reminder := must[*ubl.Reminder](w.forwarder, bob, ubl.AddReminder{Request: w.h.Request(w.bob), RoomID: "r:general", MsgID: "m:1", At: now.Add(time.Hour)})
	scheduled := must[*ubl.Scheduled](w.forwarder, bob, ubl.AddScheduled{
		Request: w.h.Request(w.bob), RoomID: ubl.GeneralRoom, Text: "<later>", Mentions: []ubl.Mention{ubl.MentionRoom}, At: now.Add(time.Hour).String(), Zone: "Europe/Berlin", Rule: "FREQ=DAILY",
	})
	text := "<later still>"
	must[*ubl.Scheduled](w.forwarder, bob, ubl.UpdateScheduled{Request: w.h.Request(w.bob), ScheduledID: scheduled.ScheduledID, Patch: ubl.ScheduledPatch{Text: &text, Mentions: &ubl.MentionList{}}})
	if list := must[*ubl.ScheduledList](w.forwarder, bob, ubl.ListScheduled{Who: w.bob}); len(list.Scheduled) != 1 || list.Scheduled[0].Text != text || len(list.Scheduled[0].Mentions) > 0 {
		w.t.Errorf("bob has scheduled %+v", list)
	}
	must[*ubl.Scheduled](w.forwarder, bob, ubl.RemoveScheduled{Request: w.h.Request(w.bob), ScheduledID: scheduled.ScheduledID})
	nothing(w.forwarder, bob, ubl.Notify{Request: w.h.Request(ubl.Platform()), News: ubl.News{RoomID: "r:elsewhere", Seq: 2, Author: w.ana.UserID, Direct: true}})
	if p := must[*ubl.Person](w.forwarder, bob, ubl.GetPerson{Who: w.bob}); len(p.Waiting) != 1 || !p.Waiting[0].Held || len(p.Devices) != 1 || len(p.Reminders) != 1 || p.Mail.Address != w.bob.Email {
		w.t.Errorf("bob is %+v", p)
	}
	nothing(w.forwarder, bob, ubl.SeenRoom{Request: w.h.Request(w.bob), RoomID: "r:elsewhere", Seq: 2})
	must[*ubl.Reminder](w.forwarder, bob, ubl.RemoveReminder{Request: w.h.Request(w.bob), ReminderID: reminder.ReminderID})
	must[*ubl.Device](w.forwarder, bob, ubl.RemoveDevice{Request: w.h.Request(w.bob), DeviceID: device.DeviceID})
	daily, german := ubl.MailDaily, "de"
	if prefers := must[*ubl.Preferences](w.forwarder, bob, ubl.SetPreferences{Request: w.h.Request(w.bob), Patch: ubl.PreferencesPatch{
		Mail: &daily, MailText: &yes, Language: &german,
	}}); prefers.Mail != daily || !prefers.MailText || prefers.Language != german {
		w.t.Errorf("bob prefers %+v", prefers)
	}
	nothing(w.forwarder, bob, ubl.StopMail{Request: w.h.Request(ubl.Platform())})
	refused(w.forwarder, ubl.CodeForbidden, bob, ubl.StopMail{Request: w.h.Request(w.bob)})
	refused(w.forwarder, ubl.CodeForbidden, bob, ubl.GetPerson{Who: w.ana})
	if export := must[*ubl.OwnExport](w.forwarder, bob, ubl.ExportOwn{Request: w.h.Request(w.bob)}); export.Receipt.Seq == 0 {
		w.t.Errorf("bob's export is %+v", export)
	}
	refused(w.forwarder, ubl.CodeForbidden, bob, ubl.ExportOwn{Request: w.h.Request(w.ana)})
}
