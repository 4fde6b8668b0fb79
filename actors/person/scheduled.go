package person

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/recur"
)

// scheduled is a message that is sent later, and as whom.
type scheduled struct {
	ubl.Scheduled
	As author `json:"as"`
}

// author is the identity by which somebody scheduled a message: what the Tenant asks for where it
// decides whether they may still send it.
type author struct {
	Email   string   `json:"email,omitempty"`
	Domain  string   `json:"domain,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Issuer  string   `json:"issuer,omitempty"`
	Subject string   `json:"subject,omitempty"`
}

func authorOf(who ubl.Identity) author {
	return author{who.Email, who.EmailDomain, who.Groups, who.Issuer, who.Subject}
}

func scheduledID(m scheduled) string { return m.ScheduledID }

// shownScheduled is one without the author's identity, which they know.
func shownScheduled(m scheduled, salt ubl.Salt) *ubl.Scheduled {
	m.Scheduled.Salt = salt
	return &m.Scheduled
}

// listScheduled are all, in the order of their times, and of their ids at the same time.
func (s *State) listScheduled() *ubl.ScheduledList {
	list := &ubl.ScheduledList{Scheduled: []ubl.Scheduled{}}
	for _, m := range s.Scheduled {
		list.Scheduled = append(list.Scheduled, m.Scheduled)
	}
	slices.SortFunc(list.Scheduled, func(a, b ubl.Scheduled) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ScheduledID, b.ScheduledID))
	})
	return list
}

// scheduling is [ubl.AddScheduled] of somebody who was found in the room.
type scheduling struct{ ubl.AddScheduled }

// Cost is that of the command.
func (c scheduling) Cost() int { return c.AddScheduled.Cost() }

// schedule looks first whether the author is in the room. They learn now what else they would
// learn when it is too late; whether they still are is asked again then.
func (x *Person) schedule(t *actors.Turn, c ubl.AddScheduled) {
	if err := x.State.mine(c.Who); err != nil {
		t.Fail(err)
		return
	}
	if x.Knows(t, scheduling{c}) {
		x.Change(t, scheduling{c})
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		if _, err := x.Ask.Ask(ctx, ubl.RoomName(c.Who.TenantID, c.RoomID), ubl.GetRoom{Who: c.Who}); err != nil {
			return nil, err
		}
		return x.Ask.Ask(ctx, x.Name, scheduling{c})
	})
}

func (s *State) decideScheduledAdd(c scheduling, at actors.Moment) (*plan, error) {
	if err := s.mine(c.Who); err != nil {
		return nil, err
	}
	if len(s.Scheduled) >= ubl.MaxScheduled {
		return nil, ubl.Errorf(ubl.CodeConflict, "you have %d messages scheduled: cancel one first", ubl.MaxScheduled)
	}
	m := scheduled{As: authorOf(c.Who), Scheduled: ubl.Scheduled{
		RoomID: c.RoomID, Text: c.Text, Mentions: ubl.Distinct(c.Mentions), ReplyTo: c.ReplyTo, Thread: c.Thread,
	}}
	if err := (ubl.Body{Text: m.Text, Mentions: m.Mentions}).Check(ubl.MaxMessageBytes); err != nil {
		return nil, err
	}
	if err := m.plan(c.At, c.Zone, c.Rule, at.Now); err != nil {
		return nil, err
	}
	var id [10]byte
	if _, err := io.ReadFull(at.Random, id[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw an id: %w", err)
	}
	m.ScheduledID = fmt.Sprintf("q:%x", id)
	return s.scheduling(didScheduledAdd, m, at)
}

// scheduling puts one on record, and arms its alarm.
func (s *State) scheduling(did ubl.Did, m scheduled, at actors.Moment) (*plan, error) {
	p, err := s.committing(did, shownScheduled(m, ubl.Salt{}), event{Scheduled: &m}, at)
	if err == nil {
		p.Alarms = []actors.Alarm{{Key: alarmSend + m.ScheduledID, At: m.At}}
	}
	return p, err
}

// wrong refuses a field of what somebody asks for.
func wrong(field, what string) *ubl.Error {
	err := ubl.Errorf(ubl.CodeValidation, "the %s %s", field, what)
	err.Details = map[string]string{field: what}
	return err
}

// plan says when a message is sent.
func (m *scheduled) plan(at, zone, rule string, now ubl.Time) error {
	loc, err := zoneOf(zone)
	if err != nil {
		return err
	}
	begin, err := moment(at, loc)
	if err != nil {
		return err
	}
	start := ubl.TimeOf(begin)
	switch {
	case start <= now:
		return wrong("at", "is over already")
	case start > now.Add(ubl.MaxRemindAhead):
		return wrong("at", "is more than a year ahead")
	}
	m.At, m.Zone, m.Rule, m.Start, m.Failed = start, zone, rule, 0, nil
	if rule == "" {
		return nil
	}
	r, err := recur.Parse(rule, begin, loc)
	if err != nil {
		return wrong("rule", err.Error())
	}
	first, ok := r.From(begin)
	if !ok {
		return wrong("rule", "has no time after the first")
	}
	m.At, m.Start = ubl.TimeOf(first), start
	return nil
}

func zoneOf(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if name == "Local" || len(name) > 64 {
		return nil, wrong("zone", "is no time zone such as Europe/Berlin")
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, wrong("zone", "is no time zone that is known here")
	}
	return loc, nil
}

// moment reads a time: of RFC 3339, or without an offset by the clocks of a zone.
func moment(text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.In(zone), nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, wrong("at", "is no time such as 2026-01-31T12:00:00Z or 2026-01-31T12:00")
}

// upcoming is when a message is sent next: the first time of its rule after a moment, 0 for none.
// Times that went by while nothing ran are passed over.
func (m *scheduled) upcoming(after ubl.Time) ubl.Time {
	if m.Rule == "" {
		return 0
	}
	loc, err := zoneOf(m.Zone)
	if err != nil { // which was known when it was set
		return 0
	}
	r, err := recur.Parse(m.Rule, m.Start.Std().In(loc), loc)
	if err != nil {
		return 0
	}
	next, ok := r.After(max(after, m.At).Std())
	if !ok {
		return 0
	}
	return ubl.TimeOf(next)
}

func (s *State) findScheduled(id string) (scheduled, error) {
	m := find(s.Scheduled, id, scheduledID)
	switch {
	case m == nil:
		return scheduled{}, ubl.Errorf(ubl.CodeNotFound, "you have scheduled no such message")
	case m.Sending:
		return scheduled{}, ubl.Errorf(ubl.CodeConflict, "the message is being sent")
	}
	found := *m
	found.Salt = ubl.Salt{}
	return found, nil
}

func (s *State) decideScheduledUpdate(c ubl.UpdateScheduled, at actors.Moment) (*plan, error) {
	m, err := s.findScheduled(c.ScheduledID)
	if err != nil {
		return nil, err
	}
	m.As = authorOf(c.Who)
	if c.Patch.Text != nil {
		m.Text = *c.Patch.Text
	}
	if c.Patch.Mentions != nil {
		m.Mentions = ubl.Distinct(c.Patch.Mentions.Mentions)
	}
	if err := (ubl.Body{Text: m.Text, Mentions: m.Mentions}).Check(ubl.MaxMessageBytes); err != nil {
		return nil, err
	}
	if c.Patch.At != nil || c.Patch.Zone != nil || c.Patch.Rule != nil || m.Failed != nil {
		begin, zone, rule := m.At.String(), m.Zone, m.Rule
		for _, set := range []struct{ to, from *string }{{&begin, c.Patch.At}, {&zone, c.Patch.Zone}, {&rule, c.Patch.Rule}} {
			if set.from != nil {
				*set.to = *set.from
			}
		}
		if err := m.plan(begin, zone, rule, at.Now); err != nil {
			return nil, err
		}
	}
	return s.scheduling(didScheduledUpdate, m, at)
}

func (s *State) decideScheduledRemove(c ubl.RemoveScheduled, at actors.Moment) (*plan, error) {
	m, err := s.findScheduled(c.ScheduledID)
	if err != nil {
		return nil, err
	}
	p, err := s.committing(didScheduledRemove, shownScheduled(m, ubl.Salt{}), event{Scheduled: &m, Gone: true}, at)
	if err == nil && m.Failed == nil {
		p.Alarms = []actors.Alarm{{Key: alarmSend + m.ScheduledID}}
	}
	return p, err
}

// sendFor is how long the room is asked. It is of the same tenant, and seldom away.
const sendFor = 24 * time.Hour

// due has the outbox send a message whose time has come.
func (s *State) due(id string, at actors.Moment) (ubl.Did, *plan, error) {
	was := find(s.Scheduled, id, scheduledID)
	if was == nil || was.Sending || was.Failed != nil {
		return "", nil, nil
	}
	m := *was
	m.Sending = true
	p, err := s.intending(didScheduledSend, job{What: tellSend, Scheduled: id}, sendFor, at)
	if err == nil {
		p.Event.Scheduled = &m
		p.Alarms = []actors.Alarm{{Key: alarmSend + id}}
	}
	return didScheduledSend, p, err
}

// posted is what [Person.post] answers.
type posted struct {
	MsgID ubl.MessageID `json:"msg_id"`
}

// sent puts on record what came of it: the next time of a rule, nothing more, or why not.
func (s *State) sent(out actors.Sent, id string, at actors.Moment) (ubl.Did, *plan, error) {
	p := s.about(didScheduledSend, event{Ends: out.Key})
	was := find(s.Scheduled, id, scheduledID)
	if was == nil {
		return didScheduledSend, p, nil
	}
	m := *was
	m.Sending, p.Event.Scheduled = false, &m
	if out.Err != nil {
		p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
		m.Failed = &ubl.ScheduledFailure{Code: out.Err.Code, Message: out.Err.Message, At: at.Now}
		return didScheduledSend, p, nil
	}
	var answer posted
	if err := json.Unmarshal(out.Answer, &answer); err != nil {
		return "", nil, err
	}
	next := m.upcoming(at.Now)
	if next == 0 {
		p.Event.Gone = true
		return didScheduledSend, p, nil
	}
	m.At, m.Last = next, &ubl.ScheduledSent{MsgID: answer.MsgID, At: at.Now}
	p.Alarms = []actors.Alarm{{Key: alarmSend + id, At: next}}
	return didScheduledSend, p, nil
}

// whatToPost asks for a message that is being sent. Only [Person.post] asks it. Answers scheduled.
type whatToPost struct{ ID string }

// Cost is 0: it reads.
func (whatToPost) Cost() int { return 0 }

// post sends a message as its author: they have to be in the tenant, may use the tool by which they
// would send it themselves, and the room decides as it would then. A second attempt has the key of
// the first, so the room has the message once.
func (x *Person) post(ctx context.Context, a actors.Attempt, id string) (json.RawMessage, error) {
	m, err := ubl.Ask[scheduled](ctx, x.Ask, x.Name, whatToPost{id})
	if err != nil {
		return nil, err
	}
	s := x.Name.Group().Tenant
	who := ubl.Identity{
		UserID: userOf(x.Name), TenantID: s, Email: m.As.Email, EmailDomain: m.As.Domain, Groups: m.As.Groups, Issuer: m.As.Issuer, Subject: m.As.Subject,
	}
	tenant := ubl.TenantName(s)
	// Enter alone would add again somebody who was removed.
	member, err := ubl.Ask[*ubl.Member](ctx, x.Ask, tenant, ubl.FindMember{Who: who, UserID: who.UserID})
	if err != nil {
		return nil, err
	}
	who.Unproven = member.Unproven
	request, err := ubl.NewRequestID(x.Random)
	if err != nil {
		return nil, err
	}
	req := ubl.Request{Who: who, ID: request, Key: a.IdempotencyKey}
	entered, err := ubl.Ask[*ubl.Entered](ctx, x.Ask, tenant, ubl.Enter{Request: req, Act: true, Tool: string(ubl.DidSend), NoFounding: true})
	if err != nil {
		return nil, err
	}
	req.Under = entered.Under
	sent, err := ubl.Ask[*ubl.Sent](ctx, x.Ask, ubl.RoomName(s, m.RoomID), ubl.SendMessage{
		Request: req, Text: m.Text, Mentions: m.Mentions, ReplyTo: m.ReplyTo, Thread: m.Thread,
	})
	if err != nil {
		return nil, err
	}
	var message posted // the rest isn't needed
	if err := json.Unmarshal(sent.Message, &message); err != nil {
		return nil, err
	}
	return json.Marshal(message)
}
