package api

import (
	"time"

	"ubl"
	"ubl/actors/webhooks"
)

// What the double of the actors answers about what a person keeps, and about webhooks.

var (
	device   = ubl.Device{DeviceID: "v:00112233445566778899", Name: "Firefox on Linux", AddedAt: now}
	reminder = ubl.Reminder{ReminderID: "n:00112233445566778899", RoomID: "r:general", MsgID: "m:1", At: now.Add(24 * time.Hour), Note: "Answer Bob"}
	weekly   = ubl.Scheduled{ScheduledID: "q:00112233445566778899", RoomID: "r:general", Text: "Good morning <all>", At: now.Add(48 * time.Hour),
		Zone: "Europe/Berlin", Rule: "FREQ=WEEKLY;COUNT=10", Start: now.Add(48 * time.Hour)}
	late = ubl.Scheduled{ScheduledID: "q:99887766554433221100", RoomID: "r:general", Text: "Are you there?", At: now.Add(-time.Hour),
		Failed: &ubl.ScheduledFailure{Code: ubl.CodeForbidden, Message: "you may not write here", At: now.Add(-time.Hour)}}

	prefers     = ubl.RoomPreference{RoomID: "r:general", Level: ubl.NotifyAll, Favourite: true}
	preferences = ubl.Preferences{Rooms: []ubl.RoomPreference{prefers}, Keywords: []string{"launch"},
		Quiet: &ubl.QuietHours{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}}

	hook = webhooks.Webhook{WebhookID: "wh:00112233445566778899", Name: "Build server", URL: "https://hooks.example/ubl",
		Events: []ubl.EntryType{ubl.EntryMessage}, Rooms: []ubl.RoomID{"r:general"}, MadeBy: "u:ana", MadeAt: now}
	delivery = webhooks.Delivery{DeliveryID: "msg_00112233445566778899", Event: ubl.EntryMessage, RoomID: "r:general", RoomSeq: 42, MsgID: saidID,
		State: webhooks.DeliveryFailed, At: now.Add(-time.Minute), EndedAt: now, Status: 500, Attempts: 3, Message: "the other server answered 500"}
)

func answerFamilies(cmd ubl.Command) (any, bool) {
	if answer, ok := answerWebhooks(cmd); ok {
		return answer, true
	}
	salt := ubl.Salt{1}
	switch cmd.(type) {
	case ubl.GetPerson:
		return &ubl.Person{UserID: "u:ana", Preferences: preferences, Devices: []ubl.Device{device}, Reminders: []ubl.Reminder{reminder},
			Waiting: []ubl.Waiting{{RoomID: "r:general", Count: 2, FirstSeq: 41, LastSeq: 42}}}, true
	case ubl.FindUsable: // every tool is closed, so that what somebody takes home is short
		return &ubl.UsableTools{}, true
	case ubl.ExportOwn:
		return &ubl.OwnExport{Receipt: receipt}, true
	case ubl.SetPreferences:
		set := preferences
		set.Salt = salt
		return &set, true
	case ubl.SetRoomPreference:
		set := prefers
		set.Salt = salt
		return &set, true
	case ubl.MakePushKey:
		return &ubl.PushKey{Key: "BCVxsr7N"}, true
	case ubl.AddDevice, ubl.RemoveDevice:
		d := device
		d.Salt = salt
		return &d, true
	case ubl.AddReminder, ubl.RemoveReminder:
		r := reminder
		r.Salt = salt
		return &r, true
	case ubl.ListScheduled:
		return &ubl.ScheduledList{Scheduled: []ubl.Scheduled{late, weekly}}, true
	case ubl.AddScheduled, ubl.UpdateScheduled, ubl.RemoveScheduled:
		m := weekly
		m.Salt = salt
		return &m, true
	}
	return nil, false
}

func answerWebhooks(cmd ubl.Command) (any, bool) {
	set := hook
	set.Salt = ubl.Salt{1}
	switch cmd.(type) {
	case webhooks.ListWebhooks:
		paused := hook
		paused.WebhookID, paused.Name, paused.Paused = "wh:99887766554433221100", "Archive", &webhooks.Pause{At: now, Reason: webhooks.PausedByFailing}
		return &webhooks.WebhookList{Webhooks: []webhooks.Webhook{hook, paused}}, true
	case webhooks.AddWebhook, webhooks.RotateWebhook:
		set.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		return &set, true
	case webhooks.UpdateWebhook, webhooks.RemoveWebhook:
		return &set, true
	case webhooks.TestWebhook:
		return &webhooks.Delivery{DeliveryID: delivery.DeliveryID, Event: webhooks.EventTest, State: webhooks.DeliveryWaiting, At: now}, true
	case webhooks.ListDeliveries:
		newer := delivery
		newer.DeliveryID, newer.RoomSeq, newer.At = "msg_99887766554433221100", 43, now
		return &webhooks.DeliveryList{Deliveries: []webhooks.Delivery{newer, delivery}}, true
	case webhooks.Redeliver:
		again := delivery
		again.State, again.At, again.EndedAt, again.Status, again.Attempts, again.Message = webhooks.DeliveryWaiting, now, 0, 0, 0, ""
		return &again, true
	}
	return nil, false
}
