package container

import (
	"context"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// settle ends a transfer at its source: arrived, or refused by the target with the
// code, which brings it back. Only the source's side sends it. Answers
// *ubl.TransferResult.
type settle struct {
	ubl.Request
	id      ubl.TransferID
	action  ubl.Receipt // of the departure, which is to be closed
	refused ubl.Code    // "" where it arrived
	arrived *ubl.TransferResult
}

// Cost is one act.
func (settle) Cost() int { return ubl.ActCost }

// carry takes a transfer that has departed to its end, from wherever it is. What leaves
// it under way fails as told says.
func (c *Container) carry(ctx context.Context, e event, told func(error) error) (any, error) {
	n, err := c.ended(ctx, e.Transfer.ID)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		return c.Past(ctx, n)
	}
	in, err := c.arrival(ctx, e)
	if err != nil {
		return nil, err
	}
	arrived, err := ubl.Ask[*ubl.TransferResult](ctx, c.Ask, ubl.ContainerName(c.tenant, e.Transfer.To), in)
	end := settle{Request: in.Request, id: in.id, action: e.Receipt, arrived: arrived}
	if err != nil {
		if end.refused = ubl.CodeOf(err); !final(end.refused) {
			return nil, told(err)
		}
	}
	answer, err := c.Ask.Ask(ctx, c.Name, end)
	if err != nil && !final(ubl.CodeOf(err)) {
		err = told(err)
	}
	return answer, err
}

// final tells a target's refusal, which is on its record, from an error after which
// it may still take the transfer in.
func final(code ubl.Code) bool {
	switch code {
	case ubl.CodeForbidden, ubl.CodeNotFound, ubl.CodeConflict, ubl.CodeValidation, ubl.CodeTooLarge:
		return true
	}
	return false
}

// errUnderWay hides codes that would say that nothing was done.
func errUnderWay(cause error) error {
	return ubl.Errorf(ubl.CodeUnavailable, "the transfer has departed and not arrived yet; the same key settles it").Because(cause)
}

// arrival is what the target is told: the same at each attempt.
func (c *Container) arrival(ctx context.Context, e event) (takeIn, error) {
	x := e.Transfer
	in := takeIn{
		Request: ubl.Request{
			Who: ubl.Identity{UserID: e.By, Email: x.Email, IsService: x.IsService, TenantID: c.tenant},
			ID:  x.RequestID, Key: string(x.ID),
		},
		id: x.ID, from: x.From, departed: e.At, physics: c.physics, op: x.Op, amount: x.Amount,
	}
	if x.Document == nil {
		return in, nil
	}
	in.document, in.files = c.document(*x.Document), x.Files
	of, n := string(x.Document.ID), x.Document.Text
	if x.Op == ubl.OpPass {
		of, n = string(x.ID), 0
	}
	var v []byte
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) (err error) {
		v, err = c.readText(snap, of, n)
		return err
	})
	if err != nil {
		return in, err
	}
	stored, err := decodeText(v)
	in.document.Content = stored.Content
	if x.Op == ubl.OpPass {
		in.document.Title = stored.Title
	}
	return in, err
}

// settle ends a transfer with the effect of its action. Only the first one does:
// each later one is answered alike.
func (c *Container) settle(t *actors.Turn, cmd settle) {
	if d, ok := c.State.Pending[cmd.id]; ok {
		t.Later(c.Enact(t, c.Following(ubl.DidTransfer, cmd.Request, settling(d.transfer, cmd)), nil))
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		n, err := c.ended(ctx, cmd.id)
		if err == nil && n == 0 {
			err = ubl.Errorf(ubl.CodeNotFound, "there is no such transfer")
		}
		if err != nil {
			return nil, err
		}
		return c.Past(ctx, n)
	})
}

// settling closes the action: as arrived, or as an error that brings back what had
// left.
func settling(x transfer, cmd settle) *plan {
	p := &plan{
		Act: actors.Act{Closes: &cmd.action}, Event: event{Transfer: &x, Action: &cmd.action},
		Alarms: []actors.Alarm{{Key: string(x.ID)}},
	}
	if x.Op == ubl.OpPass {
		p.Records = []actors.Record{{Key: textKey(x.From, string(x.ID), 0)}}
	}
	if cmd.refused != "" {
		p.Event.Refused = &refusal{cmd.refused, "the target refused the transfer, which was brought back"}
		p.Error = p.Event.Refused.told()
		return p
	}
	effect := ubl.Fields{ubl.Str("op", "transfer.arrived"), ubl.Str("to", x.To), ubl.Str("transfer_id", x.ID)}
	if x.Amount > 0 {
		effect = append(effect, ubl.Int("amount", x.Amount))
	}
	if at := cmd.arrived; at != nil && at.DocumentID != "" {
		p.Event.Arrived = at.DocumentID
		effect = append(effect, ubl.Str("document_id", at.DocumentID))
	}
	p.Effects = []ubl.Fields{effect}
	return p
}

// transferOutcome is how a transfer ended, for its source or its target.
func transferOutcome(e event, receipt ubl.Receipt) (any, error) {
	if e.Refused != nil {
		return nil, e.Refused.err()
	}
	x := e.Transfer
	out := &ubl.TransferResult{
		TransferID: x.ID, From: x.From, To: x.To, Op: x.Op, Amount: x.Amount, DocumentID: e.Arrived, Receipt: receipt,
	}
	if x.Op == ubl.OpPass && x.Document != nil {
		out.Salt = x.Document.Salt
	}
	return out, nil
}

// errand is what an alarm leads to: the Agreement's end, or a transfer is carried on. Of one that has failed
// the alarm is told why, to try again.
func (c *Container) errand(key string, req ubl.Request) func(context.Context) error {
	if key == agreement.TermAlarm {
		return c.State.Agreement.Lapse(c.Ask, c.Name, req)
	}
	if errand, ok := agreement.FinishAgents(key, &c.State.Agreement.Agreement, c.Ask, c.Name, req); ok {
		return errand
	}
	if key == redactSoon.Key {
		return c.redactLeft(req)
	}
	d, ok := c.State.Pending[ubl.TransferID(key)]
	if !ok {
		return nil
	}
	return func(ctx context.Context) error {
		page, err := c.Events().Page(ctx, d.N, 1)
		if err != nil || len(page) == 0 {
			return err
		}
		_, err = c.carry(ctx, page[0], func(cause error) error { return cause })
		if final(ubl.CodeOf(err)) { // it was brought back
			return nil
		}
		return err
	}
}

// pendingKey is what versions before alarms had while anything was under way, for a
// walk over all tenants.
func pendingKey(c ubl.ContainerID) []byte { return append([]byte{'v'}, c...) }

// unarmed lists the containers with such a key. What is about a room's entries lies under the same
// byte, before the ids of rooms.
func unarmed(snap ubl.Snapshot) (locals []string, err error) {
	for _, kind := range []ubl.ContainerID{"k:", "w:"} {
		from := pendingKey(kind)
		to := append(pendingKey(kind[:1]), ':'+1)
		if err := snap.Ascend(from, to, func(k, _ []byte) bool {
			locals = append(locals, string(k[1:]))
			return true
		}); err != nil {
			return nil, err
		}
	}
	return locals, nil
}

// adopt arms what is under way, and ends the key.
func (s *State) adopt(at actors.Moment) (alarms []actors.Alarm, records []actors.Record) {
	for _, d := range s.underWay() {
		alarms = append(alarms, actors.Alarm{Key: string(d.ID), At: at.Now})
	}
	return alarms, []actors.Record{{Key: pendingKey(s.Summary.ContainerID)}}
}
