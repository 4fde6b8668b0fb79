package person

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// Family registers Persons over a reader, who are reached by a pusher and a mailer; nil reaches nobody.
func Family(read ubl.Reader, push ubl.Pusher, mail ubl.Mailer) actors.Family {
	kind := kind(mail != nil)
	return actors.Family{
		Name: "person", Kind: kind,
		Owns: func(local string) bool { return strings.HasPrefix(local, ubl.PersonPrefix) },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return load(ctx, kind, read, push, mail, env)
		},
		Commands: []ubl.Command{
			ubl.GetPerson{}, ubl.SetPreferences{}, ubl.SetRoomPreference{}, ubl.MakePushKey{}, ubl.AddDevice{}, ubl.RemoveDevice{},
			ubl.AddReminder{}, ubl.RemoveReminder{}, ubl.Notify{}, ubl.SeenRoom{}, ubl.StopMail{}, ubl.ExportOwn{},
			ubl.ListScheduled{}, ubl.AddScheduled{}, ubl.UpdateScheduled{}, ubl.RemoveScheduled{},
		},
		Answers: []any{
			(*ubl.Person)(nil), (*ubl.Preferences)(nil), (*ubl.RoomPreference)(nil), (*ubl.PushKey)(nil), (*ubl.Device)(nil), (*ubl.Reminder)(nil),
			(*ubl.Scheduled)(nil), (*ubl.ScheduledList)(nil), (*ubl.OwnExport)(nil),
		},
		Numbers: runs(), Content: counted(), Offers: offers, Acts: acts,
		Unplaced: true, // it is the person's own, and no agent's
	}
}

// kind is a Person's on a server. mails says whether the server sends any.
func kind(mails bool) *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Name: "person", Version: eventVersion, Spaces: "YZJ", Place: place, Empty: newState, Apply: (*State).apply,
		Under:  func(s *State, _ ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(s.Tenant) },
		Stands: func(s *State, p actors.Proposal) error { return s.stands(p.Who) },
		Pointers: func(s *State) ubl.Fields {
			return ubl.Fields{ubl.Str("agreement_id", ubl.TenantAgreement(s.Tenant)), ubl.Str("user_id", s.User)}
		},
		Index: func(s *State, e event, _ *actors.Act) []actors.Record { return index(s, e, mails) },
		Tell:  tell, Told: []ubl.Told{{Kinds: []string{ubl.EventPersonChanged}, Own: true}}, Wake: followed(mails, (*State).wake), Ended: followed(mails, (*State).ended), Snapshot: snapshots(),
		Rules: []actors.Rule[State, event]{
			actors.On(didPreferences, func(c ubl.SetPreferences) []string { return []string{c.Patch.String()} }, rearmed(mails, (*State).decidePreferences)),
			actors.On(didRoom, func(c ubl.SetRoomPreference) []string { return []string{string(c.RoomID), c.Patch.String()} }, rearmed(mails, (*State).decideRoom)),
			actors.On(didKey, nil, (*State).decideKey),
			actors.On(didDeviceAdd, func(c *adding) []string {
				return []string{c.Name, c.Subscription.Endpoint, c.Subscription.P256dh, c.Subscription.Auth}
			}, rearmed(mails, (*State).decideDeviceAdd)),
			actors.On(didDeviceRemove, func(c ubl.RemoveDevice) []string { return []string{c.DeviceID} }, rearmed(mails, (*State).decideDeviceRemove)).Frees(),
			actors.On(didReminderAdd, func(c ubl.AddReminder) []string {
				return []string{string(c.RoomID), string(c.MsgID), c.At.String(), c.Note}
			}, (*State).decideReminderAdd),
			actors.On(didReminderRemove, func(c ubl.RemoveReminder) []string { return []string{c.ReminderID} }, (*State).decideReminderRemove).Frees(),
			actors.On(didScheduledAdd, func(c scheduling) []string {
				told := []string{string(c.RoomID), c.Text, string(c.ReplyTo), string(c.Thread), c.At, c.Zone, c.Rule}
				for _, m := range ubl.Distinct(c.Mentions) {
					told = append(told, string(m))
				}
				return told
			}, (*State).decideScheduledAdd),
			actors.On(didScheduledUpdate, func(c ubl.UpdateScheduled) []string { return []string{c.ScheduledID, c.Patch.String()} }, (*State).decideScheduledUpdate),
			actors.On(didScheduledRemove, func(c ubl.RemoveScheduled) []string { return []string{c.ScheduledID} }, (*State).decideScheduledRemove).Frees(),
			actors.On(didNotify, nil, rearmed(mails, (*State).decideNotify)),
			actors.On(didSeen, func(c ubl.SeenRoom) []string { return []string{string(c.RoomID)} }, rearmed(mails, (*State).decideSeen)),
			actors.On(didMailStop, nil, rearmed(mails, (*State).decideMailStop)).Frees(),
		},
	}
}

// mine refuses all but the person.
func (s *State) mine(who ubl.Identity) error {
	if who.UserID != s.User || who.TenantID != s.Tenant || who.IsService {
		return ubl.Errorf(ubl.CodeForbidden, "what somebody wants to hear of is theirs alone: no service has any")
	}
	return nil
}

// stands lets the platform put on record what follows from messages, alarms and pushes.
func (s *State) stands(who ubl.Identity) error {
	if who.IsPlatform() {
		return nil
	}
	return s.mine(who)
}

// index is who listens, and where something waits. Whom mails tell of what is for them listens, too.
func index(s *State, e event, mails bool) (records []actors.Record) {
	if e.Preferences != nil || e.Device != nil || e.Mail != nil {
		r := actors.Record{Key: reading.ListenerKey(s.User)}
		if len(s.Devices) > 0 || mails && s.mailsNews() {
			r.Value = reading.Listener{Preferences: s.Preferences}.Encode()
		}
		records = append(records, r)
	}
	if w := e.Waiting; w != nil {
		r := actors.Record{Key: reading.WaitsKey(s.User, w.RoomID)}
		if w.Count > 0 {
			r.Value = reading.Waits()
		}
		records = append(records, r)
	}
	return records
}

// tell has the person's other devices read again what has changed.
func tell(s *State, e event) []ubl.Event {
	what := ""
	switch {
	case e.Device != nil:
		what = ubl.PersonDevices
	case e.Reminder != nil:
		what = ubl.PersonReminders
	case e.Scheduled != nil:
		what = ubl.PersonScheduled
	case e.Preferences != nil, e.Mail != nil:
		what = ubl.PersonPreferences
	case e.Waiting != nil && e.Ends == "", e.Released:
		what = ubl.PersonWaiting
	default:
		return nil
	}
	return []ubl.Event{{Kind: ubl.EventPersonChanged, UserID: s.User, Payload: json.RawMessage(`{"what":"` + what + `"}`)}}
}

// deviceOf is the id of a device, which is the same whenever its browser subscribes with that
// endpoint.
func deviceOf(s ubl.Subscription) string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return "v:" + hex.EncodeToString(sum[:10])
}

// Person is one person's actor in a tenant.
type Person struct {
	*actors.Entity[State, event]
	push ubl.Pusher
	mail ubl.Mailer
}

func load(ctx context.Context, kind *actors.Kind[State, event], read ubl.Reader, push ubl.Pusher, mail ubl.Mailer, env actors.Env) (*Person, error) {
	x := &Person{push: push, mail: mail}
	var err error
	x.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: outcome, Send: x.send})
	return x, err
}

// outcome is what an event is answered with.
func outcome(_ context.Context, e event) (any, error) {
	switch e.Did {
	case didPreferences:
		set := *e.Preferences
		set.Salt = e.Salt
		return &set, nil
	case didRoom:
		set := *e.Room
		set.Salt = e.Salt
		return &set, nil
	case didKey:
		return &ubl.PushKey{Key: e.Key.Public}, nil
	case didDeviceAdd, didDeviceRemove:
		d := shown(*e.Device)
		d.Salt = e.Salt
		return d, nil
	case didReminderAdd, didReminderRemove:
		r := *e.Reminder
		r.Salt = e.Salt
		return &r, nil
	case didScheduledAdd, didScheduledUpdate, didScheduledRemove:
		return shownScheduled(*e.Scheduled, e.Salt), nil
	}
	return nil, nil
}

// shown is a device without what only push services are to know.
func shown(d ubl.Device) *ubl.Device {
	d.Subscription = nil
	return &d
}

// errNoPush refuses where this server reaches nobody.
func errNoPush() error {
	return ubl.Errorf(ubl.CodeUnavailable, "this server doesn't push notifications")
}

// Receive implements [actors.Actor].
func (x *Person) Receive(t *actors.Turn, cmd ubl.Command) {
	s := &x.State
	switch c := cmd.(type) {
	case ubl.GetPerson:
		x.get(t, c)
	case tellWhom:
		t.Reply(x.recipient(c))
	case whatToMail:
		t.Reply(x.State.letter(t.Now()))
	case ubl.ExportOwn:
		x.export(t, c)
	case ubl.ListScheduled:
		if err := s.mine(c.Who); err != nil {
			t.Fail(err)
			return
		}
		t.Reply(s.listScheduled())
	case ubl.AddScheduled:
		x.schedule(t, c)
	case whatToPost:
		m := find(s.Scheduled, c.ID, scheduledID)
		if m == nil {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "the message isn't scheduled any more"))
			return
		}
		t.Reply(*m)
	case ubl.MakePushKey:
		x.makeKey(t, &keying{MakePushKey: c})
	case ubl.AddDevice:
		if err := x.mayAdd(c); err != nil {
			t.Fail(err)
			return
		}
		x.Change(t, &adding{c})
	case ubl.Notify:
		switch {
		case !c.Who.IsPlatform():
			t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform says that there is a message"))
		case !x.Knows(t, c) && !s.news(c.News, t.Now()):
			t.Reply(nil)
		default:
			x.Change(t, c)
		}
	case ubl.SeenRoom:
		switch err := s.stands(c.Who); {
		case err != nil:
			t.Fail(err)
		case !x.Knows(t, c) && !s.seen(c.RoomID, c.Seq):
			t.Reply(nil)
		default:
			x.Change(t, c)
		}
	case ubl.StopMail:
		switch {
		case !c.Who.IsPlatform():
			t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform, which has checked the link, ends mails by one"))
		case !x.Knows(t, c) && s.Preferences.Mails() == ubl.MailOff:
			t.Reply(nil)
		default:
			x.Change(t, c)
		}
	default:
		if !x.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "a person doesn't answer this command"))
		}
	}
}

func (x *Person) mayAdd(c ubl.AddDevice) error {
	if err := x.State.mine(c.Who); err != nil {
		return err
	}
	if x.push == nil {
		return errNoPush()
	}
	return x.push.Check(c.Subscription)
}

// makeKey draws the key where there is none yet.
func (x *Person) makeKey(t *actors.Turn, c *keying) {
	if err := x.State.mine(c.Who); err != nil {
		t.Fail(err)
		return
	}
	switch known := x.Knows(t, c); {
	case known:
	case x.State.Key != nil:
		t.Reply(&ubl.PushKey{Key: x.State.Key.Public})
		return
	case x.push == nil:
		t.Fail(errNoPush())
		return
	default:
		public, sealed, err := x.push.NewKey(x.Name)
		if err != nil {
			t.Fail(err)
			return
		}
		c.made = pushKey{public, sealed}
	}
	x.Change(t, c)
}

// export puts on record that the person takes their data home. It is a look: nothing changes, and a
// tenant that has stored all it may doesn't keep anybody from it.
func (x *Person) export(t *actors.Turn, c ubl.ExportOwn) {
	err := x.State.mine(c.Who)
	var act *actors.Act
	if err == nil {
		act, err = x.Entity.Look(t, didExport, c.Request, x.State.about(didExport, event{}).Act)
	}
	t.Read(err, func(context.Context) (any, error) { return &ubl.OwnExport{Receipt: act.Receipt}, nil })
}

// get answers all of it. What was read meanwhile isn't waiting any more.
func (x *Person) get(t *actors.Turn, c ubl.GetPerson) {
	if err := x.State.mine(c.Who); err != nil {
		t.Fail(err)
		return
	}
	s := &x.State
	p := &ubl.Person{
		UserID: s.User, Preferences: s.Preferences, Devices: []ubl.Device{}, Reminders: append([]ubl.Reminder{}, s.Reminders...),
		Waiting: []ubl.Waiting{}, QuietUntil: s.Preferences.QuietUntil(t.Now()),
	}
	for _, d := range s.Devices {
		p.Devices = append(p.Devices, *shown(d))
	}
	for _, w := range s.Waiting {
		p.Waiting = append(p.Waiting, w.Waiting)
	}
	if x.mail != nil {
		p.Mail = &ubl.PersonMail{Failed: s.mailed().Failed}
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) (err error) {
			p.Waiting = slices.DeleteFunc(p.Waiting, func(w ubl.Waiting) bool {
				state, bad := reading.Newest(snap, w.RoomID, p.UserID)
				if bad != nil {
					err = bad
				}
				return state.ReadSeq >= w.LastSeq
			})
			return err
		})
		if err == nil && p.Mail != nil {
			p.Mail.Address, err = x.address(ctx, c.Who)
		}
		return p, err
	})
}
