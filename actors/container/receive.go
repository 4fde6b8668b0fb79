package container

import (
	"ubl"
	"ubl/actors"
)

// decideCredit plans the arrival of issued credits. That they may be made is the
// TenantLicense's to say, and so the act is under it.
func (c *Container) decideCredit(cmd ubl.Credit) func(ubl.Time) (*plan, error) {
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

// takeIn decides an arrival once: a retry is answered alike. Its key is forgotten
// some day, the record of its end never, or an old transfer could arrive twice.
func (c *Container) takeIn(t *actors.Turn, cmd ubl.TakeIn) {
	key := actors.NewKey(ubl.DidReceive, ubl.Request{Key: string(cmd.TransferID)}, string(cmd.From))
	var n int64
	ref, err := c.keys.Find(t.Context(), key)
	if ref != nil {
		n = ref.N
	} else if err == nil {
		n, err = c.ended(t.Context(), cmd.TransferID)
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
func (c *Container) receiving(cmd ubl.TakeIn, now ubl.Time) (*plan, error) {
	x := transfer{ID: cmd.TransferID, From: cmd.From, To: c.id, Op: cmd.Op, Amount: cmd.Amount}
	p := &plan{event: event{Did: ubl.DidReceive, Transfer: &x}}
	told := x // the document as it was sent: it may be another here
	if cmd.Document != nil {
		told.Document = &document{ID: cmd.Document.DocumentID, Hash: cmd.Document.ContentHash, Version: cmd.Document.Version}
	}
	p.this = told.fields()
	if err := c.mayReceive(cmd); err != nil {
		e := ubl.AsError(err)
		p.event.Refused, p.status = &refusal{e.Code, e.Message}, ubl.StatusDenied
		return p, nil
	}
	effect := ubl.Fields{ubl.Str("from", x.From), ubl.Str("op", "transfer.received"), ubl.Str("transfer_id", x.ID)}
	if x.Amount > 0 {
		effect = append(effect, ubl.Int("amount", x.Amount))
	}
	if cmd.Document != nil && c.state.keeps() {
		d, err := c.received(cmd, now)
		if err != nil {
			return nil, err
		}
		p.event.Document, p.event.Arrived = &d, d.ID
		p.records = []actors.Record{c.keep(d, cmd.Document.Content)}
		effect = append(effect, ubl.Str("document_id", d.ID), ubl.Int("version", d.Version))
	}
	p.effects = []ubl.Fields{effect}
	return p, nil
}

func (c *Container) mayReceive(cmd ubl.TakeIn) error {
	op := ubl.OpCreate
	if cmd.Amount > 0 {
		op = ubl.OpDeposit
	}
	if err := c.state.may(cmd.Who, op); err != nil {
		return err
	}
	if err := cmd.Physics.Converts(c.state.Summary.Physics); err != nil {
		return err
	}
	if cmd.Document != nil {
		if _, here := c.state.Documents[cmd.Document.DocumentID]; here && cmd.Op == ubl.OpTransfer {
			return ubl.Errorf(ubl.CodeConflict, "the document is in this container already")
		}
	}
	return c.state.room(cmd.Amount)
}

// received is the version that an arrival makes: the next one of a strict document,
// which stays itself, and the first one of a new document otherwise.
func (c *Container) received(cmd ubl.TakeIn, now ubl.Time) (document, error) {
	sent := cmd.Document
	if cmd.Op != ubl.OpTransfer {
		id, err := ubl.NewDocumentID(c.env.Random)
		return newDocument(id, sent.Title, sent.Content, now, cmd.Who.UserID), err
	}
	n := sent.Version + 1
	return document{
		ID: sent.DocumentID, Title: sent.Title, Hash: sent.ContentHash, Bytes: sent.Bytes, Version: n, Text: n,
		CreatedAt: sent.CreatedAt, CreatedBy: sent.CreatedBy, UpdatedAt: now, UpdatedBy: cmd.Who.UserID,
	}, nil
}
