package container

import (
	"context"
	"encoding/binary"

	"ubl"
	"ubl/actors"
)

// plan is what a decision leads to.
type plan struct {
	event   event
	this    ubl.Fields
	effects []ubl.Fields
	records []actors.Record // indexes and texts
	// agreement is the record in force that the decision read; where empty, the one
	// under which the caller has standing.
	agreement ubl.AgreementID
	// status is that of the action; executed where empty.
	status ubl.Status
}

// change runs a decision: a retry of its key is answered with what the key led
// to, else the plan becomes an event and is committed. Both answers are read from
// what is stored.
func (c *Container) change(t *actors.Turn, req ubl.Request, did ubl.Did, decide func(now ubl.Time) (*plan, error), content ...string) {
	key := actors.NewKey(did, req, content...)
	if c.keys.Seen(t, key, c.outcome) {
		return
	}
	p, err := decide(t.Now())
	if err != nil {
		t.Fail(err)
		return
	}
	p.event.Did = did
	c.later(t, c.commit(t, req, p, &key))
}

// later answers with the outcome of an event.
func (c *Container) later(t *actors.Turn, n int64) {
	ctx := t.Context()
	t.Later(func() (any, error) { return c.outcome(ctx, n) })
}

// commit turns a plan into an append and tells the event's number. A plan without
// a key is found again by its transfer.
func (c *Container) commit(t *actors.Turn, req ubl.Request, p *plan, key *actors.Key) int64 {
	if p.agreement == "" {
		p.agreement = c.state.under(req.Who)
	}
	a := c.begin()
	if key != nil {
		c.keys.Add(a, *key, t.Now(), actors.Ref{Kind: refEvent, N: c.state.Events + 1})
	}
	e := c.add(a, t.Now(), req, p)
	t.Commit(a)
	if d, _ := e.changed(); d != nil {
		c.indexSoon(*d)
	}
	return e.N
}

// begin is the append of the turn: the one by which the caller joins, if they do.
func (c *Container) begin() *actors.Append {
	a := c.joined
	if a == nil {
		a = &actors.Append{}
	}
	c.joined = nil
	return a
}

// add numbers a plan's event, adds it to the append and applies it.
func (c *Container) add(a *actors.Append, now ubl.Time, req ubl.Request, p *plan) event {
	e := p.event
	e.Version, e.N, e.At, e.By = eventVersion, c.state.Events+1, now, req.Who.UserID
	was := len(c.state.Pending)
	record(a, c.id, c.state.Agreement.ID, e, req, p)
	c.state.apply(e)
	c.hidden.Store(int64(c.state.Hidden))
	if e.N%c.checkpointEvery == 0 {
		a.Records = append(a.Records, c.state.checkpoint())
	}
	if is := len(c.state.Pending); was == 0 && is > 0 {
		a.Records = append(a.Records, actors.Record{Key: actors.PendingIndex(c.id), Value: []byte{recordVersion}})
	} else if was > 0 && is == 0 {
		a.Records = append(a.Records, actors.Record{Key: actors.PendingIndex(c.id)})
	}
	c.tell(a, e)
	return e
}

// record adds an event's act, records and counter to the append. The pointers name
// the Agreement that governs the container, whatever the act was decided under.
func record(a *actors.Append, id ubl.ContainerID, governing ubl.AgreementID, e event, req ubl.Request, p *plan) {
	act := &actors.Act{
		Did: e.Did, Agreement: p.agreement, Request: req, At: e.At, Status: p.status,
		This: p.this, Effects: p.effects, Closes: e.Action,
		Pointers: ubl.Fields{ubl.Str("agreement_id", governing), ubl.Str("container_id", id)},
	}
	if e.Refused != nil {
		act.Error = &ubl.AtomError{Code: e.Refused.Code, Message: e.Refused.Message}
	}
	a.Acts = append(a.Acts, act)
	a.Move(eventCounter(id), e.N-1, e.N)
	a.Records = append(a.Records, p.records...)
	a.Records = append(a.Records, actors.Record{Key: eventKey(id, e.N), Seal: func() []byte {
		e.Receipt = act.Receipt
		return encode(e)
	}})
	if d := e.Document; d != nil && !d.Deleted {
		a.Records = append(a.Records, actors.Record{Key: versionKey(id, d.ID, d.Version), Seal: func() []byte {
			return encode(version{recordVersion, *d, act.Receipt})
		}})
	}
	if d, gone := e.changed(); d != nil {
		a.Records = append(a.Records, newestRecord(id, *d, gone))
	}
	if e.Did == ubl.DidReceive || e.Action != nil {
		n := binary.BigEndian.AppendUint64(nil, uint64(e.N))
		a.Records = append(a.Records, actors.Record{Key: endKey(id, e.Transfer.ID), Value: n})
	}
}

// tell publishes that a document has changed, if one has.
func (c *Container) tell(a *actors.Append, e event) {
	d, _ := e.changed()
	if d == nil {
		return
	}
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventDocumentChanged, TenantID: c.tenant, TS: e.At, UserID: e.By, LedgerSeq: a.Last,
			Payload: ubl.DocumentPayload(c.id, d.ID, d.Version),
		}
	})
}

// outcome is what a caller is answered for an event, now or at a retry.
func (c *Container) outcome(ctx context.Context, n int64) (any, error) {
	e, err := c.event(ctx, n)
	if err != nil {
		return nil, err
	}
	switch e.Did {
	case ubl.DidDocumentCreate, ubl.DidDocumentUpdate, ubl.DidDocumentDelete:
		return c.documentOutcome(ctx, e)
	case ubl.DidCreditsIssue:
		return &ubl.Balance{ContainerID: c.id, Amount: e.Amount, Balance: e.Balance, Receipt: e.Receipt}, nil
	case ubl.DidTransfer:
		if e.Action == nil {
			return c.carry(ctx, e)
		}
		return transferOutcome(e, *e.Action)
	case ubl.DidReceive:
		return transferOutcome(e, e.Receipt)
	case ubl.DidAgreementEnd:
		return e.Ended, nil
	}
	return e.Member, nil
}
