package room

import (
	"context"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

// Family registers Rooms over a reader.
func Family(read ubl.Reader) actors.Family {
	kind := kind()
	return actors.Family{
		Name:    "room",
		Kind:    kind,
		Owns:    func(local string) bool { return ubl.RoomID(local).Valid() },
		Unarmed: unarmed,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, kind, read, env)
		},
		Commands: []ubl.Command{
			ubl.SendMessage{}, ubl.PostEntry{}, ubl.Announce{}, ubl.ReadHistory{}, ubl.RoomHead{}, ubl.GetRoom{}, ubl.GetContainer{}, ubl.GetAgreement{}, ubl.EndAgreement{},
			ubl.ReadThread{}, ubl.ListPins{}, ubl.MarkRead{}, ubl.ListReaders{}, ubl.PrepareAttachment{}, ubl.ListRoomFiles{}, ubl.GetRoomFile{}, ubl.CopyMessage{},
			ubl.ProposeTerms{}, ubl.AcceptTerms{}, ubl.WithdrawTerms{},
			ubl.AddMember{}, ubl.JoinRoom{}, ubl.Welcome{}, ubl.SetMember{}, ubl.RemoveMember{}, ubl.SetHeir{}, ubl.SetRoomPolicy{}, ubl.Sweep{}, ubl.DescribeRoom{}, ubl.GetRoomCard{}, ubl.SetTyping{}, ubl.ReadAnswers{},
			ubl.BeginRoomCall{}, ubl.BeInRoomCall{}, ubl.EndRoomCall{},
		},
		Answers: []any{
			(*ubl.Sent)(nil), (*ubl.Posted)(nil), (*ubl.HistoryPage)(nil), ubl.Head{}, (*ubl.Room)(nil), (*ubl.Container)(nil), (*ubl.AgreementView)(nil), (*ubl.Member)(nil),
			(*ubl.ThreadPage)(nil), (*ubl.PinPage)(nil), (*ubl.ReadState)(nil), []ubl.ReadMark(nil), (*ubl.RoomFile)(nil), (*ubl.RoomFileList)(nil), (*ubl.RoomCard)(nil), (*ubl.Typing)(nil), (*ubl.MessageCopy)(nil), (*ubl.AnswerPage)(nil),
			(*ubl.RoomCall)(nil), (*ubl.CallNews)(nil), (*ubl.CallEnd)(nil),
		},
		Numbers: runs(), Content: counted(),
	}
}

// Room is one room. Its state and keys are owned by the mailbox.
type Room struct {
	*actors.Entity[State, event]
	group  ubl.Group
	tenant ubl.TenantID
	id     ubl.RoomID
	// threads are those that were answered last.
	threads map[ubl.MessageID]*followed
	typing  typing
	inCall  inCall
}

func open(ctx context.Context, kind *actors.Kind[State, event], read ubl.Reader, env actors.Env) (*Room, error) {
	group := env.Name.Group()
	r := &Room{group: group, tenant: group.Tenant, id: ubl.RoomID(env.Name.Local()), typing: typing{}}
	var err error
	r.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: r.outcome, Again: r.again, Applied: r.noted, Errand: r.errand})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// loadRecent reads how far the timeline is and how many messages it has, its newest messages, and when the oldest was
// sent.
func loadRecent(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	id := s.Summary.RoomID
	return read.View(ctx, name.Group(), func(snap ubl.Snapshot) (err error) {
		if s.Head.LastSeq, err = snap.Counter(messageCounter(id)); err != nil {
			return err
		}
		if s.Marks, err = loadMarks(snap, id); err != nil {
			return err
		}
		if s.FileBytes, err = readFileBytes(snap, id); err != nil {
			return err
		}
		others, err := snap.Get(othersKey(id))
		if err != nil {
			return err
		}
		s.Head.Messages = s.Head.LastSeq
		if others != nil {
			s.Head.Messages -= reading.NumberOf(others)
		}
		next, full, err := s.readRecent(snap)
		if err != nil || next < s.Head.AvailableFrom {
			return err
		}
		if !full {
			return errMissing(id, next)
		}
		v, err := snap.Get(messageKey(id, s.Head.AvailableFrom))
		if err == nil && v == nil {
			err = errMissing(id, s.Head.AvailableFrom)
		}
		if err == nil {
			s.oldest, err = sentAt(v)
		}
		return err
	})
}

// readRecent reads the newest messages, without a hole, as many as stay in memory. It tells
// the number before them, and whether it stopped because no more stay.
func (s *State) readRecent(snap ubl.Snapshot) (next int64, full bool, err error) {
	var bad error
	next = s.Head.LastSeq
	err = snap.Descend(messageKey(s.Summary.RoomID, 0), messageKey(s.Summary.RoomID, -1), func(_, v []byte) bool {
		var b brief
		if b, bad = stored(v).brief(); bad != nil || b.Seq != next {
			return false
		}
		if full = !s.recent.older(b.post(slices.Clone(v))); full {
			return false
		}
		next--
		s.oldest = b.At
		return true
	})
	slices.Reverse(s.recent.posts)
	return next, full, errors.Join(err, bad)
}

// Receive implements [actors.Actor].
func (r *Room) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.SendMessage:
		r.send(t, c)
	case ubl.PostEntry:
		r.post(t, c)
	case ubl.ReadHistory:
		r.history(t, c)
	case ubl.ReadThread:
		r.thread(t, c)
	case ubl.ListPins:
		r.pins(t, c)
	case ubl.ReadAnswers:
		r.answers(t, c)
	case ubl.MarkRead:
		r.markRead(t, c)
	case ubl.SetTyping:
		r.setTyping(t, c)
	case ubl.BeginRoomCall:
		r.beginCall(t, c)
	case ubl.BeInRoomCall:
		r.beInCall(t, c)
	case ubl.EndRoomCall:
		r.endRoomCall(t, c)
	case ubl.ListReaders:
		r.readers(t, c)
	case ubl.PrepareAttachment:
		r.prepareAttachment(t, c)
	case ubl.ListRoomFiles:
		r.listFiles(t, c)
	case ubl.GetRoomFile:
		r.getFile(t, c)
	case ubl.CopyMessage:
		r.copyMessage(t, c)
	case ubl.RoomHead:
		t.Reply(r.State.head())
	case ubl.GetRoom:
		r.shown(t, c.Who, c.AsOf, func(s *State, asOf *ubl.Receipt) any { return s.room(asOf) })
	case ubl.GetContainer:
		r.shown(t, c.Who, c.AsOf, func(s *State, asOf *ubl.Receipt) any { return s.container(c.Who, asOf) })
	case ubl.GetAgreement:
		r.agreement(t, c)
	case ubl.Welcome:
		r.welcome(t, c)
	case indexMessages:
		r.indexMessages(t, c)
	case lookUp:
		r.lookUp(t, c)
	case agreement.GetSuccession:
		t.Reply(agreement.SuccessionOf(&r.State.Agreement.Agreement))
	case ubl.Sweep:
		r.sweep(t, c)
	case ubl.GetRoomCard:
		r.card(t, c)
	case ubl.RemoveMember:
		if r.State.hides(c) { // who stays a member, and so do their agents
			r.Change(t, c)
			return
		}
		r.ChangeThen(t, c, func(ctx context.Context, answer any) (any, error) {
			return agreement.FollowAgents(ctx, r.Ask, r.Name, c, answer)
		})
	default:
		if !r.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "a room doesn't answer this command"))
		}
	}
}

// shown answers who may look with the room, as it is or was.
func (r *Room) shown(t *actors.Turn, who ubl.Identity, at ubl.AsOf, show func(*State, *ubl.Receipt) any) {
	err := r.State.shows("room.get", who)
	if err == nil {
		err = t.Past(at)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	if at.IsNow() {
		t.Reply(show(&r.State, nil))
		return
	}
	ctx, now := t.Context(), r.State.past()
	t.Later(func() (any, error) {
		s, newest, err := r.then(ctx, at, now)
		if err != nil {
			return nil, err
		}
		return show(s, &newest.Receipt), nil
	})
}

// outcome is what a caller is answered for an event. Where that is the whole room or
// record, the events up to this one are replayed, so that it is what was answered then.
func (r *Room) outcome(ctx context.Context, e event) (any, error) {
	switch e.Did {
	case ubl.DidCallBegin:
		return e.Call, nil
	case ubl.DidCallEnd:
		return &ubl.CallEnd{CallID: e.Call.CallID}, nil
	}
	of := e.Did == ubl.DidRoomUpdate || e.Did == ubl.DidRoomDescribe
	if !of && e.Did != ubl.DidAgreementEnd && e.Amendment == nil {
		return e.Member, nil
	}
	s, err := r.AsOf(ctx, e.N)
	if err != nil {
		return nil, err
	}
	s.Head.LastSeq = e.LastSeq
	if of {
		return s.room(nil), nil
	}
	return s.Agreement.View(nil), nil
}
