package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"ubl"
)

// notifyCmd says what reaches somebody.
type notifyCmd struct {
	Show     notifyShowCmd     `cmd:"" default:"withargs" help:"Show what reaches you, on which devices, and what waits for you."`
	Room     notifyRoomCmd     `cmd:"" help:"Mute a room, or choose which of its messages reach you."`
	Quiet    notifyQuietCmd    `cmd:"" help:"Set hours in which nothing reaches you, or end them."`
	DND      notifyDNDCmd      `cmd:"" name:"dnd" help:"Have nothing reach you for a while, or end that."`
	Mail     notifyMailCmd     `cmd:"" help:"Choose what mails tell you of."`
	Keywords notifyKeywordsCmd `cmd:"" help:"Set the words that make a message one for you. Without words there are none."`
	Remind   notifyRemindCmd   `cmd:"" help:"Be reminded of a message."`
	Forget   notifyForgetCmd   `cmd:"" help:"Take a reminder or a device away."`
}

type notifyShowCmd struct {
	remote
	format
}

// Run shows it, with --json as the server answers it.
func (c *notifyShowCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := server.call(ctx, "GET", "/api/me/notifications", nil, &raw); err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintf(p.out, "%s\n", raw)
		return err
	}
	me, err := formed[ubl.Person]("what reaches you", raw)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(cell ...any) { fmt.Fprintln(table, cells(cell...)) }
	if me.QuietUntil > 0 {
		row("quiet until", local(me.QuietUntil))
	}
	if q := me.Preferences.Quiet; q != nil {
		row("quiet hours", strings.TrimSpace(fmt.Sprintf("%s to %s %s %s", q.From, q.To, q.Zone, strings.Join(q.Days, ","))))
	}
	if len(me.Preferences.Keywords) > 0 {
		row("keywords", strings.Join(me.Preferences.Keywords, ", "))
	}
	if me.Mail != nil {
		row("mail", mailed(&me))
	}
	for _, r := range me.Preferences.Rooms {
		row("room", r.RoomID+" "+ubl.RoomID(roomWishes(r)))
	}
	for _, d := range me.Devices {
		row("device", d.DeviceID+" "+d.Name)
	}
	for _, r := range me.Reminders {
		row("reminder", fmt.Sprintf("%s %s %s %s", r.ReminderID, local(r.At), r.RoomID, r.Note))
	}
	for _, w := range me.Waiting {
		row("waiting", fmt.Sprintf("%s %d", w.RoomID, w.Count))
	}
	return table.Flush()
}

// roomWishes is what somebody wants of a room, in words.
func roomWishes(r ubl.RoomPreference) string {
	var list []string
	if r.Level != "" {
		list = append(list, string(r.Level))
	}
	if r.MutedUntil > 0 {
		list = append(list, "mute until "+local(r.MutedUntil))
	}
	if r.Favourite {
		list = append(list, "favourite")
	}
	if r.Section != "" {
		list = append(list, "in "+r.Section)
	}
	return strings.Join(list, ", ")
}

type notifyRoomCmd struct {
	remote
	format
	oneRoom
	Level     *string        `enum:"all,mentions,nothing,default" help:"Which messages reach you: all, mentions, nothing or default." config:"-"`
	Mute      *time.Duration `help:"How long the room is mute, as 8h; 0s ends that." placeholder:"FOR" config:"-"`
	Favourite *bool          `negatable:"" help:"Whether the room is a favourite." config:"-"`
}

// Run changes what is given.
func (c *notifyRoomCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	body := map[string]any{}
	if c.Level != nil {
		body["level"] = strings.TrimPrefix(*c.Level, "default")
	}
	if c.Mute != nil {
		body["mute_s"] = int64(*c.Mute / time.Second)
	}
	if c.Favourite != nil {
		body["favourite"] = *c.Favourite
	}
	if len(body) == 0 {
		return usagef("say what to change: --level, --mute or --favourite")
	}
	return changed[ubl.RoomPreference](ctx, p, &c.remote, c.format, "PATCH", "/api/me/rooms/"+url.PathEscape(string(room)), body, func(r *ubl.RoomPreference) string {
		wishes := roomWishes(*r)
		if wishes == "" {
			wishes = "what is usual"
		}
		return fmt.Sprintf("%s: %s", r.RoomID, wishes)
	})
}

// changed asks for a change and says what came of it.
func changed[T any](ctx context.Context, p *program, r *remote, f format, method, path string, body map[string]any, line func(*T) string) error {
	server, err := r.client(p)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, method, path, body, "")
	if err != nil {
		return err
	}
	v, err := formed[T]("an answer", answer)
	if err != nil {
		return err
	}
	return f.say(p.out, answer, "%s", line(&v))
}

type notifyQuietCmd struct {
	remote
	format
	From string   `arg:"" optional:"" help:"When they begin, as 22:00."`
	To   string   `arg:"" optional:"" help:"When they end, as 07:00."`
	Zone string   `help:"The time zone, as Europe/Berlin." default:"UTC" config:"-"`
	Days []string `help:"Days on which they begin, as mon,tue; every day where none is given." config:"-"`
	Off  bool     `help:"End them." config:"-"`
}

// Run sets or ends them.
func (c *notifyQuietCmd) Run(ctx context.Context, p *program) error {
	quiet := map[string]any{}
	switch {
	case c.Off && c.From != "":
		return usagef("--off takes no times")
	case !c.Off && c.To == "":
		return usagef("say when they begin and end, as 22:00 07:00, or --off")
	case !c.Off:
		quiet = map[string]any{"from": c.From, "to": c.To, "zone": c.Zone}
		if len(c.Days) > 0 {
			quiet["days"] = c.Days
		}
	}
	return changed(ctx, p, &c.remote, c.format, "PATCH", "/api/me/notifications", map[string]any{"quiet": quiet}, func(now *ubl.Preferences) string {
		if now.Quiet == nil {
			return "There are no quiet hours."
		}
		return fmt.Sprintf("Nothing reaches you from %s to %s (%s).", now.Quiet.From, now.Quiet.To, now.Quiet.Zone)
	})
}

type notifyDNDCmd struct {
	remote
	format
	For time.Duration `arg:"" help:"How long, as 90m; 0s ends it."`
}

// Run begins or ends it.
func (c *notifyDNDCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{"do_not_disturb_s": int64(c.For / time.Second)}
	return changed(ctx, p, &c.remote, c.format, "PATCH", "/api/me/notifications", body, func(now *ubl.Preferences) string {
		if now.DisturbAt == 0 {
			return "You may be disturbed."
		}
		return "Nothing reaches you until " + local(now.DisturbAt) + "."
	})
}

type notifyMailCmd struct {
	remote
	format
	Level    *string `arg:"" optional:"" enum:"off,mentions,always,daily" help:"off; mentions and direct messages while no device is reached (mentions), or always; or daily all that is unread."`
	Text     *bool   `negatable:"" help:"Whether mails say how messages begin." config:"-"`
	Language *string `enum:"en,de,es,ar" help:"Language of mails: en, de, es or ar." config:"-"`
}

// Run changes what is given.
func (c *notifyMailCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{}
	if c.Level != nil {
		body["mail"] = *c.Level
	}
	if c.Text != nil {
		body["mail_text"] = *c.Text
	}
	if c.Language != nil {
		body["language"] = *c.Language
	}
	if len(body) == 0 {
		return usagef("say what to change: off, mentions, always or daily, --text or --language")
	}
	return changed(ctx, p, &c.remote, c.format, "PATCH", "/api/me/notifications", body, func(now *ubl.Preferences) string {
		return "Mails: " + string(now.Mails())
	})
}

// mailed is what mails tell somebody, and where.
func mailed(me *ubl.Person) string {
	switch level := me.Preferences.Mails(); {
	case level == ubl.MailOff:
		return string(level)
	case me.Mail.Address == "":
		return string(level) + ", but you have no proven address"
	case me.Mail.Failed != nil:
		return fmt.Sprintf("%s, but %s failed at %s: %s", level, me.Mail.Failed.Address, local(me.Mail.Failed.At), me.Mail.Failed.Message)
	default:
		return fmt.Sprintf("%s, to %s", level, me.Mail.Address)
	}
}

type notifyKeywordsCmd struct {
	remote
	format
	Words []string `arg:"" optional:"" help:"All of them."`
}

// Run puts them in the place of those before.
func (c *notifyKeywordsCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{"keywords": append([]string{}, c.Words...)}
	return changed(ctx, p, &c.remote, c.format, "PATCH", "/api/me/notifications", body, func(now *ubl.Preferences) string {
		if len(now.Keywords) == 0 {
			return "There are no keywords."
		}
		return "Keywords: " + strings.Join(now.Keywords, ", ")
	})
}

type notifyRemindCmd struct {
	remote
	format
	Place string        `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Msg   string        `arg:"" name:"message" help:"The message's id, as history --json has it."`
	In    time.Duration `required:"" help:"In how long, as 2h." config:"-"`
	Note  string        `help:"What to say then." config:"-"`
}

// Run sets the reminder.
func (c *notifyRemindCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	body := map[string]any{"room_id": room, "msg_id": c.Msg, "at": ubl.TimeOf(p.now().Add(c.In))}
	if c.Note != "" {
		body["note"] = c.Note
	}
	return changed(ctx, p, &c.remote, c.format, "POST", "/api/me/reminders", body, func(r *ubl.Reminder) string {
		return fmt.Sprintf("You are reminded at %s: %s", local(r.At), r.ReminderID)
	})
}

type notifyForgetCmd struct {
	remote
	format
	ID string `arg:"" help:"The id of a reminder (n:…) or a device (v:…), as ubl notify has it."`
}

// Run takes it away.
func (c *notifyForgetCmd) Run(ctx context.Context, p *program) error {
	path := "/api/me/reminders/"
	if strings.HasPrefix(c.ID, "v:") {
		path = "/api/me/devices/"
	}
	return changed(ctx, p, &c.remote, c.format, "DELETE", path+url.PathEscape(c.ID), nil, func(*struct{}) string {
		return c.ID + " is taken away."
	})
}
