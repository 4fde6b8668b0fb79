package container

import (
	"time"

	"ubl"
	"ubl/actors"
)

// Credit puts issued credits into a Container. It makes credits out of nothing, so
// only the Tenant sends it, which has asked who may; the family doesn't list it, so that
// it comes from no other node. Answers *ubl.Balance.
type Credit struct {
	ubl.Request
	Amount int64
}

// Cost is one act.
func (Credit) Cost() int { return ubl.ActCost }

// Crediting is a Tenant's way to the command, which is not its own.
func Crediting(req ubl.Request, amount int64) ubl.Command {
	return Credit{Request: req, Amount: amount}
}

// decideCredit plans the arrival of issued credits. That they may be made is the
// TenantLicense's to say, and so the act is under it.
func (s *State) decideCredit(cmd Credit, _ actors.Moment) (*plan, error) {
	if err := s.there(cmd.Who, true); err != nil {
		return nil, err
	}
	if err := s.Agreement.May(ubl.OpDeposit); err != nil {
		return nil, err
	}
	if cmd.Amount < 1 || cmd.Amount > ubl.MaxCredits {
		return nil, errAmount()
	}
	if err := s.room(cmd.Amount); err != nil {
		return nil, err
	}
	this := ubl.Fields{ubl.Int("amount", cmd.Amount), ubl.Str("container_id", s.Summary.ContainerID)}
	return &plan{
		Act: actors.Act{
			Agreement: ubl.TenantAgreement(s.Agreement.TenantID), This: this,
			Effects: []ubl.Fields{append(ubl.Fields{ubl.Str("op", ubl.DidCreditsIssue)}, this...)},
		},
		Event: event{Amount: cmd.Amount, Balance: s.Balance + cmd.Amount},
	}, nil
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
	files    []file        // that it holds
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
	ref, err := c.Keys.Find(t.Context(), key)
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
		ctx := t.Context()
		t.Later(func() (any, error) { return c.Past(ctx, n) })
		return
	}
	p, err := c.State.decideTakeIn(cmd, c.Moment(t))
	if err != nil {
		t.Fail(err)
		return
	}
	t.Later(c.Enact(t, c.Following(ubl.DidReceive, cmd.Request, p), &key))
}

// decideTakeIn plans what comes of an arrival. A refusal is a plan too: it must be on
// record before the source brings back what it sent.
func (s *State) decideTakeIn(cmd takeIn, at actors.Moment) (*plan, error) {
	x := transfer{ID: cmd.id, From: cmd.from, To: s.Summary.ContainerID, Op: cmd.op, Amount: cmd.amount}
	p := &plan{Event: event{Transfer: &x}}
	told := x // the document as it was sent: it may be another here
	if d := cmd.document; d != nil {
		told.Document = &document{ID: d.DocumentID, Hash: d.ContentHash, Salt: d.Salt, Version: d.Version}
		told.Files = cmd.files
	}
	p.This = told.fields()
	if err := s.mayReceive(cmd); err != nil {
		e := ubl.AsError(err)
		p.Event.Refused, p.Status = &refusal{e.Code, e.Message}, ubl.StatusDenied
		p.Error = p.Event.Refused.told()
		return p, nil
	}
	effect := ubl.Fields{ubl.Str("from", x.From), ubl.Str("op", "transfer.received"), ubl.Str("transfer_id", x.ID)}
	var held []ubl.Fields
	if x.Amount > 0 {
		effect = append(effect, ubl.Int("amount", x.Amount))
	}
	if cmd.document != nil && s.keeps() {
		d, err := s.received(cmd, at)
		if err != nil {
			return nil, err
		}
		p.Event.Document, p.Event.Arrived = &d, d.ID
		p.Records = []actors.Record{s.keep(d, cmd.document.Content)}
		effect = append(effect, ubl.Str("document_id", d.ID), ubl.Int("version", d.Version))
		if p.Event.Files, err = s.receivedFiles(cmd, d.ID, at); err != nil {
			return nil, err
		}
		for _, f := range p.Event.Files {
			held = append(held, append(s.naming(f), ubl.Str("content_hash", f.Salt.Commit(f.Blob.Sum())), ubl.Str("name_hash", f.Salt.CommitText("name", f.Name)), ubl.Str("op", "file.put")))
		}
	}
	p.Effects = append([]ubl.Fields{effect}, held...)
	return p, nil
}

func (s *State) mayReceive(cmd takeIn) error {
	op := ubl.OpCreate
	if cmd.amount > 0 {
		op = ubl.OpDeposit
	}
	if err := s.may(cmd.Who, ubl.DidReceive, op); err != nil {
		return err
	}
	if err := cmd.physics.Converts(s.Summary.Physics); err != nil {
		return err
	}
	if cmd.document != nil {
		if err := s.fits(ubl.DidReceive, cmd.document.Content); err != nil {
			return err
		}
	}
	if cmd.document != nil && cmd.op == ubl.OpTransfer {
		if n, _ := s.known(cmd.document.DocumentID); n > 0 {
			return ubl.Errorf(ubl.CodeConflict, "the document is in this container already")
		}
	}
	if err := s.mayTakeFiles(cmd.files); err != nil {
		return err
	}
	return s.room(cmd.amount)
}

// received is the version that an arrival makes: the next one of a strict document,
// which stays itself, and the first one of a new document otherwise.
func (s *State) received(cmd takeIn, at actors.Moment) (document, error) {
	sent := cmd.document
	if cmd.op != ubl.OpTransfer {
		id, err := ubl.NewDocumentID(at.Now, s.Events+1, at.Random)
		if err != nil {
			return document{}, err
		}
		salt := sent.Salt // of what passed through nothing else has it; a copy gets one of its own
		if cmd.op != ubl.OpPass || salt.IsZero() {
			salt, err = ubl.NewSalt(at.Random)
		}
		d := newDocument(id, sent.Title, sent.Content, salt, at.Now, cmd.Who.UserID)
		d.First = s.Events + 1
		return d, err
	}
	n := sent.Version + 1
	return document{
		ID: sent.DocumentID, Title: sent.Title, Hash: sent.ContentHash, Salt: sent.Salt, Bytes: sent.Bytes, Version: n, Text: n,
		CreatedAt: sent.CreatedAt, CreatedBy: sent.CreatedBy, UpdatedAt: at.Now, UpdatedBy: cmd.Who.UserID,
	}, nil
}
