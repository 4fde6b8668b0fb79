package person

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// tellWhom asks who a push is for, as it is by now. Only [Person.send] asks it. Answers recipient.
type tellWhom struct{ job }

// Cost is 0: it reads.
func (tellWhom) Cost() int { return 0 }

// recipient is a device, and what there is to tell it. Found is false where one of them is gone.
type recipient struct {
	found    bool
	who      ubl.Identity
	device   ubl.Device
	key      pushKey
	preview  string
	waiting  ubl.Waiting
	reminder ubl.Reminder
}

func (x *Person) recipient(c tellWhom) recipient {
	s := &x.State
	r := recipient{who: ubl.Identity{UserID: s.User, TenantID: s.Tenant}, preview: s.Preferences.Preview}
	d := find(s.Devices, c.DeviceID, deviceID)
	if d == nil || s.Key == nil {
		return r
	}
	r.device, r.key = *d, *s.Key
	switch c.What {
	case tellMessage:
		if w := find(s.Waiting, string(c.RoomID), roomOf); w != nil && !w.Held {
			r.found, r.waiting = true, w.Waiting
		}
	case tellReminder:
		if m := find(s.Reminders, c.Reminder, reminderID); m != nil {
			r.found, r.reminder = true, *m
		}
	default:
		r.found = find(s.Waiting, string(c.RoomID), roomOf) == nil // else there is news again
	}
	return r
}

// Notification is the payload of a push: what the app's service worker reads.
type Notification struct {
	Version int          `json:"v"`
	What    string       `json:"what"`
	Tenant  ubl.TenantID `json:"tenant_id"`
	Room    ubl.RoomID   `json:"room_id,omitempty"`
	// Seq is the newest message of which it tells: an older one, which may come later, is passed over.
	Seq   int64         `json:"room_seq,omitempty"`
	MsgID ubl.MessageID `json:"msg_id,omitempty"`
	Count int64         `json:"count,omitempty"`
	// Title and Text say who wrote where, and how it begins; "" where the person wants none.
	Title  string `json:"title,omitempty"`
	Author string `json:"author,omitempty"`
	Text   string `json:"text,omitempty"`

	// last is how long the push service may keep it: no longer than its room keeps the message.
	last time.Duration
}

const notificationVersion = 1

// maxPreview is how much of a message is shown, in characters.
const maxPreview = 120

// send makes an attempt of a push, of sending a message, or of a mail.
func (x *Person) send(ctx context.Context, a actors.Attempt) (json.RawMessage, error) {
	var j job
	if err := json.Unmarshal(a.Content, &j); err != nil || j.Form > mailVersion {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "a push is of a version that this program doesn't know")
	}
	switch j.What {
	case tellSend:
		return x.post(ctx, a, j.Scheduled)
	case tellMail:
		return x.sendMail(ctx, a, j.Due)
	}
	to, err := ubl.Ask[recipient](ctx, x.Ask, x.Name, tellWhom{j})
	if err != nil {
		return nil, err
	}
	if x.push == nil {
		return nil, errNoPush()
	}
	n := Notification{Version: notificationVersion, What: j.What, Tenant: to.who.TenantID, Room: j.RoomID, Seq: j.Seq, last: pushFor}
	if to.found && j.What != tellClose {
		to.found, err = x.fill(ctx, &n, to)
	}
	if err != nil || !to.found {
		return json.RawMessage(`{"seq":0}`), err
	}
	payload, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	p := ubl.Push{Payload: payload, Topic: topic(j), TTL: n.last, Urgent: j.What != tellClose}
	if j.What == tellClose {
		p.TTL = closeFor
	}
	if err := x.push.Push(ctx, x.Name, to.key.Public, to.key.Sealed, *to.device.Subscription, p); err != nil {
		return nil, err
	}
	return json.Marshal(pushed{n.Seq})
}

// topic has a push service replace what it keeps of the same room: 32 characters at most. A close
// replaces the message that it is about.
func topic(j job) string {
	sum := sha256.Sum256([]byte(j.DeviceID + "\n" + string(j.RoomID) + "\n" + j.Reminder))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// fill says what a notification tells, and whether there is anything left to tell.
func (x *Person) fill(ctx context.Context, n *Notification, to recipient) (bool, error) {
	room := ubl.RoomName(to.who.TenantID, n.Room)
	if n.What == tellReminder {
		n.MsgID = to.reminder.MsgID
		if to.preview != ubl.PreviewNone {
			n.Text = short(to.reminder.Note)
			n.Title, _ = x.titled(ctx, to.who, room)
		}
		return true, nil
	}
	n.Seq, n.Count = to.waiting.LastSeq, to.waiting.Count
	read, err := x.read(ctx, to.who.UserID, n.Room)
	if err != nil {
		return false, err
	}
	if read >= n.Seq { // and nobody could say so then
		return false, x.seen(ctx, n.Room, read)
	}
	e, err := x.entry(ctx, to.who, room, n.Seq)
	if err != nil || e == nil || e.Redacted != nil && n.Count == 1 {
		return false, err
	}
	n.MsgID = e.ID
	if to.preview == ubl.PreviewNone {
		return true, nil
	}
	n.Author = x.called(ctx, to.who, e.AuthorID)
	var keeps time.Duration
	if n.Title, keeps = x.titled(ctx, to.who, room); keeps > 0 {
		n.last = min(n.last, e.SentAt.Add(keeps).Std().Sub(x.Now()))
	}
	if n.last <= 0 {
		return false, nil // retention is about to take it
	}
	n.Text = textOf(e)
	return true, nil
}

// seen has the person forget what waits in a room that they have read.
func (x *Person) seen(ctx context.Context, room ubl.RoomID, read int64) error {
	id, err := ubl.NewRequestID(x.Random)
	if err == nil {
		_, err = x.Ask.Ask(ctx, x.Name, ubl.SeenRoom{Request: ubl.Request{Who: ubl.Platform(), ID: id, Key: id}, RoomID: room, Seq: read})
	}
	return err
}

// entry is one of a room, as it is now; nil where it isn't the person's to see, or retention has
// taken it.
func (x *Person) entry(ctx context.Context, who ubl.Identity, room ubl.Name, seq int64) (*ubl.Entry, error) {
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, x.Ask, room, ubl.ReadHistory{Who: who, Before: seq + 1, Limit: 1, Entries: true, Now: true})
	switch ubl.CodeOf(err) {
	case "":
	case ubl.CodeNotAMember, ubl.CodeNotFound, ubl.CodeForbidden:
		return nil, nil
	default:
		return nil, err
	}
	if len(page.Entries) == 0 || page.LastSeq != seq {
		return nil, nil
	}
	var e ubl.Entry
	err = json.Unmarshal(page.Entries[0], &e)
	return &e, err
}

// textOf is how a message begins, as it says now; "" where it is no text.
func textOf(e *ubl.Entry) string {
	body, said := e.Body, ubl.Body{}
	if e.Edited != nil && e.Edited.Body != nil {
		body = e.Edited.Body
	}
	if body == nil || body.Type != ubl.ContentText || json.Unmarshal(body.JSON, &said) != nil {
		return ""
	}
	return short(said.Text)
}

// read is how far the person has read a room.
func (x *Person) read(ctx context.Context, user ubl.UserID, room ubl.RoomID) (seq int64, err error) {
	err = x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		state, err := reading.Newest(snap, room, user)
		seq = state.ReadSeq
		return err
	})
	return seq, err
}

// called is what to call an author.
func (x *Person) called(ctx context.Context, who ubl.Identity, author ubl.UserID) string {
	m, err := ubl.Ask[*ubl.Member](ctx, x.Ask, ubl.TenantName(who.TenantID), ubl.FindMember{Who: who, UserID: author})
	if err != nil {
		return string(author)
	}
	return m.Introduced()
}

// titled is what a room is called, direct messages like the others whom they are with, and how
// long it keeps messages, 0 for ever.
func (x *Person) titled(ctx context.Context, who ubl.Identity, room ubl.Name) (name string, keeps time.Duration) {
	r, err := ubl.Ask[*ubl.Room](ctx, x.Ask, room, ubl.GetRoom{Who: who})
	switch {
	case err != nil:
		return room.Local(), 0
	case r.Direct == nil:
		return r.Name, r.Policy.Keeps()
	}
	var others []string
	for _, user := range r.Direct.Others(who.UserID) {
		others = append(others, x.called(ctx, who, user))
	}
	return strings.Join(others, ", "), r.Policy.Keeps()
}

// short is how a text begins, in one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxPreview {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:maxPreview])) + "…"
}
