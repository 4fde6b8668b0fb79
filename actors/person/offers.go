package person

import (
	"ubl"
	"ubl/offer"
)

// What the operations take. The caller is whose it is.
type (
	nothing struct{}

	preferencesInput struct {
		Sections     *[]string   `json:"sections,omitempty" maxItems:"50" doc:"The sections of your list of rooms, in their order: all of them."`
		Keywords     *[]string   `json:"keywords,omitempty" maxItems:"50" doc:"Words that make a message one for you: all of them."`
		Quiet        *quietInput `json:"quiet,omitempty" doc:"When nothing reaches you, each day. Without from there is no such time."`
		DoNotDisturb *int64      `json:"do_not_disturb_s,omitempty" minimum:"0" maximum:"31622400" doc:"Seconds from now on in which nothing reaches you; 0 ends that." example:"3600"`
		Preview      *string     `json:"preview,omitempty" enum:",none" doc:"none: notifications don't say who wrote what. Empty: they do."`
		Mail         *string     `json:"mail,omitempty" enum:",off,mentions,always,daily" doc:"What mails tell of: mentions and direct messages, while no device is reached or always; or daily all that is unread."`
		MailText     *bool       `json:"mail_text,omitempty" doc:"Mails say how messages begin."`
		Language     *string     `json:"language,omitempty" enum:",en,de,es,ar" doc:"Of mails."`
	}
	quietInput struct {
		From string   `json:"from,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"When it begins, by the clocks of zone." example:"22:00"`
		To   string   `json:"to,omitempty" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" doc:"When it ends: the next day, where that is before from." example:"07:00"`
		Zone string   `json:"zone,omitempty" maxLength:"64" doc:"Time zone." example:"Europe/Berlin"`
		Days []string `json:"days,omitempty" maxItems:"7" doc:"Days on which it begins: mon to sun. Empty is every day."`
	}
	roomInput struct {
		RoomID    ubl.RoomID `json:"room_id" pattern:"^r:[A-Za-z0-9._-]{1,128}$" doc:"The room, by its id." example:"r:general"`
		Level     *string    `json:"level,omitempty" enum:",all,mentions,nothing" doc:"Which messages reach you: all, those for you (mentions), or nothing. Empty goes by the room: all in direct messages, else mentions."`
		Mute      *int64     `json:"mute_s,omitempty" minimum:"0" maximum:"31622400" doc:"Seconds from now on in which the room is mute; 0 ends that." example:"28800"`
		Favourite *bool      `json:"favourite,omitempty" doc:"Whether it is at the top of your list of rooms."`
		Section   *string    `json:"section,omitempty" maxLength:"100" doc:"One of your sections; empty for none." example:"Customers"`
	}
	deviceInput struct {
		Name     string `json:"name" minLength:"1" maxLength:"100" doc:"What you call it." example:"Firefox on Linux"`
		Endpoint string `json:"endpoint" minLength:"1" maxLength:"2048" doc:"Where the browser's push service takes messages for it." example:"https://push.example/abc"`
		P256dh   string `json:"p256dh" minLength:"1" maxLength:"200" doc:"The browser's public key, base64url." example:"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"`
		Auth     string `json:"auth" minLength:"1" maxLength:"100" doc:"The browser's secret, base64url." example:"BTBZMqHH6r4Tts7J_aSIgg"`
	}
	deviceRef struct {
		DeviceID string `json:"device_id" pattern:"^v:[0-9a-f]{20}$" doc:"The device, by its id." example:"v:00112233445566778899"`
	}
	reminderInput struct {
		RoomID ubl.RoomID    `json:"room_id" pattern:"^r:[A-Za-z0-9._-]{1,128}$" doc:"The room, by its id." example:"r:general"`
		MsgID  ubl.MessageID `json:"msg_id" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The message, by its id." example:"m:1"`
		At     ubl.Time      `json:"at" doc:"When, within a year." example:"2026-01-31T12:00:00.000Z"`
		Note   string        `json:"note,omitempty" maxLength:"500" doc:"What you want to be told then." example:"Answer Bob"`
	}
	scheduledInput struct {
		RoomID   ubl.RoomID    `json:"room_id" pattern:"^r:[A-Za-z0-9._-]{1,128}$" doc:"The room, by its id." example:"r:general"`
		Text     string        `json:"text" minLength:"1" maxLength:"8000" doc:"What it says: plain text or Markdown." example:"Good morning"`
		Mentions []ubl.Mention `json:"mentions,omitempty" maxItems:"50" doc:"Ids of people whom it is for, or @room."`
		ReplyTo  ubl.MessageID `json:"reply_to,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" example:"m:1" doc:"A message that it answers."`
		Thread   ubl.MessageID `json:"thread,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" example:"m:1" doc:"The message that began the thread that it is for."`
		At       string        `json:"at" minLength:"1" maxLength:"40" doc:"When, within a year: RFC 3339, or without an offset by the clocks of zone." example:"2099-01-31T09:00"`
		Zone     string        `json:"zone,omitempty" maxLength:"64" doc:"Time zone; UTC if empty." example:"Europe/Berlin"`
		Rule     string        `json:"rule,omitempty" maxLength:"300" doc:"How it recurs: an RRULE of RFC 5545, daily at most, for five years at most. Empty is once." example:"FREQ=WEEKLY;BYDAY=MO;COUNT=10"`
	}
	scheduledPatch struct {
		ScheduledID string         `json:"scheduled_id" pattern:"^q:[0-9a-f]{20}$" doc:"The scheduled message, by its id." example:"q:00112233445566778899"`
		Text        *string        `json:"text,omitempty" minLength:"1" maxLength:"8000" doc:"What it is to say." example:"Good morning"`
		Mentions    *[]ubl.Mention `json:"mentions,omitempty" maxItems:"50" doc:"All of them."`
		At          *string        `json:"at,omitempty" minLength:"1" maxLength:"40" doc:"When: as in person.scheduled.add." example:"2099-01-31T09:00"`
		Zone        *string        `json:"zone,omitempty" maxLength:"64" doc:"Time zone of at and rule." example:"Europe/Berlin"`
		Rule        *string        `json:"rule,omitempty" maxLength:"300" doc:"How it recurs; empty is once." example:"FREQ=DAILY;COUNT=5"`
	}
	scheduledRef struct {
		ScheduledID string `json:"scheduled_id" pattern:"^q:[0-9a-f]{20}$" doc:"The scheduled message, by its id." example:"q:00112233445566778899"`
	}
	reminderRef struct {
		ReminderID string `json:"reminder_id" pattern:"^n:[0-9a-f]{20}$" doc:"The reminder, by its id." example:"n:00112233445566778899"`
	}
)

func words(given *[]string) *ubl.WordList {
	if given == nil {
		return nil
	}
	return &ubl.WordList{Words: *given}
}

func me(req ubl.Request) ubl.Name { return ubl.PersonName(req.Who.TenantID, req.Who.UserID) }

// offers are the operations over REST and MCP.
var offers = []offer.Operation{
	offer.Of[nothing, ubl.Person](offer.Operation{
		Method: "GET", Path: "/me/notifications", Tool: "person.get", People: true, Summary: "Show what reaches you, and what waits for you",
		More: "Shows which messages reach you, on which devices, your reminders, and the rooms in which something waits. Use it before you change any of it. What is unread in all rooms is in messenger.list_rooms. For people alone.",
	}, func(req ubl.Request, _ nothing) (ubl.Name, ubl.Command) { return me(req), ubl.GetPerson{Who: req.Who} }),
	offer.Of[preferencesInput, ubl.Preferences](offer.Operation{
		Method: "PATCH", Path: "/me/notifications", Tool: string(didPreferences), People: true, Counts: ubl.Sends, Summary: "Set keywords, quiet hours, do-not-disturb and mails",
		More: "Changes what reaches you in all rooms: keywords, quiet hours, do-not-disturb, previews, mails, and the sections of your list. Use it to be told less or of other things everywhere; what isn't given stays. For one room use person.room.update. For people alone; answers all of it.",
	}, func(req ubl.Request, in preferencesInput) (ubl.Name, ubl.Command) {
		patch := ubl.PreferencesPatch{Sections: words(in.Sections), Keywords: words(in.Keywords), DoNotDisturbSeconds: in.DoNotDisturb, Preview: in.Preview,
			Mail: (*ubl.MailLevel)(in.Mail), MailText: in.MailText, Language: in.Language}
		if q := in.Quiet; q != nil {
			patch.Quiet = &ubl.QuietHours{From: q.From, To: q.To, Zone: q.Zone, Days: q.Days}
		}
		return me(req), ubl.SetPreferences{Request: req, Patch: patch}
	}),
	offer.Of[roomInput, ubl.RoomPreference](offer.Operation{
		Method: "PATCH", Path: "/me/rooms/{roomId}", Tool: string(didRoom), People: true, Counts: ubl.Sends, Summary: "Mute a room, or choose which of its messages reach you",
		More: "Changes what you want of one room: which messages reach you, whether it is mute, a favourite, in which section it stands. Use it to mute or favour a room for yourself; what isn't given stays. For all rooms use person.preferences.update; room.update changes the room for everybody. For people alone.",
	}, func(req ubl.Request, in roomInput) (ubl.Name, ubl.Command) {
		return me(req), ubl.SetRoomPreference{Request: req, RoomID: in.RoomID, Patch: ubl.RoomPreferencePatch{
			Level: (*ubl.NotifyLevel)(in.Level), MuteSeconds: in.Mute, Favourite: in.Favourite, Section: in.Section,
		}}
	}),
	offer.Of[nothing, ubl.PushKey](offer.Operation{
		Method: "POST", Path: "/me/push-key", Tool: string(didKey), People: true, Counts: ubl.Creations, Summary: "Get the key that a browser subscribes to notifications with",
		More: "Answers your public key for push services, made at the first use. Use it before person.device.add: the browser subscribes with it. For people alone.",
	}, func(req ubl.Request, _ nothing) (ubl.Name, ubl.Command) {
		return me(req), ubl.MakePushKey{Request: req}
	}),
	offer.Of[deviceInput, ubl.Device](offer.Operation{
		Method: "POST", Path: "/me/devices", Tool: string(didDeviceAdd), People: true, Counts: ubl.Creations, Creates: true, Location: "/me/devices/{device_id}", Summary: "Have notifications reach a browser",
		More: "Has your notifications reach a browser, by the subscription that its push service gave it; the same browser again keeps its id. Use it once the browser has subscribed with the key of person.key.create. For people alone; answers the device.",
	}, func(req ubl.Request, in deviceInput) (ubl.Name, ubl.Command) {
		return me(req), ubl.AddDevice{Request: req, Name: in.Name, Subscription: ubl.Subscription{Endpoint: in.Endpoint, P256dh: in.P256dh, Auth: in.Auth}}
	}),
	offer.Of[deviceRef, ubl.Device](offer.Operation{
		Method: "DELETE", Path: "/me/devices/{deviceId}", Tool: string(didDeviceRemove), People: true, Counts: ubl.Sends, Destroys: true, Summary: "Have notifications no longer reach a browser",
		More: "Takes a browser off the list of those that your notifications reach. Use it when a device is lost or no longer yours; person.get lists them. To be left alone for a while use person.preferences.update. For people alone.",
	}, func(req ubl.Request, in deviceRef) (ubl.Name, ubl.Command) {
		return me(req), ubl.RemoveDevice{Request: req, DeviceID: in.DeviceID}
	}),
	offer.Of[reminderInput, ubl.Reminder](offer.Operation{
		Method: "POST", Path: "/me/reminders", Tool: string(didReminderAdd), People: true, Counts: ubl.Creations, Creates: true, Location: "/me/reminders/{reminder_id}", Summary: "Be reminded of a message at a time",
		More: "Reminds you of a message at a time, on your devices and in person.get, whether it is quiet then or not. Use it to come back to a message later; nobody else hears of it. To have something said in a room use person.scheduled.add. For people alone; answers the reminder.",
	}, func(req ubl.Request, in reminderInput) (ubl.Name, ubl.Command) {
		return me(req), ubl.AddReminder{Request: req, RoomID: in.RoomID, MsgID: in.MsgID, At: in.At, Note: in.Note}
	}),
	offer.Of[reminderRef, ubl.Reminder](offer.Operation{
		Method: "DELETE", Path: "/me/reminders/{reminderId}", Tool: string(didReminderRemove), People: true, Counts: ubl.Sends, Destroys: true, Summary: "Take a reminder away",
		More: "Takes one of your reminders away, before or after its time. Use it when you have done what it is about; person.get lists them. For people alone.",
	}, func(req ubl.Request, in reminderRef) (ubl.Name, ubl.Command) {
		return me(req), ubl.RemoveReminder{Request: req, ReminderID: in.ReminderID}
	}),
	offer.Paged(offer.Of[nothing, ubl.ScheduledList](offer.Operation{
		Method: "GET", Path: "/me/scheduled", Tool: "person.scheduled.list", People: true, Summary: "List your scheduled messages",
		More: "Lists the messages that you have scheduled, by time, and those that couldn't be sent, with the reason. Use it to see what goes out when, or for the id that person.scheduled.update takes. Nobody else sees them. For people alone; cursor reads on.",
	}, func(req ubl.Request, _ nothing) (ubl.Name, ubl.Command) {
		return me(req), ubl.ListScheduled{Who: req.Who}
	}), func(l *ubl.ScheduledList) *[]ubl.Scheduled { return &l.Scheduled }, func(m ubl.Scheduled) string { return m.At.String() + m.ScheduledID }),
	offer.Of[scheduledInput, ubl.Scheduled](offer.Operation{
		Method: "POST", Path: "/me/scheduled", Tool: string(didScheduledAdd), People: true, Counts: ubl.Creations, Creates: true, Location: "/me/scheduled/{scheduled_id}", Summary: "Schedule a message: once, or every Monday",
		More: "Puts a message into a room later as you, once or by a rule such as FREQ=WEEKLY;BYDAY=MO. Use it to have something said at a time: only you see it until then. If you aren't allowed to then, it doesn't go out, and person.scheduled.list has the reason. For now use messenger.send, for a note to yourself person.reminder.add; for people alone.",
	}, func(req ubl.Request, in scheduledInput) (ubl.Name, ubl.Command) {
		return me(req), ubl.AddScheduled{
			Request: req, RoomID: in.RoomID, Text: in.Text, Mentions: in.Mentions, ReplyTo: in.ReplyTo, Thread: in.Thread, At: in.At, Zone: in.Zone, Rule: in.Rule,
		}
	}),
	offer.Of[scheduledPatch, ubl.Scheduled](offer.Operation{
		Method: "PATCH", Path: "/me/scheduled/{scheduledId}", Tool: string(didScheduledUpdate), People: true, Counts: ubl.Sends, Summary: "Change a scheduled message",
		More: "Changes the text, mentions, time or rule of one of your scheduled messages; what isn't given stays. Use it before it goes out, or with a new time for one that couldn't be sent. For a message that was sent use messenger.edit. For people alone; person.scheduled.list has the ids.",
	}, func(req ubl.Request, in scheduledPatch) (ubl.Name, ubl.Command) {
		patch := ubl.ScheduledPatch{Text: in.Text, At: in.At, Zone: in.Zone, Rule: in.Rule}
		if in.Mentions != nil {
			patch.Mentions = &ubl.MentionList{Mentions: *in.Mentions}
		}
		return me(req), ubl.UpdateScheduled{Request: req, ScheduledID: in.ScheduledID, Patch: patch}
	}),
	offer.Of[scheduledRef, ubl.Scheduled](offer.Operation{
		Method: "DELETE", Path: "/me/scheduled/{scheduledId}", Tool: string(didScheduledRemove), People: true, Counts: ubl.Sends, Destroys: true, Summary: "Cancel a scheduled message",
		More: "Cancels one of your scheduled messages, or takes one off the list that couldn't be sent. Use it when it is not to go out. What a rule has sent already stays: messenger.redact takes that away. For people alone; person.scheduled.list has the ids.",
	}, func(req ubl.Request, in scheduledRef) (ubl.Name, ubl.Command) {
		return me(req), ubl.RemoveScheduled{Request: req, ScheduledID: in.ScheduledID}
	}),
}
