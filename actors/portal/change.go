package portal

import (
	"context"
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
)

// plan is what a decision of an owner leads to.
type plan struct {
	event   event
	this    ubl.Fields
	effect  ubl.Fields
	records []actors.Record
	// tools says that which tools there are has changed.
	tools bool
	// frees says that the plan takes power or data away: a tenant that is full may do it.
	frees bool
}

// change runs a decision: a retry of its key is answered with what the key led
// to, else the plan becomes an event and is committed.
func (x *Portal) change(t *actors.Turn, req ubl.Request, did ubl.Did, decide func(now ubl.Time) (*plan, error), content ...string) {
	key := actors.NewKey(did, req, content...)
	if x.keys.Seen(t, key, x.pastOutcome) {
		return
	}
	p, err := decide(t.Now())
	if err == nil && !p.frees {
		err = x.env.Usage.May(req.Who, did)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	p.event.Did = did
	a := &actors.Append{Records: p.records}
	act := x.act(a, t.Now(), req, did, p.this, p.effect)
	if p.tools {
		x.tellTools(a, act)
	}
	e := x.store(a, act, p.event)
	x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refEvent, N: e.N})
	x.state.apply(e)
	t.Commit(a)
	t.Later(func() (any, error) { return outcome(e), nil })
}

// act adds an executed act under the TenantLicense. Its effect is named after it.
func (x *Portal) act(a *actors.Append, now ubl.Time, req ubl.Request, did ubl.Did, this, effect ubl.Fields) *actors.Act {
	license := ubl.TenantAgreement(x.tenant)
	act := &actors.Act{
		Did: did, Agreement: license, Request: req, At: now, This: this,
		Effects:  []ubl.Fields{append(effect, ubl.Str("op", did))},
		Pointers: ubl.Fields{ubl.Str("agreement_id", license)},
	}
	a.Acts = append(a.Acts, act)
	return act
}

// store numbers an event and adds its record, sealed with the act's receipt.
func (x *Portal) store(a *actors.Append, act *actors.Act, e event) event {
	e.Version, e.N, e.At, e.By = version, x.state.Events+1, act.At, act.Request.Who.UserID
	e.receipt = &act.Receipt
	a.Move(eventCounter(), e.N-1, e.N)
	a.Records = append(a.Records, actors.Record{Key: eventKey(e.N), Seal: func() []byte {
		stored := e
		stored.Receipt = act.Receipt
		return encode(stored)
	}})
	return e
}

// tellTools tells everyone who lists tools to list them again.
func (x *Portal) tellTools(a *actors.Append, act *actors.Act) {
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventToolsChanged, TenantID: x.tenant, TS: act.At,
			LedgerSeq: act.Receipt.Seq + 1, Payload: json.RawMessage(`{}`),
		}
	})
}

// outcome is what a caller is answered for an event, behind the gate.
func outcome(e event) any {
	switch e.Did {
	case ubl.DidToolApprove:
		return e.Tool
	case ubl.DidBudgetUpdate:
		return e.Budget
	}
	return receipted(e.Server, e.receipt)
}

// receipted is a server with its receipt, behind the gate.
func receipted(s *ubl.Server, receipt *ubl.Receipt) *ubl.Server {
	with := *s
	with.Receipt = *receipt
	return &with
}

// pastOutcome answers a retry with the event that the key led to.
func (x *Portal) pastOutcome(ctx context.Context, n int64) (any, error) {
	var answer any
	err := x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		return actors.EachEvent(snap, eventKey(n), eventKey(n+1), version, func(e event) {
			e.receipt = &e.Receipt
			answer = outcome(e)
		})
	})
	if err == nil && answer == nil {
		err = ubl.Errorf(ubl.CodeInternal, "the outcome of a key is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't read the outcome of a key: %w", err)
	}
	return answer, nil
}

// put is a record of something sealed, or its deletion where there is nothing.
func put(key []byte, what sealed) actors.Record {
	if len(what.Sealed) == 0 {
		return actors.Record{Key: key}
	}
	what.Version = version
	return actors.Record{Key: key, Value: encode(what)}
}
