package room

import (
	"cmp"
	"context"

	"ubl"
	"ubl/actors"
)

// sending is a SendMessage with what was found of the message that it replies to.
type sending struct {
	ubl.SendMessage
	reply error
}

// send has the message decided. The key comes before everything that may have changed
// since the first attempt, but for who is a member.
func (r *Room) send(t *actors.Turn, c ubl.SendMessage) {
	if _, err := r.State.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	r.Change(t, &sending{c, r.checkReply(t, c.ReplyTo)})
}

// decideSend plans a message of a member.
func (s *State) decideSend(c *sending, at actors.Moment) (*plan, error) {
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	if err := ubl.CheckText(c.Text, s.Policy.MaxMessageBytes); err != nil {
		return nil, err
	}
	if c.reply != nil {
		return nil, c.reply
	}
	return s.posting(c.Who, at, ubl.TypeText, c.Text, c.ReplyTo)
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
	p, err := s.posting(c.Who, at, ubl.TypeText, c.Text, "")
	if err == nil && c.Did != "" {
		p.First = &actors.Act{
			This: c.This, Effects: []ubl.Fields{{ubl.Str("op", c.Did)}},
			Pointers: append(p.Pointers, ubl.Str("room_id", s.Summary.RoomID)),
		}
	}
	return p, err
}

// posting plans the next message. It is the one way into a timeline, for system messages
// too.
func (s *State) posting(by ubl.Identity, at actors.Moment, kind, text string, replyTo ubl.MessageID) (*plan, error) {
	room, seq := s.Summary.RoomID, s.Head.LastSeq+1
	id, err := ubl.NewMessageID(seq, at.Random)
	if err != nil {
		return nil, err
	}
	body := ubl.Body{Text: text}
	canonical := body.Canonical()
	m := message{&post{seq: seq, id: id, bytes: postBytes(canonical)}, &ubl.Message{
		MsgID: id, TenantID: s.Agreement.TenantID, RoomID: room, RoomSeq: seq, SenderID: by.UserID,
		SentAt: at.Now, Type: kind, Body: body,
	}}
	if replyTo != "" {
		m.ReplyTo = &replyTo
	}
	p := &plan{
		Act: actors.Act{
			Did: ubl.DidSend,
			This: ubl.Fields{
				ubl.Str("body_hash", ubl.BodyHash(canonical)), ubl.Str("msg_id", id),
				ubl.Str("room_id", room), ubl.Int("room_seq", seq),
			},
			Effects:  []ubl.Fields{{ubl.Str("op", "room.append"), ubl.Str("room_id", room), ubl.Int("room_seq", seq)}},
			Pointers: ubl.Fields{ubl.Str("msg_id", id)},
		},
		Item:   m,
		Answer: func(ubl.Receipt) any { return m.post.sent() },
	}
	if s.oldest == 0 && s.trims() {
		p.Alarms = []actors.Alarm{s.expiry(at.Now, 0)}
	}
	return p, nil
}

// message is the item of a timeline.
type message struct {
	post *post
	*ubl.Message
}

// Number implements [actors.Item].
func (m message) Number() int64 { return m.RoomSeq }

// Seal implements [actors.Item].
func (m message) Seal(receipt ubl.Receipt) []byte {
	m.Receipt = receipt
	m.post.json = m.AppendJSON(make([]byte, 0, m.post.bytes))
	return m.post.json
}

// Told implements [actors.Item].
func (m message) Told() ubl.Event {
	return ubl.Event{Kind: ubl.EventMessageCreated, RoomID: m.RoomID, RoomSeq: m.RoomSeq, UserID: m.SenderID, Payload: m.post.json}
}

// take puts a message at the end of the timeline.
func (s *State) take(item actors.Item) {
	m := item.(message)
	p := m.post
	s.Head.LastSeq, s.oldest = p.seq, cmp.Or(s.oldest, m.SentAt)
	s.recent.add(p)
}

// again answers a retried send with the message that its key led to.
func (r *Room) again(ctx context.Context, seq int64) func() (any, error) {
	if seq <= r.State.Hidden {
		return func() (any, error) {
			return nil, ubl.Errorf(ubl.CodeConflict, "the message of this key was accepted, and closed with the room since")
		}
	}
	if posts, ok := r.State.recent.pick(seq, seq); ok {
		return func() (any, error) { return posts[0].sent(), nil }
	}
	return func() (any, error) {
		messages, err := readMessages(ctx, r.Read, r.group, r.id, seq, seq)
		if err != nil {
			return nil, err
		}
		if len(messages) == 0 {
			return nil, ubl.Errorf(ubl.CodeConflict, "the message of this key was accepted, and removed by retention since")
		}
		return &ubl.Sent{Message: messages[0], RoomSeq: seq}, nil
	}
}
