package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
)

// plan is what a decision leads to.
type plan struct {
	event  event
	this   ubl.Fields
	effect ubl.Fields
	// more effects of the act.
	more []ubl.Fields
	// about is the record that the act changes; the TenantLicense where empty.
	about ubl.AgreementID
	// tells are published once the act is durable, with their place and time.
	tells []ubl.Event
	// frees says that the plan takes power or data away: a tenant that is full may do it.
	frees bool
}

// change runs a decision: a retry of its key is answered with what the key led
// to, else the plan becomes an event and is committed.
func (x *Tenant) change(t *actors.Turn, req ubl.Request, did ubl.Did, decide func(now ubl.Time) (*plan, error), content ...string) {
	if e, _, ok := x.decided(t, req, did, decide, content); ok {
		t.Reply(x.outcome(e))
	}
}

// decided is change without the answer of a new event, which it gives with the
// act that made it; it reports false where the turn has been answered.
func (x *Tenant) decided(t *actors.Turn, req ubl.Request, did ubl.Did, decide func(now ubl.Time) (*plan, error), content []string) (event, *actors.Act, bool) {
	key, ok := x.fresh(t, req, did, content)
	if !ok {
		return event{}, nil, false
	}
	p, err := decide(t.Now())
	if err == nil && !p.frees {
		err = x.env.Usage.May(req.Who, did)
	}
	if err != nil {
		t.Fail(err)
		return event{}, nil, false
	}
	p.event.Did = did
	a := &actors.Append{}
	e := x.record(a, t.Now(), req, p)
	x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refEvent, N: e.N})
	x.state.apply(e)
	t.Commit(a)
	return e, a.Acts[0], true
}

// fresh is the command's key where it is new; else it answers the turn. Who asks
// tenant 0 from another tenant is another author there than under the same id from
// a third.
func (x *Tenant) fresh(t *actors.Turn, req ubl.Request, did ubl.Did, content []string) (actors.Key, bool) {
	if home := req.Who.TenantID; home != x.id {
		req.Key += "\n" + string(home)
	}
	key := actors.NewKey(did, req, content...)
	return key, !x.keys.Seen(t, key, x.pastOutcome)
}

// record adds a plan's act, event and counter to the append. It does not apply
// the event.
func (x *Tenant) record(a *actors.Append, now ubl.Time, req ubl.Request, p *plan) event {
	act := &actors.Act{
		Did: p.event.Did, Agreement: ubl.TenantAgreement(x.id), Request: req, At: now,
		This: p.this, Effects: append([]ubl.Fields{p.effect}, p.more...),
		Pointers: ubl.Fields{ubl.Str("agreement_id", cmp.Or(p.about, ubl.TenantAgreement(x.id)))},
	}
	a.Acts = append(a.Acts, act)
	for _, e := range p.tells {
		a.OnCommit(func() ubl.Event {
			e.TenantID, e.TS, e.LedgerSeq = x.id, now, act.Receipt.Seq+1
			return e
		})
	}
	return x.store(a, act, now, req, p.event)
}

// store numbers an event and adds its record, sealed with the act's receipt.
func (x *Tenant) store(a *actors.Append, act *actors.Act, now ubl.Time, req ubl.Request, e event) event {
	e.Version, e.N, e.At, e.By = eventVersion, x.state.Events+1, now, req.Who.UserID
	a.Move(eventCounter(), e.N-1, e.N)
	x.save(a)
	a.Records = append(a.Records, actors.Record{Key: eventKey(e.N), Seal: func() []byte {
		stored := e
		stored.Receipt = act.Receipt
		b, err := json.Marshal(stored)
		if err != nil { // an event holds only strings, numbers and times
			panic(fmt.Sprintf("tenant: couldn't encode an event: %v", err))
		}
		return b
	}})
	return e
}

// outcome is what a caller is answered for an event just applied.
func (x *Tenant) outcome(e event) any { return outcomeOf(&x.state, e) }

func outcomeOf(s *State, e event) any {
	switch {
	case e.Container != nil:
		return &ubl.ContainerMade{Container: *e.Container, Receipt: e.Receipt}
	case e.Did == ubl.DidToolAccess:
		return e.toolAccess()
	case e.Passkey != nil:
		return &e.Passkey.Passkey
	case e.Access != nil:
		record := s.Tools[e.Access.Tool].Agreement
		return record.View(nil)
	}
	switch e.Did {
	case ubl.DidDomainClaim, ubl.DidDomainVerify, ubl.DidDomainRelease:
		return e.Domain
	case ubl.DidTenantUpdate:
		tenant := s.Tenant
		return &tenant
	case ubl.DidRoomCreate:
		return e.Room
	case ubl.DidTokenRenew:
		return &ubl.ServiceRenewed{Token: e.Service.ServiceToken, SecretHash: e.Service.SecretHash}
	case ubl.DidTokenCreate, ubl.DidTokenRevoke:
		return &e.Service.ServiceToken
	case ubl.DidInvitationCreate, ubl.DidInvitationRevoke:
		return &e.Invitation.Invitation
	case ubl.DidInvitationAccept:
		return e.Invitation.invitee()
	case ubl.DidAgreementEnd:
		return s.License.View(nil)
	case ubl.DidPlatformTokenCreate, ubl.DidPlatformTokenRenew, ubl.DidPlatformTokenRevoke, ubl.DidPlatformLinkCreate, ubl.DidPlatformHomeSet:
		return nil
	case ubl.DidPlatformTokenRevokeAll:
		return len(e.Revoked)
	}
	return e.Member
}

// pastOutcome answers a retry with the event that the key led to. Where the
// answer is of the whole tenant or record, the events up to that one are
// replayed, so that it is the one given then.
func (x *Tenant) pastOutcome(ctx context.Context, n int64) (any, error) {
	page, err := x.stored().Page(ctx, n, 1)
	if err == nil && len(page) == 0 {
		err = errOutcome()
	}
	if err != nil {
		return nil, err
	}
	var s State
	if e := page[0]; e.Did == ubl.DidTenantUpdate || e.Did == ubl.DidAgreementEnd {
		err = x.eachEvent(ctx, n, s.apply)
	}
	return outcomeOf(&s, page[0]), err
}

func errOutcome() error { return ubl.Errorf(ubl.CodeInternal, "the outcome of a key is missing") }
