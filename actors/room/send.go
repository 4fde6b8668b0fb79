package room

import (
	"cmp"

	"ubl"
	"ubl/actors"
)

// send appends a message, or answers a retry with the message it led to. The
// key comes before everything that may have changed since the first attempt.
func (r *Room) send(t *actors.Turn, c ubl.SendMessage) {
	if _, err := r.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	key := actors.NewKey(ubl.DidSend, c.Request, c.Text, string(c.ReplyTo))
	ref, err := r.keys.Find(t.Context(), key)
	if err == nil && ref == nil {
		err = r.checkSend(t, c)
	}
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil:
		r.sent(t, ref.N)
	default:
		r.accept(t, key, nil, c.Request, c.Text, c.ReplyTo)
	}
}

// checkSend refuses a message that the room doesn't take.
func (r *Room) checkSend(t *actors.Turn, c ubl.SendMessage) error {
	if err := r.state.Agreement.May(ubl.OpWrite); err != nil {
		return err
	}
	if err := r.env.Usage.May(c.Who, ubl.DidSend); err != nil {
		return err
	}
	if err := ubl.CheckText(c.Text, r.state.Policy.MaxMessageBytes); err != nil {
		return err
	}
	return r.checkReply(t, c.ReplyTo)
}

// accept commits a checked message, behind the act that it tells of if any.
func (r *Room) accept(t *actors.Turn, key actors.Key, act *actors.Act, req ubl.Request, text string, replyTo ubl.MessageID) {
	a := &actors.Append{Records: make([]actors.Record, 0, 2)} // the message and its key
	if act != nil {
		a.Acts = append(a.Acts, act)
	}
	p, err := r.post(a, t.Now(), req, ubl.TypeText, text, replyTo)
	if err != nil {
		t.Fail(err)
		return
	}
	r.keys.Add(a, key, t.Now(), actors.Ref{Kind: refMessage, N: p.seq})
	if act != nil {
		act.Pointers = ubl.Fields{ubl.Str("msg_id", p.id), ubl.Str("room_id", r.id)}
	}
	t.Commit(a)
	t.Later(func() (any, error) { return &ubl.Sent{Message: p.json, RoomSeq: p.seq}, nil })
}

// post takes the next room_seq and adds the message with its act to the
// append. It is the one way into a timeline, for system messages too.
func (r *Room) post(a *actors.Append, now ubl.Time, req ubl.Request, kind, text string, replyTo ubl.MessageID) (*post, error) {
	seq := r.state.Head.LastSeq + 1
	id, err := ubl.NewMessageID(seq, r.env.Random)
	if err != nil {
		return nil, err
	}
	p := &post{seq: seq, id: id}
	m := &ubl.Message{
		MsgID: id, TenantID: r.tenant, RoomID: r.id, RoomSeq: seq, SenderID: req.Who.UserID,
		SentAt: now, Type: kind, Body: ubl.Body{Text: text},
	}
	if replyTo != "" {
		m.ReplyTo = &replyTo
	}
	write(a, m, p, r.state.Agreement.ID, req)
	r.state.Head.LastSeq = seq
	r.hot = append(r.hot, p)
	if len(r.hot) > hotLimit {
		r.hot[0] = nil
		r.hot = r.hot[1:]
	}
	return p, nil
}

// write adds a message's act, record, counter and event to the append.
func write(a *actors.Append, m *ubl.Message, p *post, agreement ubl.AgreementID, req ubl.Request) {
	act := &actors.Act{
		Did: ubl.DidSend, Agreement: agreement, Request: req, At: m.SentAt,
		This: ubl.Fields{
			ubl.Str("body_hash", ubl.BodyHash(m.Body.Canonical())), ubl.Str("msg_id", m.MsgID),
			ubl.Str("room_id", m.RoomID), ubl.Int("room_seq", m.RoomSeq),
		},
		Effects:  []ubl.Fields{{ubl.Str("op", "room.append"), ubl.Str("room_id", m.RoomID), ubl.Int("room_seq", m.RoomSeq)}},
		Pointers: ubl.Fields{ubl.Str("msg_id", m.MsgID)},
	}
	a.Acts = append(a.Acts, act)
	a.Records = append(a.Records, actors.Record{Key: messageKey(m.RoomID, m.RoomSeq), Seal: func() []byte {
		m.Receipt = act.Receipt
		p.json = m.AppendJSON(make([]byte, 0, 640+len(m.Body.Text)))
		return p.json
	}})
	a.Move(messageCounter(m.RoomID), m.RoomSeq-1, m.RoomSeq)
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventMessageCreated, TenantID: m.TenantID, RoomID: m.RoomID, TS: m.SentAt,
			RoomSeq: m.RoomSeq, LedgerSeq: act.Receipt.Seq + 1, UserID: m.SenderID, Payload: p.json,
		}
	})
}

// announce appends a message of the platform, with the act that it tells of.
// No policy of the room can silence it.
func (r *Room) announce(t *actors.Turn, c ubl.Announce) {
	if err := r.checkAnnounce(c); err != nil {
		t.Fail(err)
		return
	}
	var act *actors.Act
	if c.Did != "" {
		act = &actors.Act{
			Did: c.Did, Agreement: r.state.Agreement.ID, Request: c.Request, At: t.Now(), This: c.This,
			Effects: []ubl.Fields{{ubl.Str("op", c.Did)}},
		}
	}
	key := actors.NewKey(cmp.Or(c.Did, ubl.DidSend), c.Request, c.Text)
	ref, err := r.keys.Find(t.Context(), key)
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil:
		r.sent(t, ref.N)
	default:
		r.accept(t, key, act, c.Request, c.Text, "")
	}
}

func (r *Room) checkAnnounce(c ubl.Announce) error {
	if !c.Who.IsPlatform() {
		return ubl.Errorf(ubl.CodeForbidden, "only the platform announces")
	}
	if _, err := r.member(c.Who); err != nil {
		return err
	}
	if err := r.state.Agreement.May(ubl.OpWrite); err != nil {
		return err
	}
	return ubl.CheckText(c.Text, ubl.MaxMessageBytes)
}
