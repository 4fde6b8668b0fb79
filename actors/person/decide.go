package person

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// The acts, which are also the ops of their effects.
const (
	didPreferences    ubl.Did = "person.preferences.update"
	didRoom           ubl.Did = "person.room.update"
	didKey            ubl.Did = "person.key.create"
	didDeviceAdd      ubl.Did = "person.device.add"
	didDeviceRemove   ubl.Did = "person.device.remove"
	didReminderAdd    ubl.Did = "person.reminder.add"
	didReminderRemove ubl.Did = "person.reminder.remove"
	didReminderRing   ubl.Did = "person.reminder.ring"
	didNotify         ubl.Did = "person.notify"
	didRelease        ubl.Did = "person.release"
	didSeen           ubl.Did = "person.seen"
	didPush           ubl.Did = "person.push"
	didMail           ubl.Did = "person.mail"
	didMailStop       ubl.Did = "person.mail.stop"
	didExport         ubl.Did = "user.export"

	didScheduledAdd    ubl.Did = "person.scheduled.add"
	didScheduledUpdate ubl.Did = "person.scheduled.update"
	didScheduledRemove ubl.Did = "person.scheduled.remove"
	didScheduledSend   ubl.Did = "person.scheduled.send"
)

// Alarms.
const (
	alarmHeld   = "held"
	alarmMail   = "mail"
	alarmRemind = "remind:" // and the reminder's id
	alarmSend   = "send:"   // and the scheduled message's id
)

// about is an act that follows from messages, alarms and pushes: the ledger says whose it is, and
// no more. Nobody is answered, so nobody could be told the salt of a commitment.
func (s *State) about(did ubl.Did, e event) *plan {
	user := ubl.Str("user_id", s.User)
	return &plan{
		Act:   actors.Act{Did: did, This: ubl.Fields{user}, Effects: []ubl.Fields{{ubl.Str("op", did), user}}},
		Event: e,
	}
}

// committing is an act of the person's own: the ledger has a commitment to what it is about, whose
// salt the answer tells.
func (s *State) committing(did ubl.Did, private any, e event, at actors.Moment) (*plan, error) {
	salt, err := ubl.NewSalt(at.Random)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(private)
	if err != nil {
		return nil, fmt.Errorf("couldn't encode what an act is about: %w", err)
	}
	if content, err = ubl.Canonical(content); err != nil {
		return nil, err
	}
	e.Salt = salt
	p := s.about(did, e)
	p.This = append(p.This, ubl.Str("content_hash", salt.Commit(content)))
	return p, nil
}

func (s *State) decidePreferences(c ubl.SetPreferences, at actors.Moment) (*plan, error) {
	now, err := s.Preferences.Apply(c.Patch, at.Now)
	if err != nil {
		return nil, err
	}
	return s.preferring(didPreferences, now, event{Mail: s.mailAnew(c.Patch.Mail, at.Now)}, now, at)
}

func (s *State) decideRoom(c ubl.SetRoomPreference, at actors.Moment) (*plan, error) {
	was, had := s.Preferences.Room(c.RoomID)
	if !had && len(s.Preferences.Rooms) >= ubl.MaxPreferredRooms {
		return nil, ubl.Errorf(ubl.CodeConflict, "you have set something for %d rooms: that is the most", ubl.MaxPreferredRooms)
	}
	room, err := was.Apply(c.Patch, s.Preferences.Sections, at.Now)
	if err != nil {
		return nil, err
	}
	return s.preferring(didRoom, room, event{Room: &room}, s.Preferences.With(room), at)
}

// preferring sets the preferences. What is held back is looked at again, by what they are now.
func (s *State) preferring(did ubl.Did, private any, e event, now ubl.Preferences, at actors.Moment) (*plan, error) {
	e.Preferences = &now
	p, err := s.committing(did, private, e, at)
	if err == nil && slices.ContainsFunc(s.Waiting, func(w waiting) bool { return w.Held }) {
		p.Alarms = append(p.Alarms, actors.Alarm{Key: alarmHeld, At: max(now.QuietUntil(at.Now), at.Now)})
	}
	return p, err
}

// keying is [ubl.MakePushKey] with the pair that the actor has drawn.
type keying struct {
	ubl.MakePushKey
	made pushKey
}

func (s *State) decideKey(c *keying, _ actors.Moment) (*plan, error) {
	key := c.made
	if s.Key != nil {
		key = *s.Key
	}
	return s.about(didKey, event{Key: &key}), nil
}

// adding is [ubl.AddDevice] with a subscription that was found sound.
type adding struct{ ubl.AddDevice }

func (s *State) decideDeviceAdd(c *adding, at actors.Moment) (*plan, error) {
	d := ubl.Device{DeviceID: deviceOf(c.Subscription), Name: c.Name, AddedAt: at.Now, Subscription: &c.Subscription}
	was := find(s.Devices, d.DeviceID, deviceID)
	switch {
	case s.Key == nil:
		return nil, ubl.Errorf(ubl.CodeConflict, "ask for your push key first: the browser subscribes with it")
	case was == nil && len(s.Devices) >= ubl.MaxDevices:
		return nil, ubl.Errorf(ubl.CodeConflict, "you are reached on %d devices: remove one first", ubl.MaxDevices)
	case was != nil:
		d.AddedAt = was.AddedAt
	}
	return s.committing(didDeviceAdd, shown(d), event{Device: &d}, at) // the id stands for the endpoint
}

func (s *State) decideDeviceRemove(c ubl.RemoveDevice, at actors.Moment) (*plan, error) {
	d := find(s.Devices, c.DeviceID, deviceID)
	if d == nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "you have no such device")
	}
	gone := bare(*d)
	return s.committing(didDeviceRemove, gone, event{Device: gone}, at)
}

// bare is of a device what lists show, without the salt of an act before.
func bare(d ubl.Device) *ubl.Device {
	d.Salt = ubl.Salt{}
	return shown(d)
}

func (s *State) decideReminderAdd(c ubl.AddReminder, at actors.Moment) (*plan, error) {
	switch {
	case len(s.Reminders) >= ubl.MaxReminders:
		return nil, ubl.Errorf(ubl.CodeConflict, "you have %d reminders: remove one first", ubl.MaxReminders)
	case c.At <= at.Now:
		return nil, wrong("at", "is over already")
	case c.At > at.Now.Add(ubl.MaxRemindAhead):
		return nil, wrong("at", "is more than a year ahead")
	}
	var id [10]byte
	if _, err := io.ReadFull(at.Random, id[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw an id: %w", err)
	}
	r := ubl.Reminder{ReminderID: fmt.Sprintf("n:%x", id), RoomID: c.RoomID, MsgID: c.MsgID, At: c.At, Note: c.Note}
	p, err := s.committing(didReminderAdd, r, event{Reminder: &r}, at)
	if err == nil {
		p.Alarms = []actors.Alarm{{Key: alarmRemind + r.ReminderID, At: r.At}}
	}
	return p, err
}

func (s *State) decideReminderRemove(c ubl.RemoveReminder, at actors.Moment) (*plan, error) {
	r := find(s.Reminders, c.ReminderID, reminderID)
	if r == nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "you have no such reminder")
	}
	gone := *r
	gone.Salt = ubl.Salt{}
	p, err := s.committing(didReminderRemove, gone, event{Reminder: &gone}, at)
	if err == nil && !r.Due {
		p.Alarms = []actors.Alarm{{Key: alarmRemind + r.ReminderID}}
	}
	return p, err
}

// pushFor is how long a push is tried, and kept by the push service for a browser that is away.
const (
	pushFor  = 24 * time.Hour
	closeFor = time.Hour
)

// job is what a push is to tell a device, which scheduled message is to be sent, or that a mail is. It holds no more than ids: what was said is read when it
// is sent, so that nothing is told that was read, taken back or is no longer the person's to see.
type job struct {
	Form      int        `json:"v"`
	What      string     `json:"what"`
	DeviceID  string     `json:"device_id"`
	RoomID    ubl.RoomID `json:"room_id,omitempty"`
	Seq       int64      `json:"seq,omitempty"`
	Reminder  string     `json:"reminder_id,omitempty"`
	Scheduled string     `json:"scheduled_id,omitempty"`
	Due       ubl.Time   `json:"due,omitzero"` // of a mail
}

// A mail is of a later version than the rest: a program that knows none tries it later.
const (
	jobVersion  = 1
	mailVersion = 2
)

// What a push tells, or is in its place.
const (
	tellMessage  = "message"
	tellClose    = "close"
	tellReminder = "reminder"
	tellSend     = "send"
	tellMail     = "mail"
)

func (j job) key() string {
	return j.What + ":" + j.DeviceID + ":" + string(j.RoomID) + j.Reminder + j.Scheduled
}

// intend puts a push behind a plan, as what follows from it, unless one like it is open.
func (s *State) intend(p *plan, j job, at actors.Moment) error {
	if find(s.Open, j.key(), keyOf) != nil {
		return nil
	}
	next, err := s.pushing(j, at)
	if err != nil {
		return err
	}
	for p.Also != nil {
		p = p.Also
	}
	p.Also = next
	return nil
}

// pushing is the plan of one push.
func (s *State) pushing(j job, at actors.Moment) (*plan, error) {
	last := pushFor
	if j.What == tellClose {
		last = closeFor
	}
	return s.intending(didPush, j, last, at)
}

// intending is the plan of something that the outbox does, for so long at the most.
func (s *State) intending(did ubl.Did, j job, last time.Duration, at actors.Moment) (*plan, error) {
	j.Form = jobVersion
	if j.What == tellMail {
		j.Form = mailVersion
	}
	content, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("couldn't encode what is to be done: %w", err)
	}
	p := s.about(did, event{Begins: &open{Key: j.key(), Seq: j.Seq}})
	p.Status, p.Effects = ubl.StatusIntended, nil
	p.Intends = &actors.Outbound{Key: j.key(), Content: content, Deadline: at.Now.Add(last)}
	return p, nil
}
