package person_test

import (
	"context"
	"testing"
	"time"

	"ubl"
	"ubl/actors/person"
	"ubl/test/harness"
)

// pusher takes whatever is pushed, and seals nothing.
type pusher struct{}

func (pusher) NewKey(ubl.Name) (string, []byte, error) { return "public", []byte("sealed"), nil }
func (pusher) Check(ubl.Subscription) error            { return nil }
func (pusher) Push(context.Context, ubl.Name, string, []byte, ubl.Subscription, ubl.Push) error {
	return nil
}

// TestAnsweredAgain: each command of the family's table is answered from memory as a retry is,
// while the person is in memory and after they were loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{Push: pusher{}, Mail: &mailer{}})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	at := ubl.PersonName(ana.TenantID, ana.UserID)
	again := &harness.Again{House: h, Alike: map[string]string{
		"Notify.News":  "the key is made of the message's number in the ledger",
		"SeenRoom.Seq": "whatever was read is read",
	}}
	now := ubl.TimeOf(h.Clock.Now())
	sections, keywords, none, hour := ubl.WordList{Words: []string{"Work"}}, ubl.WordList{Words: []string{"invoice"}}, ubl.PreviewNone, int64(3600)
	again.Ask(at, ubl.SetPreferences{Request: h.Request(ana), Patch: ubl.PreferencesPatch{
		Sections: &sections, Keywords: &keywords, Preview: &none,
		Quiet: &ubl.QuietHours{From: "22:00", To: "07:00", Zone: "Europe/Berlin", Days: []string{"mon"}},
		Mail:  new(ubl.MailAlways), MailText: new(true), Language: new("de"),
	}})
	yes, level := true, ubl.NotifyAll
	got := again.Ask(at, ubl.SetRoomPreference{Request: h.Request(ana), RoomID: "r:general", Patch: ubl.RoomPreferencePatch{
		Level: &level, Favourite: &yes, Section: &sections.Words[0], MuteSeconds: &hour,
	}}).(*ubl.RoomPreference)
	if got.MutedUntil != now.Add(time.Hour) || got.Section != "Work" || !got.Favourite {
		t.Errorf("the room is answered %+v", got)
	}
	again.Ask(at, ubl.MakePushKey{Request: h.Request(ana)})
	device := again.Ask(at, ubl.AddDevice{Request: h.Request(ana), Name: "Firefox", Subscription: ubl.Subscription{
		Endpoint: "https://push.example/1", P256dh: "key", Auth: "secret",
	}}).(*ubl.Device)
	reminder := again.Ask(at, ubl.AddReminder{Request: h.Request(ana), RoomID: "r:general", MsgID: "m:1", At: now.Add(time.Hour), Note: "later"}).(*ubl.Reminder)
	again.Ask(at, ubl.RemoveReminder{Request: h.Request(ana), ReminderID: reminder.ReminderID})
	scheduled := again.Ask(at, ubl.AddScheduled{
		Request: h.Request(ana), RoomID: ubl.GeneralRoom, Text: "later", Mentions: []ubl.Mention{ubl.MentionRoom}, ReplyTo: "m:1", Thread: "m:2",
		At: now.Add(time.Hour).String(), Zone: "Europe/Berlin", Rule: "FREQ=DAILY",
	}).(*ubl.Scheduled)
	again.Ask(at, ubl.UpdateScheduled{Request: h.Request(ana), ScheduledID: scheduled.ScheduledID, Patch: ubl.ScheduledPatch{Text: &none}})
	again.Ask(at, ubl.RemoveScheduled{Request: h.Request(ana), ScheduledID: scheduled.ScheduledID})
	again.Ask(at, ubl.Notify{Request: h.Request(ubl.Platform()), News: ubl.News{RoomID: "r:other", Seq: 3, MsgID: "m:3", Author: "u:bob", Mentioned: true}})
	again.Ask(at, ubl.SeenRoom{Request: h.Request(ana), RoomID: "r:other", Seq: 3})
	again.Ask(at, ubl.RemoveDevice{Request: h.Request(ana), DeviceID: device.DeviceID})
	again.Ask(at, ubl.StopMail{Request: h.Request(ubl.Platform())})
	again.End(person.Changing())
	h.VerifyLedger(ana.TenantID)
}

// TestSettingsAreRefused: what nobody could mean changes nothing, and the refusal names its field.
func TestSettingsAreRefused(t *testing.T) {
	h := harness.Open(t, harness.Options{Push: pusher{}})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	at := ubl.PersonName(ana.TenantID, ana.UserID)
	quiet := func(from, to, zone string, days ...string) ubl.PreferencesPatch {
		return ubl.PreferencesPatch{Quiet: &ubl.QuietHours{From: from, To: to, Zone: zone, Days: days}}
	}
	words := func(list ...string) *ubl.WordList { return &ubl.WordList{Words: list} }
	long, level, section := int64(1<<40), ubl.NotifyLevel("loud"), "Nowhere"
	for field, patches := range map[string][]ubl.PreferencesPatch{
		"quiet.from":       {quiet("25:00", "07:00", "UTC"), quiet("7:00", "08:00", "UTC")},
		"quiet.to":         {quiet("22:00", "", "UTC"), quiet("22:00", "22:00", "UTC")},
		"quiet.zone":       {quiet("22:00", "07:00", ""), quiet("22:00", "07:00", "Mars/Olympus"), quiet("22:00", "07:00", "Local")},
		"quiet.days":       {quiet("22:00", "07:00", "UTC", "someday"), quiet("22:00", "07:00", "UTC", "mon", "mon")},
		"keywords":         {{Keywords: words("")}, {Keywords: words("a", "a")}, {Keywords: words("two\nlines")}, {Keywords: words(" blank")}},
		"sections":         {{Sections: words("\u200b")}},
		"do_not_disturb_s": {{DoNotDisturbSeconds: &long}},
		"preview":          {{Preview: &section}},
		"mail":             {{Mail: new(ubl.MailLevel("hourly"))}},
		"language":         {{Language: new("tlh")}},
	} {
		for _, patch := range patches {
			_, err := h.Ask(t.Context(), at, ubl.SetPreferences{Request: h.Request(ana), Patch: patch})
			if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || e.Details[field] == "" {
				t.Errorf("%s: %s is answered %v", field, patch, err)
			}
		}
	}
	for field, patch := range map[string]ubl.RoomPreferencePatch{"level": {Level: &level}, "section": {Section: &section}, "mute_s": {MuteSeconds: &long}} {
		_, err := h.Ask(t.Context(), at, ubl.SetRoomPreference{Request: h.Request(ana), RoomID: "r:general", Patch: patch})
		if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || e.Details[field] == "" {
			t.Errorf("%s is answered %v", field, err)
		}
	}
	h.Refused(ubl.CodeValidation, at, ubl.AddReminder{Request: h.Request(ana), RoomID: "r:general", MsgID: "m:1", At: ubl.TimeOf(h.Clock.Now())})
	h.Refused(ubl.CodeConflict, at, ubl.AddDevice{Request: h.Request(ana), Name: "x"})
	if p := harness.Must[*ubl.Person](h, at, ubl.GetPerson{Who: ana}); p.Preferences.Quiet != nil || len(p.Preferences.Rooms)+len(p.Reminders) > 0 {
		t.Errorf("refusals have left %+v", p)
	}
}
