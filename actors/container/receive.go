package container

import (
	"time"

	"ubl"
	"ubl/actors"
)

// decideCredit plans the arrival of issued credits. That they may be made is the
// TenantLicense's to say, and so the act is under it.
func (c *Container) decideCredit(cmd actors.Credit) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := c.state.may(cmd.Who, ubl.OpDeposit); err != nil {
			return nil, err
		}
		if cmd.Amount < 1 || cmd.Amount > ubl.MaxCredits {
			return nil, errAmount()
		}
		if err := c.state.room(cmd.Amount); err != nil {
			return nil, err
		}
		this := ubl.Fields{ubl.Int("amount", cmd.Amount), ubl.Str("container_id", c.id)}
		return &plan{
			agreement: ubl.TenantAgreement(c.tenant),
			event:     event{Amount: cmd.Amount, Balance: c.state.Balance + cmd.Amount},
			this:      this,
			effects:   []ubl.Fields{append(ubl.Fields{ubl.Str("op", ubl.DidCreditsIssue)}, this...)},
		}, nil
	}
}

// room refuses credits beyond what a container holds. What is in transit counts,
// since it may come back.
func (s *State) room(amount int64) error {
	if amount > ubl.MaxCredits-s.Balance-s.InTransit {
		return ubl.Errorf(ubl.CodeConflict, "the container would hold too many credits")
	}
	return nil
}

// takeIn is a transfer's arrival; only the source's side sends it, any number of
// times. Answers *ubl.TransferResult, or the refusal, which is final.
type takeIn struct {
	ubl.Request
	id       ubl.TransferID
	from     ubl.ContainerID
	departed ubl.Time
	physics  ubl.Physics // of the source
	op       ubl.Operation
	amount   int64
	document *ubl.Document // with its content
}

// Cost is that of the act and of what arrives.
func (c takeIn) Cost() int {
	if c.document != nil {
		return ubl.ActCost + 2*len(c.document.Content)
	}
	return ubl.ActCost
}

// arrivalsKnown is how long after its departure the key of a transfer tells whether
// it has arrived. Keys are kept for longer: the clocks of two nodes may differ.
const arrivalsKnown = 23 * time.Hour

// takeIn decides an arrival once: a retry is answered alike. Its key is forgotten
// some day, the record of its end never, or an old transfer could arrive twice. The
// mailbox reads that record only where the key could have been forgotten.
func (c *Container) takeIn(t *actors.Turn, cmd takeIn) {
	key := actors.NewKey(ubl.DidReceive, ubl.Request{Key: string(cmd.id)}, string(cmd.from))
	var n int64
	ref, err := c.keys.Find(t.Context(), key)
	if ref != nil {
		n = ref.N
	} else if err == nil && cmd.departed < t.Now().Add(-arrivalsKnown) {
		n, err = c.ended(t.Context(), cmd.id)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	if n > 0 {
		c.later(t, n)
		return
	}
	p, err := c.receiving(cmd, t.Now())
	if err != nil {
		t.Fail(err)
		return
	}
	c.later(t, c.commit(t, cmd.Request, p, &key))
}

// receiving plans what comes of an arrival. A refusal is a plan too: it must be on
// record before the source brings back what it sent.
func (c *Container) receiving(cmd takeIn, now ubl.Time) (*plan, error) {
	x := transfer{ID: cmd.id, From: cmd.from, To: c.id, Op: cmd.op, Amount: cmd.amount}
	p := &plan{event: event{Did: ubl.DidReceive, Transfer: &x}}
	told := x // the document as it was sent: it may be another here
	if d := cmd.document; d != nil {
		told.Document = &document{ID: d.DocumentID, Hash: d.ContentHash, Version: d.Version}
	}
	p.this = told.fields()
	if err := c.mayReceive(cmd); err != nil {
		e := ubl.AsError(err)
		p.event.Refused, p.status = &refusal{e.Code, e.Message}, ubl.StatusDenied
		p.agreement = c.state.under(cmd.Who)
		return p, nil
	}
	effect := ubl.Fields{ubl.Str("from", x.From), ubl.Str("op", "transfer.received"), ubl.Str("transfer_id", x.ID)}
	if x.Amount > 0 {
		effect = append(effect, ubl.Int("amount", x.Amount))
	}
	if cmd.document != nil && c.state.keeps() {
		d, err := c.received(cmd, now)
		if err != nil {
			return nil, err
		}
		p.event.Document, p.event.Arrived = &d, d.ID
		p.records = []actors.Record{c.keep(d, cmd.document.Content)}
		effect = append(effect, ubl.Str("document_id", d.ID), ubl.Int("version", d.Version))
	}
	p.effects = []ubl.Fields{effect}
	return p, nil
}

func (c *Container) mayReceive(cmd takeIn) error {
	op := ubl.OpCreate
	if cmd.amount > 0 {
		op = ubl.OpDeposit
	}
	if err := c.state.may(cmd.Who, op); err != nil {
		return err
	}
	if err := cmd.physics.Converts(c.state.Summary.Physics); err != nil {
		return err
	}
	if cmd.document != nil && cmd.op == ubl.OpTransfer {
		if n, _ := c.state.known(cmd.document.DocumentID); n > 0 {
			return ubl.Errorf(ubl.CodeConflict, "the document is in this container already")
		}
	}
	return c.state.room(cmd.amount)
}

// received is the version that an arrival makes: the next one of a strict document,
// which stays itself, and the first one of a new document otherwise.
func (c *Container) received(cmd takeIn, now ubl.Time) (document, error) {
	sent := cmd.document
	if cmd.op != ubl.OpTransfer {
		id, err := ubl.NewDocumentID(c.env.Random)
		return newDocument(id, sent.Title, sent.Content, now, cmd.Who.UserID), err
	}
	n := sent.Version + 1
	return document{
		ID: sent.DocumentID, Title: sent.Title, Hash: sent.ContentHash, Bytes: sent.Bytes, Version: n, Text: n,
		CreatedAt: sent.CreatedAt, CreatedBy: sent.CreatedBy, UpdatedAt: now, UpdatedBy: cmd.Who.UserID,
	}, nil
}
