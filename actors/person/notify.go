package person

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

// news reports whether a message reaches the person, and is none that has.
func (s *State) news(n ubl.News, now ubl.Time) bool {
	w := find(s.Waiting, string(n.RoomID), roomOf)
	return s.Preferences.Decide(n, now).For && (w == nil || n.Seq > w.LastSeq)
}

// decideNotify counts a message that reaches the person, and has their devices told unless a
// time of quiet holds it back.
func (s *State) decideNotify(c ubl.Notify, at actors.Moment) (*plan, error) {
	w := waiting{Waiting: ubl.Waiting{RoomID: c.News.RoomID, FirstSeq: c.News.Seq}}
	if was := find(s.Waiting, string(c.News.RoomID), roomOf); was != nil {
		w = *was
	}
	until := s.Preferences.Decide(c.News, at.Now).Until
	if w.LastSeq <= w.Told { // all that came before has been told of
		w.Since = at.Now
	}
	w.Newest = append(slices.Clone(w.Newest[max(0, len(w.Newest)-maxNewest+1):]), c.News.Seq)
	w.Count++
	w.LastSeq, w.Held = c.News.Seq, until > 0
	p := s.about(didNotify, event{Waiting: &w})
	if w.Held {
		p.Alarms = []actors.Alarm{{Key: alarmHeld, At: until}}
		return p, nil
	}
	return p, s.toAll(p, job{What: tellMessage, RoomID: w.RoomID, Seq: w.LastSeq}, at)
}

// toAll has each device told.
func (s *State) toAll(p *plan, j job, at actors.Moment) error {
	for _, d := range s.Devices {
		j.DeviceID = d.DeviceID
		if err := s.intend(p, j, at); err != nil {
			return err
		}
	}
	return nil
}

// seen reports whether a reader has come to what waits in a room.
func (s *State) seen(room ubl.RoomID, seq int64) bool {
	w := find(s.Waiting, string(room), roomOf)
	return w != nil && seq >= w.LastSeq
}

// decideSeen forgets what waits in a room, and closes its notification where one is shown.
func (s *State) decideSeen(c ubl.SeenRoom, at actors.Moment) (*plan, error) {
	w := find(s.Waiting, string(c.RoomID), roomOf)
	if w == nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "nothing waits there")
	}
	p := s.about(didSeen, event{Waiting: &waiting{Waiting: ubl.Waiting{RoomID: c.RoomID}}})
	for _, device := range w.On {
		if err := s.intend(p, job{What: tellClose, DeviceID: device, RoomID: c.RoomID, Seq: w.LastSeq}, at); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// maxReleased is for how many rooms devices are told when a time of quiet ends: the newest. The
// others wait in the list.
const maxReleased = 10

// wake is what an alarm leads to.
func (s *State) wake(key string, at actors.Moment) (ubl.Did, *plan, error) {
	if id, ok := strings.CutPrefix(key, alarmRemind); ok {
		return s.ring(id, at)
	}
	if id, ok := strings.CutPrefix(key, alarmSend); ok {
		return s.due(id, at)
	}
	if key == alarmMail {
		return s.mailNow(at)
	}
	held := slices.DeleteFunc(slices.Clone(s.Waiting), func(w waiting) bool { return !w.Held })
	if key != alarmHeld || len(held) == 0 {
		return "", nil, nil
	}
	if until := s.Preferences.QuietUntil(at.Now); until > 0 { // the next time of quiet has begun
		p := s.about(didRelease, event{})
		p.Alarms = []actors.Alarm{{Key: alarmHeld, At: until}}
		return didRelease, p, nil
	}
	p := s.about(didRelease, event{Released: true})
	p.Alarms = []actors.Alarm{{Key: alarmHeld}}
	slices.SortFunc(held, func(a, b waiting) int { return cmp.Compare(b.LastSeq, a.LastSeq) })
	for _, w := range held[:min(len(held), maxReleased)] {
		if err := s.toAll(p, job{What: tellMessage, RoomID: w.RoomID, Seq: w.LastSeq}, at); err != nil {
			return "", nil, err
		}
	}
	return didRelease, p, nil
}

// ring has a reminder be due.
func (s *State) ring(id string, at actors.Moment) (ubl.Did, *plan, error) {
	was := find(s.Reminders, id, reminderID)
	if was == nil || was.Due {
		return "", nil, nil
	}
	r := *was
	r.Due = true
	p := s.about(didReminderRing, event{Reminder: &r})
	p.Alarms = []actors.Alarm{{Key: alarmRemind + id}}
	return didReminderRing, p, s.toAll(p, job{What: tellReminder, RoomID: r.RoomID, Reminder: id}, at)
}

// pushed is what [Person.send] answers.
type pushed struct {
	Seq int64 `json:"seq"` // the newest message that the device was told of; 0 where nothing was left to tell
}

// ended puts on record how a push ended, or a message was sent. If more came meanwhile, another one follows.
func (s *State) ended(out actors.Sent, at actors.Moment) (ubl.Did, *plan, error) {
	var j job
	if err := json.Unmarshal(out.Content, &j); err != nil {
		return "", nil, err
	}
	switch j.What {
	case tellSend:
		return s.sent(out, j.Scheduled, at)
	case tellMail:
		return s.mailEnded(out, at)
	}
	p := s.about(didPush, event{Ends: out.Key})
	switch d := find(s.Devices, j.DeviceID, deviceID); {
	case out.Err != nil:
		p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
		if out.Err.Code == ubl.CodeNotFound && d != nil {
			p.Also = s.about(didDeviceRemove, event{Device: bare(*d)})
		}
	case j.What == tellMessage:
		var told pushed
		if err := json.Unmarshal(out.Answer, &told); err != nil {
			return "", nil, err
		}
		if err := s.told(p, j, told.Seq, at); err != nil {
			return "", nil, err
		}
	}
	return didPush, p, nil
}

// told notes that a device shows a room's notification, up to a message.
func (s *State) told(p *plan, j job, seq int64, at actors.Moment) error {
	w := find(s.Waiting, string(j.RoomID), roomOf)
	if seq > 0 && w == nil { // it was read while it was on its way
		j.What, j.Seq = tellClose, seq
		return s.intend(p, j, at)
	}
	if w == nil || find(s.Devices, j.DeviceID, deviceID) == nil {
		return nil
	}
	now := *w
	if seq > 0 {
		now.On = put(now.On, j.DeviceID, func(id string) string { return id })
		p.Event.Waiting = &now
	}
	if w.LastSeq > max(seq, j.Seq) && !w.Held {
		next, err := s.pushing(job{What: tellMessage, DeviceID: j.DeviceID, RoomID: j.RoomID, Seq: w.LastSeq}, at)
		p.Also = next
		return err
	}
	return nil
}
