package room

import (
	"context"
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
)

// plan is what a decision about the room itself leads to.
type plan struct {
	event   event
	this    ubl.Fields
	effects []ubl.Fields
	records []actors.Record // indexes
	// agreement is the record in force that the decision read; the room's own
	// where empty.
	agreement ubl.AgreementID
	// joined is the member whom a system message greets, if any.
	joined *ubl.Member
	// left ends the streams of a member who is gone.
	left ubl.UserID
	// frees says that the plan takes power or data away: a tenant that is full may do it.
	frees bool
}

// change runs a decision about the room itself: a retry of its key is answered
// with what the key led to, else the plan becomes an event and is committed.
func (r *Room) change(t *actors.Turn, req ubl.Request, did ubl.Did, decide func(now ubl.Time) (*plan, error), content ...string) {
	key := actors.NewKey(did, req, content...)
	if r.keys.Seen(t, key, r.pastOutcome) {
		return
	}
	p, err := decide(t.Now())
	if err == nil && !p.frees {
		err = r.env.Usage.May(req.Who, did)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	p.event.Did = did
	r.commit(t, req, p, &key)
}

// commit turns a plan into an append and answers with its outcome. A plan
// without a key is the platform's own.
func (r *Room) commit(t *actors.Turn, req ubl.Request, p *plan, key *actors.Key) {
	if p.agreement == "" {
		p.agreement = r.state.Agreement.ID
	}
	a := &actors.Append{}
	e := p.event
	e.Version, e.N, e.At, e.By = eventVersion, r.state.Events+1, t.Now(), req.Who.UserID
	e.LastSeq = r.state.Head.LastSeq
	if key != nil {
		r.keys.Add(a, *key, e.At, actors.Ref{Kind: refEvent, N: e.N})
	}
	record(a, r.id, &e, req, p)
	r.state.apply(e)
	if p.joined != nil {
		r.greet(a, e, *p.joined, req)
	}
	if p.left != "" {
		a.OnCommit(func() ubl.Event {
			return ubl.Event{
				Kind: ubl.EventMemberLeft, TenantID: r.tenant, RoomID: r.id, TS: e.At, UserID: p.left,
				LedgerSeq: a.Acts[0].Receipt.Seq + 1, Payload: ubl.MemberPayload(p.left, e.Member.Role),
			}
		})
	}
	t.Commit(a)
	t.Reply(outcome(e, r.state.room(), r.state.Agreement.Agreement))
}

// record adds an event's act, record, counter and indexes to the append.
func record(a *actors.Append, id ubl.RoomID, e *event, req ubl.Request, p *plan) {
	act := &actors.Act{
		Did: e.Did, Agreement: p.agreement, Request: req, At: e.At, This: p.this,
		Effects:  p.effects,
		Pointers: ubl.Fields{ubl.Str("agreement_id", ubl.RoomAgreement(id)), ubl.Str("room_id", id)},
	}
	a.Acts = append(a.Acts, act)
	a.Move(eventCounter(id), e.N-1, e.N)
	a.Records = append(a.Records, p.records...)
	stored := *e
	a.Records = append(a.Records, actors.Record{Key: eventKey(id, e.N), Seal: func() []byte {
		stored.Receipt = act.Receipt
		return encode(stored)
	}})
}

// encode cannot fail: an event holds only strings, numbers and times.
func encode(e event) []byte {
	b, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("room: couldn't encode an event: %v", err))
	}
	return b
}

// greet tells of a new member: the event, then the system message by whoever
// caused it.
func (r *Room) greet(a *actors.Append, e event, m ubl.Member, req ubl.Request) {
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventMemberJoined, TenantID: r.tenant, RoomID: r.id, TS: e.At, UserID: m.UserID,
			LedgerSeq: a.Acts[0].Receipt.Seq + 1, Payload: ubl.MemberPayload(m.UserID, m.Role),
		}
	})
	if _, err := r.post(a, e.At, req, ubl.TypeSystem, string(m.UserID)+" joined", ""); err != nil {
		panic(err) // no random numbers: the actor is loaded anew, nothing was committed
	}
}

// outcome is what a caller is answered for an event.
func outcome(e event, room *ubl.Room, agreement ubl.Agreement) any {
	switch e.Did {
	case ubl.DidRoomUpdate:
		return room
	case ubl.DidRoomTrim:
		return ubl.Head{LastSeq: room.LastSeq, AvailableFrom: room.AvailableFrom}
	case ubl.DidAgreementEnd:
		return agreement.View(nil)
	}
	return e.Member
}

// pastOutcome answers a retry with the event that the key led to. Where the answer
// is of the whole room or record, the events up to that one are replayed, so that
// it is the one given then.
func (r *Room) pastOutcome(ctx context.Context, n int64) (any, error) {
	page, err := r.stored().Page(ctx, n, 1)
	if err == nil && len(page) == 0 {
		err = ubl.Errorf(ubl.CodeInternal, "the outcome of a key is missing")
	}
	if err != nil {
		return nil, err
	}
	e := page[0]
	var s State
	if e.Did == ubl.DidRoomUpdate || e.Did == ubl.DidAgreementEnd {
		err = r.eachEvent(ctx, n, s.apply)
	}
	s.Head.LastSeq = e.LastSeq
	return outcome(e, s.room(), s.Agreement.Agreement), err
}
