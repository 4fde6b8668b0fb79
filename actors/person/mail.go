package person

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// mailing is what is known of a person's mails.
type mailing struct {
	// At is when the newest ended; of a person with one a day also when they chose that.
	At ubl.Time `json:"at,omitzero"`
	// After is before when no mail is made, 0 for any time.
	After  ubl.Time         `json:"after,omitzero"`
	Failed *ubl.MailFailure `json:"failed,omitempty"`
}

// told is a room of which a mail has told, up to a message, and when the first after that came.
type told struct {
	RoomID ubl.RoomID `json:"room_id"`
	Seq    int64      `json:"seq"`
	Since  ubl.Time   `json:"since,omitzero"`
}

const (
	// mailAfter is how long something waits before a mail tells of it, mailEvery how far apart mails
	// are, and failedEvery that while an address is refused: it may be another one by then.
	mailAfter   = 15 * time.Minute
	mailEvery   = time.Hour
	mailDaily   = 24 * time.Hour
	failedEvery = 24 * time.Hour
	// mailFor is how long one mail is tried.
	mailFor = 24 * time.Hour
	// maxNewest is how many messages of a room a mail reads, maxMailRooms of how many rooms it says
	// something, and maxTold of how many it tells at all. The others have another mail.
	maxNewest    = 5
	maxMailRooms = 10
	maxTold      = 100
)

func (s *State) mailed() mailing {
	if s.Mail == nil {
		return mailing{}
	}
	return *s.Mail
}

// mailsNews reports whether mails tell of what is for the person when it comes.
func (s *State) mailsNews() bool {
	level := s.Preferences.Mails()
	return level == ubl.MailAlways || level == ubl.MailMentions && len(s.Devices) == 0
}

// untold is when a mail tells of what waits in a room, 0 where none does.
func (s *State) untold(w waiting) ubl.Time {
	room, _ := s.Preferences.Room(w.RoomID)
	if w.LastSeq <= w.Told || room.Level == ubl.NotifyNothing {
		return 0
	}
	return max(w.Since.Add(mailAfter), room.MutedUntil)
}

// firstUntold is when the first mail is due about what waits, 0 for never.
func (s *State) firstUntold() (first ubl.Time) {
	for _, w := range s.Waiting {
		if at := s.untold(w); at > 0 && (first == 0 || at < first) {
			first = at
		}
	}
	return first
}

// mailDue is when the next mail is made, 0 for never. It follows from the state alone: what changes
// it moves the alarm (rearm). While one is under way, its end says when the next is.
func (s *State) mailDue() ubl.Time {
	if find(s.Open, job{What: tellMail}.key(), keyOf) != nil {
		return 0
	}
	before, due := s.mailed(), ubl.Time(0)
	switch {
	case s.Preferences.Mails() == ubl.MailDaily:
		due = before.At.Add(mailDaily)
	case !s.mailsNews() || s.firstUntold() == 0:
		return 0
	case before.Failed != nil:
		due = max(s.firstUntold(), before.At.Add(failedEvery))
	default:
		due = max(s.firstUntold(), before.At.Add(mailEvery))
	}
	due = max(due, before.After)
	return max(due, s.Preferences.QuietUntil(due))
}

// rearm has a plan move the alarm of the next mail to where the plan's events put it.
func (s *State) rearm(p *plan) {
	next := *s // apply copies the lists that it changes
	for also := p; also != nil; also = also.Also {
		next.apply(also.Event)
	}
	if due := next.mailDue(); due != s.mailDue() {
		p.Alarms = append(p.Alarms, actors.Alarm{Key: alarmMail, At: due})
	}
}

// rearmed is a rule's decision that moves the alarm of the next mail, where the server sends any.
func rearmed[C any](mails bool, decide func(*State, C, actors.Moment) (*plan, error)) func(*State, C, actors.Moment) (*plan, error) {
	return func(s *State, c C, at actors.Moment) (*plan, error) {
		p, err := decide(s, c, at)
		if mails && err == nil {
			s.rearm(p)
		}
		return p, err
	}
}

// followed is rearmed for what follows from alarms and attempts.
func followed[C any](mails bool, decide func(*State, C, actors.Moment) (ubl.Did, *plan, error)) func(*State, C, actors.Moment) (ubl.Did, *plan, error) {
	return func(s *State, c C, at actors.Moment) (ubl.Did, *plan, error) {
		did, p, err := decide(s, c, at)
		if mails && err == nil && p != nil {
			s.rearm(p)
		}
		return did, p, err
	}
}

// mailAnew is what is known of mails once a person has chosen what they tell of, nil where they
// haven't: a refused address is tried again, and the first of one a day comes in a day.
func (s *State) mailAnew(chosen *ubl.MailLevel, now ubl.Time) *mailing {
	if chosen == nil {
		return nil
	}
	m := s.mailed()
	m.Failed = nil
	if *chosen == ubl.MailDaily {
		m.At = now
	}
	return &m
}

func (s *State) decideMailStop(ubl.StopMail, actors.Moment) (*plan, error) {
	now := s.Preferences
	now.Mail = ubl.MailOff
	return s.about(didMailStop, event{Preferences: &now}), nil
}

// mailNow has the outbox send the mail that is due.
func (s *State) mailNow(at actors.Moment) (ubl.Did, *plan, error) {
	due := s.mailDue()
	if due == 0 {
		return "", nil, nil
	}
	if until := s.Preferences.QuietUntil(at.Now); until > 0 { // nothing ran when it was due
		m := s.mailed()
		m.After = until
		return didRelease, s.about(didRelease, event{Mail: &m}), nil
	}
	p, err := s.intending(didMail, job{What: tellMail, Due: due}, mailFor, at)
	return didMail, p, err
}

// whatToMail asks what a mail is to tell, as it is by now. Only [Person.sendMail] asks it. Answers
// letter.
type whatToMail struct{}

// Cost is 0: it reads.
func (whatToMail) Cost() int { return 0 }

// letter is what a mail tells, before it is known what of it the person has read.
type letter struct {
	who         ubl.Identity
	preferences ubl.Preferences
	failed      *ubl.MailFailure
	quiet       ubl.Time  // until when nothing reaches them, 0 for now
	rooms       []waiting // those that have waited for longest
}

func (s *State) letter(now ubl.Time) letter {
	l := letter{
		who: ubl.Identity{UserID: s.User, TenantID: s.Tenant}, preferences: s.Preferences, failed: s.mailed().Failed, quiet: s.Preferences.QuietUntil(now),
	}
	if !s.mailsNews() {
		return l
	}
	for _, w := range s.Waiting {
		if at := s.untold(w); at > 0 && at <= now {
			l.rooms = append(l.rooms, w)
		}
	}
	slices.SortStableFunc(l.rooms, func(a, b waiting) int { return cmp.Compare(a.Since, b.Since) })
	l.rooms = l.rooms[:min(len(l.rooms), maxTold)]
	return l
}

// posting is what [Person.sendMail] answers.
type posting struct {
	// Sent says that the mail server has one.
	Sent bool `json:"sent,omitempty"`
	// After is until when it is quiet: nothing was made.
	After ubl.Time `json:"after,omitzero"`
	// Told are the rooms of which nothing more is to be told, up to a message.
	Told []told `json:"told,omitempty"`
	// Refused is an address that the mail server doesn't take.
	Refused *ubl.MailFailure `json:"refused,omitempty"`
}

// mailEnded puts on record what came of a mail.
func (s *State) mailEnded(out actors.Sent, at actors.Moment) (ubl.Did, *plan, error) {
	m := s.mailed()
	p := s.about(didMail, event{Ends: out.Key, Mail: &m})
	if out.Err != nil {
		p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
		m.At = at.Now
		return didMail, p, nil
	}
	var done posting
	if err := json.Unmarshal(out.Answer, &done); err != nil {
		return "", nil, err
	}
	if m.After = done.After; done.After > 0 {
		return didMail, p, nil
	}
	m.At = at.Now
	switch {
	case done.Refused != nil:
		m.Failed = done.Refused
		p.Error = &ubl.AtomError{Code: ubl.CodeForbidden, Message: done.Refused.Message}
	case done.Sent:
		m.Failed = nil
	}
	for _, t := range done.Told {
		w := find(s.Waiting, string(t.RoomID), roomOf)
		if w == nil { // it was read meanwhile
			continue
		}
		if w.LastSeq > t.Seq {
			t.Since = at.Now
		}
		p.Event.Told = append(p.Event.Told, t)
	}
	return didMail, p, nil
}
