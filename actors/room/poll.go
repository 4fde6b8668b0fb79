package room

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// A poll is a message with a body of its own. What its voters choose is read from the index V,
// which has the newest vote of each, and under nobody's name how the poll ended. A vote is an
// entry, too. That of a vote in an anonymous poll has neither the choices nor the salt of their
// commitment; counts are told at the end alone, since those of two moments would tell who voted
// for what in between. The end takes the votes themselves away, and only the counts stay.

// voteKey is the key V room 0 poll user: what a user chose in the poll of that number. That of
// nobody tells of the poll's end.
func voteKey(r ubl.RoomID, poll int64, user ubl.UserID) []byte {
	return append(reading.Numbered('V', r, poll), user...)
}

// pollEnd is behind all such keys of one poll.
func pollEnd(r ubl.RoomID, poll int64) []byte { return append(reading.Numbered('V', r, poll), 0xff) }

// The first byte of a record under V says what it is. Behind it is the number of the entry, and
// behind that of a vote each choice, a byte each.
const (
	formVote = 1
	formEnd  = 2
)

func ballotRecord(form byte, seq int64, choices []int) []byte {
	v := binary.BigEndian.AppendUint64([]byte{form}, uint64(seq))
	for _, c := range choices {
		v = append(v, byte(c))
	}
	return v
}

// ballot is somebody's newest vote; one that was taken back has no choices.
type ballot struct {
	user    ubl.UserID
	seq     int64
	choices []int
}

// ballots are what is stored of a poll besides its entry.
type ballots struct {
	body  *ubl.PollBody
	votes []ballot
	end   int64 // the number of the entry that ended it; 0 while it is open
}

// take reads a record under V.
func (b *ballots) take(user ubl.UserID, v []byte) error {
	if len(v) < 9 || v[0] != formVote && v[0] != formEnd {
		return ubl.Damaged("a vote is stored in a form that this program doesn't know")
	}
	seq := int64(binary.BigEndian.Uint64(v[1:]))
	if v[0] == formEnd {
		b.end = seq
		return nil
	}
	one := ballot{user: user, seq: seq}
	for _, c := range v[9:] {
		one.choices = append(one.choices, int(c))
	}
	b.votes = append(b.votes, one)
	return nil
}

// voters are those whose vote stands, in the order of their votes.
func (b *ballots) voters() []ballot {
	list := slices.DeleteFunc(slices.Clone(b.votes), func(one ballot) bool { return len(one.choices) == 0 })
	slices.SortFunc(list, func(x, y ballot) int { return cmp.Compare(x.seq, y.seq) })
	return list
}

// result counts the votes.
func (b *ballots) result() *ubl.PollResult {
	voters := b.voters()
	r := &ubl.PollResult{Counts: make([]int64, len(b.body.Options)), Voters: int64(len(voters))}
	for _, one := range voters {
		for _, c := range one.choices {
			if c <= len(r.Counts) {
				r.Counts[c-1]++
			}
		}
	}
	return r
}

// ballotsOf reads what is stored of one poll.
func (r *Room) ballotsOf(snap ubl.Snapshot, poll int64, body *ubl.PollBody) (*ballots, error) {
	all := &ballots{body: body}
	from := voteKey(r.id, poll, "")
	var bad error
	err := snap.Ascend(from, pollEnd(r.id, poll), func(k, v []byte) bool {
		bad = all.take(ubl.UserID(k[len(from):]), v)
		return bad == nil
	})
	return all, errors.Join(err, bad)
}

// polled reads what became of the polls from first to last, as somebody sees it.
func (r *Room) polled(snap ubl.Snapshot, who ubl.UserID, first, last int64, of func(poll int64) *ubl.Became) error {
	width := len(voteKey(r.id, 0, ""))
	found := make(map[int64]*ballots)
	var bad error
	err := snap.Ascend(voteKey(r.id, first, ""), pollEnd(r.id, last), func(k, v []byte) bool {
		seq := reading.NumberOf(k[:width])
		if found[seq] == nil {
			found[seq] = new(ballots)
		}
		bad = found[seq].take(ubl.UserID(k[width:]), v)
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for seq, b := range found {
		e, _, err := r.entryAt(snap, seq)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if b.body = e.Body.Poll(); b.body == nil {
			continue
		}
		state, err := r.stateOf(snap, b, who)
		if err != nil {
			return err
		}
		of(seq).Poll = state
	}
	return nil
}

// stateOf is what a reader is told of a poll.
func (r *Room) stateOf(snap ubl.Snapshot, b *ballots, who ubl.UserID) (*ubl.PollState, error) {
	result := b.result()
	s := &ubl.PollState{Voters: result.Voters}
	if b.end != 0 {
		e, _, err := r.entryAt(snap, b.end)
		if err != nil || e == nil {
			return nil, cmp.Or(err, error(errMissing(r.id, b.end)))
		}
		s.Ended = &ubl.PollEnded{At: e.SentAt, By: e.AuthorID, RoomSeq: b.end}
		if b.body.Anonymous {
			if err := e.Body.Read(ubl.ContentPollEnd, result); err != nil {
				return nil, ubl.Damaged("entry %d of %s can't be read", b.end, r.id)
			}
			s.Voters = result.Voters
		}
	}
	if b.end != 0 || !b.body.Anonymous {
		s.Counts = result.Counts
	}
	if i := slices.IndexFunc(b.votes, func(one ballot) bool { return one.user == who }); i >= 0 {
		s.Mine = b.votes[i].choices
	}
	if !b.body.Anonymous {
		s.By = b.by()
	}
	return s, nil
}

// by are who chose each option, the first of them.
func (b *ballots) by() [][]ubl.UserID {
	list := make([][]ubl.UserID, len(b.body.Options))
	for i := range list {
		list[i] = []ubl.UserID{}
	}
	for _, one := range b.voters() {
		for _, c := range one.choices {
			if c <= len(list) && len(list[c-1]) < ubl.MaxReactors {
				list[c-1] = append(list[c-1], one.user)
			}
		}
	}
	return list
}

// Bodies of entries about polls.

// opened is what a message, a poll or a form says.
func opened(c ubl.TypedBody, files, max int) (ubl.TypedBody, error) {
	switch c.Type {
	case ubl.ContentForm:
		return openedForm(c, files, max)
	case ubl.ContentPoll:
		return openedPoll(c, files, max)
	}
	return said(c, files, max)
}

func openedPoll(c ubl.TypedBody, files, max int) (ubl.TypedBody, error) {
	var b ubl.PollBody
	if err := c.Read(ubl.ContentPoll, &b); err != nil {
		return c, err
	}
	body := ubl.PollContent(b)
	if err := alone("poll", body, files, max); err != nil {
		return c, err
	}
	return body, b.Check()
}

// alone refuses what is sent as a message of its own kind with files, or longer than the room's messages.
func alone(what string, body ubl.TypedBody, files, max int) error {
	switch {
	case files > 0:
		return ubl.Errorf(ubl.CodeValidation, "a %s carries no files", what)
	case len(body.JSON) > max:
		return ubl.Errorf(ubl.CodeTooLarge, "the %s is longer than the room's %d bytes", what, max)
	}
	return nil
}

// endsWithin refuses an end that is past, or more than so many days ahead; 0 is none.
func endsWithin(days int, end ubl.Time, at actors.Moment) error {
	if end != 0 && (end <= at.Now || end > ubl.TimeOf(at.Now.Std().AddDate(0, 0, days))) {
		return ubl.Errorf(ubl.CodeValidation, "ends_at is not within the next %d days", days)
	}
	return nil
}

func vote(c ubl.TypedBody, _, _ int) (ubl.TypedBody, error) {
	var b ubl.VoteBody
	if err := c.Read(ubl.ContentVote, &b); err != nil {
		return c, err
	}
	if b.Choices == nil {
		return c, ubl.Errorf(ubl.CodeValidation, "choices are missing")
	}
	return ubl.VoteContent(slices.Compact(slices.Sorted(slices.Values(b.Choices)))...), nil
}

func ending(c ubl.TypedBody, _, _ int) (ubl.TypedBody, error) {
	var b struct{}
	return ubl.PollEndContent(nil), c.Read(ubl.ContentPollEnd, &b)
}

// isPoll tells the making of a poll from that of other messages.
func (c *posted) isPoll() bool { return c.Type == ubl.EntryMessage && c.Body.Type == ubl.ContentPoll }

// mayPoll sees what a poll, or an entry about one, has to be.
func (s *State) mayPoll(c *posted, body ubl.TypedBody, at actors.Moment) error {
	switch {
	case c.isPoll():
		b := body.Poll()
		switch {
		case c.ImportedFrom == nil && b.Result != nil:
			return ubl.Errorf(ubl.CodeValidation, "only a poll that is imported has a result")
		case c.ImportedFrom != nil:
			return nil
		}
		return endsWithin(ubl.MaxPollDays, b.EndsAt, at)
	case c.Type == ubl.EntryEdit && c.target.poll != nil:
		return ubl.Errorf(ubl.CodeConflict, "a poll can't be edited: people have voted on what it says")
	case c.Type != ubl.EntryVote && c.Type != ubl.EntryPollEnd:
		return nil
	case c.ImportedFrom != nil:
		return ubl.Errorf(ubl.CodeValidation, "votes are imported as the result of their poll")
	case c.target.poll == nil:
		return ubl.Errorf(ubl.CodeConflict, "the target is not a poll")
	case c.target.poll.end != 0 || c.target.poll.body.Result != nil:
		return ubl.Errorf(ubl.CodeConflict, "the poll has ended")
	case c.Type == ubl.EntryPollEnd:
		return nil
	}
	poll := c.target.poll
	if ends := poll.body.EndsAt; ends != 0 && ends <= at.Now { // and the alarm is late
		return ubl.Errorf(ubl.CodeConflict, "the poll has ended")
	}
	if !slices.ContainsFunc(poll.votes, func(b ballot) bool { return b.user == c.Who.UserID }) && len(poll.votes) >= ubl.MaxVoters {
		return ubl.Errorf(ubl.CodeConflict, "a poll takes the votes of %d people", ubl.MaxVoters)
	}
	var b ubl.VoteBody
	if err := body.Read(ubl.ContentVote, &b); err != nil {
		return err
	}
	return poll.body.CheckChoices(b.Choices)
}

// polling is what a poll, a vote or an end has in its plan besides the entry.
func (s *State) polling(p *plan, c *posted, e entry) {
	room := s.Summary.RoomID
	switch {
	case c.isPoll():
		if b := e.Body.Poll(); b.EndsAt != 0 && b.Result == nil {
			p.Alarms = append(p.Alarms, actors.Alarm{Key: pollAlarm(e.ID), At: max(b.EndsAt, e.SentAt)})
		}
	case c.Type == ubl.EntryVote:
		var b ubl.VoteBody
		_ = e.Body.Read(ubl.ContentVote, &b) // it was read before
		p.Records = append(p.Records, actors.Record{Key: voteKey(room, c.target.Seq, c.Who.UserID), Value: ballotRecord(formVote, e.RoomSeq, b.Choices)})
		if c.target.poll.body.Anonymous {
			secret := ubl.SecretVoteContent()
			e.Entry.Body, e.Entry.Salt = &secret, ubl.Salt{}
		}
	case c.Type == ubl.EntryPollEnd:
		p.Records = append(p.Records, actors.Record{Key: voteKey(room, c.target.Seq, ""), Value: ballotRecord(formEnd, e.RoomSeq, nil)})
		p.Alarms = append(p.Alarms, actors.Alarm{Key: pollAlarm(c.Target)})
		if c.target.poll.body.Anonymous {
			s.forgetting(p, c.target)
		}
	case c.Type == ubl.EntryRedaction && c.target.poll != nil:
		s.forgetting(p, c.target)
		p.Records = append(p.Records, actors.Record{Key: voteKey(room, c.target.Seq, "")})
		p.Alarms = append(p.Alarms, actors.Alarm{Key: pollAlarm(c.Target)})
	}
}

// forgetting takes the votes of a poll away.
func (s *State) forgetting(p *plan, poll *target) {
	for _, b := range poll.poll.votes {
		p.Records = append(p.Records, actors.Record{Key: voteKey(s.Summary.RoomID, poll.Seq, b.user)})
	}
}

// pollAlarm is the key of the alarm that ends a poll.
func pollAlarm(id ubl.MessageID) string { return pollAlarms + string(id) }

const pollAlarms = "poll:"

// endPoll is what such an alarm leads to; nil for another alarm. Where the poll has ended, or is
// gone, there is nothing left to do.
func (r *Room) endPoll(key string, req ubl.Request) func(context.Context) error {
	id, ok := strings.CutPrefix(key, pollAlarms)
	if !ok {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := r.Ask.Ask(ctx, r.Name, ubl.PostEntry{
			Request: req, Type: ubl.EntryPollEnd, Target: ubl.MessageID(id), Body: ubl.PollEndContent(nil),
		})
		switch ubl.CodeOf(err) {
		case ubl.CodeConflict, ubl.CodeNotFound:
			return nil
		}
		return err
	}
}
