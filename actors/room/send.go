package room

import (
	"cmp"
	"context"

	"ubl"
	"ubl/actors"
)

// sending is a SendMessage with what was found of the messages that it answers.
type sending struct {
	ubl.SendMessage
	answers
	forwarded *ubl.Forwarded
}

// answers is what was found of the messages that another one answers.
type answers struct {
	people []ubl.UserID // who take part in the thread
	err    error
}

// answered finds them.
func (r *Room) answered(t *actors.Turn, replyTo, thread ubl.MessageID) (a answers) {
	if a.err = r.checkReply(t, replyTo); a.err == nil {
		a.people, a.err = r.follow(t, thread)
	}
	return a
}

// send has the message decided. The key comes before everything that may have changed
// since the first attempt, but for who is a member.
func (r *Room) send(t *actors.Turn, c ubl.SendMessage) {
	if _, err := r.State.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	r.stopTyping(t, c.Who.UserID)
	c.Mentions = ubl.Distinct(c.Mentions)
	a := r.answered(t, c.ReplyTo, c.Thread)
	if a.err == nil {
		a.err = r.holds(c.Who, sumOf(c.Files()))
	}
	r.Change(t, &sending{c, a, nil})
}

// decideSend plans a message of a member.
func (s *State) decideSend(c *sending, at actors.Moment) (*plan, error) {
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	body := ubl.Body{Mentions: c.Mentions, Text: c.Text}
	if err := body.CheckBeside(len(c.Files()), s.Policy.MaxMessageBytes); err != nil {
		return nil, err
	}
	files, err := ubl.CheckAttachments(c.Files())
	if err == nil {
		err = c.err
	}
	if err == nil {
		err = s.Policy.MayPost(s.Agreement.Members[c.Who.UserID].Role, c.Thread != "")
	}
	if err != nil {
		return nil, err
	}
	return s.posting(c.Who, at, text{kind: ubl.TypeText, body: body, replyTo: c.ReplyTo, thread: c.Thread, people: c.people, files: files, forwarded: c.forwarded, source: c.source()})
}

// decideAnnounce plans a message of the platform, behind the act that it tells of. No
// policy of the room can silence it.
func (s *State) decideAnnounce(c ubl.Announce, at actors.Moment) (*plan, error) {
	if !c.Who.IsPlatform() {
		return nil, ubl.Errorf(ubl.CodeForbidden, "only the platform announces")
	}
	if _, err := s.member(c.Who); err != nil {
		return nil, err
	}
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	if err := ubl.CheckText(c.Text, ubl.MaxMessageBytes); err != nil {
		return nil, err
	}
	p, err := s.posting(c.Who, at, text{kind: ubl.TypeText, body: ubl.Body{Text: c.Text}})
	if err == nil && c.Did != "" {
		p.First = &actors.Act{
			This: c.This, Effects: []ubl.Fields{{ubl.Str("op", c.Did)}},
			Pointers: append(p.Pointers, ubl.Str("room_id", s.Summary.RoomID)),
		}
	}
	return p, err
}

// place is where the next entry is in the timeline.
type place struct {
	*post
	salt   ubl.Salt
	commit ubl.Field // the ledger's commitment to the body
}

// next is the next place in the timeline. It is the one way into a timeline.
func (s *State) next(at actors.Moment, body []byte) (n place, err error) {
	seq := s.Head.LastSeq + 1
	id, err := ubl.NewMessageID(seq, at.Random)
	if err != nil {
		return n, err
	}
	if n.salt, err = ubl.NewSalt(at.Random); err != nil {
		return n, err
	}
	n.post = &post{seq: seq, id: id, bytes: postBytes(body)}
	n.commit = ubl.Str("body_hash", n.salt.Commit(body))
	return n, nil
}

// puts is the act that puts an entry into its place.
func (s *State) puts(n place) actors.Act {
	room := s.Summary.RoomID
	return actors.Act{
		This:     ubl.Fields{n.commit, ubl.Str("msg_id", n.id), ubl.Str("room_id", room), ubl.Int("room_seq", n.seq)},
		Effects:  []ubl.Fields{{ubl.Str("op", "room.append"), ubl.Str("room_id", room), ubl.Int("room_seq", n.seq)}},
		Pointers: ubl.Fields{ubl.Str("msg_id", n.id)},
	}
}

// text is a message of text that is to be put into the timeline.
type text struct {
	kind            string // [ubl.TypeText] or [ubl.TypeSystem]
	body            ubl.Body
	replyTo, thread ubl.MessageID // "" for none
	people          []ubl.UserID  // who take part in the thread
	importedFrom    *ubl.ImportedFrom
	files           []ubl.Attachment // without their ids
	forwarded       *ubl.Forwarded   // nil for the sender's own words
	source          *ubl.MessageRef
}

// news is whom the message is for in particular: nobody, where it was sent elsewhere long ago.
func (t text) news() (mentions []ubl.Mention, thread []ubl.UserID) {
	if t.importedFrom != nil {
		return nil, nil
	}
	return t.body.Mentions, t.people
}

// posting plans the next message, of the system too.
func (s *State) posting(by ubl.Identity, at actors.Moment, said text) (*plan, error) {
	next, err := s.next(at, said.body.Canonical())
	if err != nil {
		return nil, err
	}
	files := next.carry(said.files)
	act := s.puts(next)
	act.Did = ubl.DidSend
	m := message{next.post, next.salt, nil, said.source, &ubl.Message{
		MsgID: next.id, TenantID: s.Agreement.TenantID, RoomID: s.Summary.RoomID, RoomSeq: next.seq, SenderID: by.UserID,
		SentAt: at.Now, Type: said.kind, Body: said.body, Attachments: files,
	}}
	if to := said.replyTo; to != "" { // a copy, so that said needs no memory of its own
		m.ReplyTo = &to
	}
	p := &plan{Act: act, Answer: next.answer}
	s.files(p, next, files, by, at)
	if thread := said.thread; thread != "" {
		m.Thread = &thread
		p.This = append(p.This, ubl.Str("thread", said.thread))
	}
	if said.importedFrom != nil {
		m.ImportedFrom, p.This = said.importedFrom, said.importedFrom.In(p.This, m.salt)
	}
	if said.forwarded != nil {
		m.Forwarded, p.This = said.forwarded, said.forwarded.In(p.This, m.salt)
	}
	next.of(by.UserID, said.kind == ubl.TypeText, said.thread)
	mentions, people := said.news()
	m.marks = s.news(p, next.post, mentions, people)
	p.Item = m
	return s.oldestOf(p, at), nil
}

// oldestOf arms the room's retention with its first entry.
func (s *State) oldestOf(p *plan, at actors.Moment) *plan {
	if s.oldest == 0 && s.trims() {
		p.Alarms = append(p.Alarms, s.expiry(at.Now, 0))
	}
	return p
}

// message is the item of a timeline.
type message struct {
	post   *post
	salt   ubl.Salt
	marks  []marked
	source *ubl.MessageRef // of what it repeats, nil for nothing
	*ubl.Message
}

// Number implements [actors.Item].
func (m message) Number() int64 { return m.RoomSeq }

// Seal implements [actors.Item].
func (m message) Seal(receipt ubl.Receipt) []byte {
	m.Receipt = receipt
	m.post.stored = storeMessage(m.salt, m.source, m.Message, m.post.bytes)
	return m.post.stored
}

// Told implements [actors.Item].
func (m message) Told() ubl.Event {
	return ubl.Event{Kind: ubl.EventMessageCreated, RoomID: m.RoomID, RoomSeq: m.RoomSeq, UserID: m.SenderID, Payload: m.post.stored.message()}
}

// take puts an entry at the end of the timeline.
func (s *State) take(item actors.Item) {
	switch e := item.(type) {
	case message:
		s.Head.Messages++
		s.append(e.post, e.SentAt)
		s.keep(e.marks)
		s.FileBytes += sumOf(e.Attachments)
	case entry:
		if e.Type == ubl.EntryMessage {
			s.Head.Messages++
			s.FileBytes += sumOf(e.Attachments)
		}
		s.FileBytes -= e.freed
		s.append(e.post, e.SentAt)
		s.keep(e.marks)
		for seq, v := range e.redacts {
			s.recent.replace(seq, v)
		}
	}
}

func (s *State) append(p *post, at ubl.Time) {
	s.Head.LastSeq, s.oldest = p.seq, cmp.Or(s.oldest, at)
	s.recent.add(p)
}

// again answers a retried send with the message that its key led to.
func (r *Room) again(ctx context.Context, seq int64) func() (any, error) {
	if seq <= r.State.Hidden {
		return func() (any, error) {
			return nil, ubl.Errorf(ubl.CodeConflict, "the entry of this key was accepted, and closed with the room since")
		}
	}
	if posts, ok := r.State.recent.pick(seq, seq); ok {
		return func() (any, error) { return answerAgain(posts[0].stored, seq) }
	}
	return func() (any, error) {
		entries, err := readEntries(ctx, r.Read, r.group, r.id, seq, seq)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return nil, ubl.Errorf(ubl.CodeConflict, "the entry of this key was accepted, and removed by retention since")
		}
		return answerAgain(entries[0], seq)
	}
}

// answerAgain is what was answered for an entry, while it still says so.
func answerAgain(v stored, seq int64) (any, error) {
	if v.redacted() {
		return nil, ubl.Errorf(ubl.CodeConflict, "the entry of this key was accepted, and redacted since")
	}
	return v.answer(seq), nil
}
