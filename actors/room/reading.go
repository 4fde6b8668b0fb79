package room

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// marks are how far members have read, by user; "" is for all. Package reading has the records.
type marks map[ubl.UserID]reading.Mark

// loadMarks reads the marks of a room.
func loadMarks(snap ubl.Snapshot, room ubl.RoomID) (marks, error) {
	from, to := reading.MarksOf(room)
	list := make(marks)
	var bad error
	err := snap.Ascend(from, to, func(k, v []byte) bool {
		var m reading.Mark
		if m, bad = reading.DecodeMark(v); bad == nil {
			list[ubl.UserID(k[len(from):])] = m
		}
		return bad == nil
	})
	return list, errors.Join(err, bad)
}

// mark is somebody's, or the one of those who have none yet.
func (s *State) mark(user ubl.UserID) reading.Mark {
	if m, ok := s.Marks[user]; ok {
		return m
	}
	return reading.Mark{Seq: s.Marks[""].Seq}
}

// marked is somebody's new mark, or that they have none any more.
type marked struct {
	user ubl.UserID
	mark reading.Mark
	gone bool
}

func (m marked) record(room ubl.RoomID) actors.Record {
	r := actors.Record{Key: reading.MarkKey(room, m.user)}
	if !m.gone {
		r.Value = m.mark.Encode()
	}
	return r
}

// keep puts new marks in the place of the old ones.
func (s *State) keep(list []marked) {
	for _, m := range list {
		if m.gone {
			delete(s.Marks, m.user)
		} else {
			s.Marks[m.user] = m.mark
		}
	}
}

// reads are the marks that a message changes: its author has seen it, and it is news for those
// it is for. Members from before there were marks have read what was there.
func (s *State) reads(seq int64, by ubl.UserID, mentions []ubl.Mention, thread []ubl.UserID) (list []marked) {
	all, begun := s.Marks[""]
	if !begun {
		all = reading.Mark{Seq: seq - 1}
	}
	everyone := slices.Contains(mentions, ubl.MentionRoom)
	if everyone {
		all = all.With(seq)
	}
	if everyone || !begun {
		list = append(list, marked{mark: all})
	}
	for _, user := range meant(mentions, thread) {
		if _, member := s.Agreement.Members[user]; member && user != by && !everyone {
			list = append(list, marked{user: user, mark: s.mark(user).With(seq)})
		}
	}
	if _, member := s.Agreement.Members[by]; member {
		list = append(list, marked{user: by, mark: s.mark(by).Read(seq)})
	}
	return list
}

// news is what becomes of marks by an entry, and notes where it isn't any.
func (s *State) news(p *plan, e *post, mentions []ubl.Mention, thread []ubl.UserID) (list []marked) {
	s.showing(p)
	if !e.said || e.thread != "" {
		p.Records = append(p.Records, s.quiet(e.seq))
	}
	if root, ok := e.thread.Seq(); ok {
		p.Records = append(p.Records, actors.Record{Key: threadKey(s.Summary.RoomID, root, e.seq), Value: []byte(e.author)})
	}
	if e.said {
		list = s.reads(e.seq, e.author, mentions, thread)
	}
	return s.marking(p, list)
}

// unsaid is what becomes of marks when an entry is redacted: it is nobody's news any more.
func (s *State) unsaid(p *plan, gone *target) (list []marked) {
	if !gone.said() {
		return nil
	}
	p.Records = append(p.Records, s.quiet(gone.Seq))
	for _, user := range slices.Sorted(maps.Keys(s.Marks)) {
		if m, had := s.Marks[user].Without(gone.Seq); had {
			list = append(list, marked{user: user, mark: m})
		}
	}
	return s.marking(p, list)
}

// marking puts the records of marks into a plan.
func (s *State) marking(p *plan, list []marked) []marked {
	for _, m := range list {
		p.Records = append(p.Records, m.record(s.Summary.RoomID))
	}
	return list
}

// coming and going are the records of who comes, to whom what was there before is no news, and
// of who goes.
func (s *State) coming(p *plan, users ...ubl.UserID) {
	for _, user := range users {
		if m, isNew := s.arrival(user, p.Event); isNew {
			s.marking(p, []marked{{user: user, mark: m}})
		}
	}
}

func (s *State) going(p *plan, users ...ubl.UserID) {
	for _, user := range users {
		if _, had := s.Marks[user]; had {
			s.marking(p, []marked{{user: user, gone: true}})
		}
	}
}

// arrival is the mark of somebody whom an event brings in, and whether they have none yet.
func (s *State) arrival(user ubl.UserID, e event) (m reading.Mark, isNew bool) {
	_, had := s.Marks[user]
	return reading.Mark{Seq: e.newest()}, !had
}

// arrive gives them that mark.
func (s *State) arrive(user ubl.UserID, e event) {
	if m, isNew := s.arrival(user, e); isNew {
		s.Marks[user] = m
	}
}

// meant are those whom a message mentions, and who take part in its thread, each once.
func meant(mentions []ubl.Mention, thread []ubl.UserID) []ubl.UserID {
	if len(mentions) == 0 {
		return thread
	}
	people := slices.Clone(thread)
	for _, m := range mentions {
		people = append(people, ubl.UserID(m))
	}
	slices.Sort(people)
	return slices.Compact(people)
}

// quiet is the record that an entry isn't news.
func (s *State) quiet(seq int64) actors.Record {
	return actors.Record{Key: reading.QuietKey(s.Summary.RoomID, seq), Value: reading.Quiet()}
}

// markRead notes how far a member has read.
func (r *Room) markRead(t *actors.Turn, c ubl.MarkRead) {
	s := &r.State
	if _, err := s.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	seq := min(max(c.Seq, s.Hidden), s.Head.LastSeq) // what is closed to them isn't new to them
	if own, ok := s.Marks[c.Who.UserID]; !ok || own.Seq != seq {
		read := &marked{user: c.Who.UserID, mark: s.mark(c.Who.UserID).Read(seq)}
		r.PassUnreceipted(t, actors.Unreceipted[event]{Event: event{reads: read}}, nil)
	}
	ctx, last, user := t.Context(), s.Head.LastSeq, c.Who.UserID
	t.Later(func() (any, error) {
		var state ubl.ReadState
		var waits []byte
		err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) (err error) {
			if state, err = reading.Of(snap, r.id, user, last); err == nil {
				waits, err = snap.Get(reading.WaitsKey(user, r.id))
			}
			return err
		})
		if err == nil && waits != nil {
			r.seen(ctx, c, seq)
		}
		return &state, err
	})
}

// seen tells the Person for whom something waits in the room that it was read. What was read
// stays so where they can't be told: they look at marks themselves before they show anything.
func (r *Room) seen(ctx context.Context, c ubl.MarkRead, seq int64) {
	person := ubl.PersonName(r.tenant, c.Who.UserID)
	if _, err := r.Ask.Ask(ctx, person, ubl.SeenRoom{Request: c.Request, RoomID: r.id, Seq: seq}); err != nil {
		r.Log.Warn("couldn't have notifications of a room closed", "room", r.id, "user", c.Who.UserID, "error", err)
	}
}

// noted writes the mark of an event that passes, and tells its holder.
func (r *Room) noted(e event, a *actors.Append) {
	if e.reads == nil {
		return
	}
	a.Records = append(a.Records, e.reads.record(r.id))
	user := e.reads.user
	told := ubl.Event{
		Kind: ubl.EventRoomRead, TenantID: r.tenant, RoomID: r.id, TS: e.At, UserID: user,
		Payload: ubl.ReadPayload(ubl.ReadMark{UserID: user, ReadSeq: e.reads.mark.Seq}),
	}
	a.OnCommit(func() ubl.Event {
		told.LedgerSeq = a.Last
		return told
	})
}

// readers answers how far the members have read.
func (r *Room) readers(t *actors.Turn, c ubl.ListReaders) {
	if err := r.State.shows("messenger.history", c.Who); err != nil {
		t.Fail(err)
		return
	}
	list := []ubl.ReadMark{}
	for user, m := range r.State.Marks {
		if _, member := r.State.Agreement.Members[user]; member {
			list = append(list, ubl.ReadMark{UserID: user, ReadSeq: m.Seq})
		}
	}
	slices.SortFunc(list, func(a, b ubl.ReadMark) int { return cmp.Compare(a.UserID, b.UserID) })
	t.Later(func() (any, error) { return list, nil })
}
