package container

import (
	"context"
	"fmt"
	"time"

	"ubl"
	"ubl/actors"
)

// knock asks a Container whether it is there for someone who brings credits or
// something else. What is refused here leaves no trace: a container that the caller
// may not know of is like one that never was.
type knock struct {
	ubl.Request
	credits bool
}

// Cost is 0: it reads.
func (knock) Cost() int { return 0 }

// there answers a knock. What takes credits is there for everyone of the tenant.
func (s *State) there(who ubl.Identity, credits bool) error {
	if credits && who.TenantID == s.Agreement.TenantID {
		return nil
	}
	return s.look(who)
}

// depart is a Transfer whose target is known to be there.
type depart struct{ ubl.Transfer }

// transfer checks what can be checked here, knocks at the target, and then lets
// depart. A retry goes the same way, but for the knock: depart finds its key.
func (c *Container) transfer(t *actors.Turn, cmd ubl.Transfer) {
	var err error
	again := c.Knows(t, depart{cmd})
	if !again {
		var x transfer
		if x, err = c.State.leaving(cmd); err == nil {
			err = c.mayCopyFiles(cmd, x)
		}
	}
	t.Read(err, func(ctx context.Context) (any, error) {
		if !again {
			at := knock{Request: cmd.Request, credits: cmd.Amount > 0}
			if _, err := c.Ask.Ask(ctx, ubl.ContainerName(c.tenant, cmd.To), at); err != nil {
				return nil, err
			}
		}
		return c.Ask.Ask(ctx, c.Name, depart{cmd})
	})
}

// transferContent tells one transfer from another under the same key.
func transferContent(cmd ubl.Transfer) []string {
	return []string{string(cmd.To), fmt.Sprint(cmd.Amount), string(cmd.DocumentID), cmd.Title, cmd.Content}
}

// maxPending is the most transfers under way from one container: they are in memory,
// in its snapshot, and each has an alarm.
const maxPending = 1000

// carryAfter is how long after its departure a transfer is carried on, where its caller
// has not done so.
const carryAfter = 10 * time.Second

// leaving is what a transfer takes away, or why it may not. It has no id yet.
func (s *State) leaving(cmd ubl.Transfer) (transfer, error) {
	id := s.Summary.ContainerID
	x := transfer{From: id, To: cmd.To, Op: s.Summary.Physics.Leaving(), Amount: cmd.Amount}
	if err := s.may(cmd.Who, ubl.DidTransfer, x.Op); err != nil {
		return x, err
	}
	switch {
	case !cmd.To.Valid():
		return x, ubl.Errorf(ubl.CodeValidation, "the target is not the id of a container")
	case cmd.To == id:
		return x, ubl.Errorf(ubl.CodeValidation, "the target is the source")
	case len(s.Pending) >= maxPending:
		return x, ubl.Errorf(ubl.CodeOverloaded, "too many transfers of this container are under way")
	case s.Summary.Physics.Topology == ubl.Values:
		return x, s.leavingCredits(cmd)
	case cmd.Amount != 0:
		return x, ubl.Errorf(ubl.CodeValidation, "this container has no credits: name what is to leave")
	case x.Op == ubl.OpPass:
		return passing(x, cmd)
	}
	if cmd.Title != "" || cmd.Content != "" {
		return x, ubl.Errorf(ubl.CodeValidation, "only what passes through brings its own title and content")
	}
	d, err := s.current(cmd.DocumentID)
	if err == nil && d.Published != nil && x.Op == ubl.OpTransfer {
		err = ubl.Errorf(ubl.CodeConflict, "the document is published from %s, and stays until it is removed there", d.Published.Path)
	}
	if err == nil {
		x.Files, err = s.leavingFiles(d.ID)
	}
	x.Document = &d
	return x, err
}

func (s *State) leavingCredits(cmd ubl.Transfer) error {
	switch {
	case cmd.DocumentID != "" || cmd.Title != "" || cmd.Content != "":
		return ubl.Errorf(ubl.CodeValidation, "this container has only credits: name an amount")
	case cmd.Amount < 1 || cmd.Amount > ubl.MaxCredits:
		return errAmount()
	case cmd.Amount > s.Balance:
		return ubl.Errorf(ubl.CodeConflict, "there are not enough credits in the container")
	}
	return nil
}

func errAmount() error {
	return ubl.Errorf(ubl.CodeValidation, "the amount is not between 1 and %d", int64(ubl.MaxCredits))
}

// passing is what goes through a container that keeps nothing: the event has the
// commitment to it, and its text is kept aside until it has arrived.
func passing(x transfer, cmd ubl.Transfer) (transfer, error) {
	if cmd.DocumentID != "" {
		return x, ubl.Errorf(ubl.CodeValidation, "nothing is inside a container that everything passes through")
	}
	_, err := checkNew(cmd.Title, cmd.Content)
	x.Document = &document{Bytes: int64(len(cmd.Content))}
	return x, err
}

// decideTransfer plans the departure.
func (s *State) decideTransfer(cmd depart, at actors.Moment) (*plan, error) {
	x, err := s.leaving(cmd.Transfer)
	if err != nil {
		return nil, err
	}
	if x.ID, err = ubl.NewTransferID(at.Random); err != nil {
		return nil, err
	}
	if x.Op == ubl.OpPass {
		if x.Document.Salt, err = ubl.NewSalt(at.Random); err != nil {
			return nil, err
		}
		x.Document.Hash = x.Document.Salt.CommitText("content", cmd.Content)
	}
	x.Email, x.IsService, x.RequestID = cmd.Who.Email, cmd.Who.IsService, cmd.ID
	p := &plan{
		Act: actors.Act{This: x.fields(), Status: ubl.StatusIntended}, Event: event{Transfer: &x},
		Alarms: []actors.Alarm{{Key: string(x.ID), After: carryAfter}},
	}
	if x.Op == ubl.OpPass {
		title, _ := checkNew(cmd.Title, cmd.Content) // leaving has
		p.Records = []actors.Record{{
			Key:   textKey(x.From, string(x.ID), 0),
			Value: encode(text{Form: recordVersion, Title: title, Content: cmd.Content}),
		}}
	}
	return p, nil
}

// fields is a transfer as both its acts tell it.
func (x transfer) fields() ubl.Fields {
	f := ubl.Fields{
		ubl.Str("from", x.From), ubl.Str("op", x.Op), ubl.Str("to", x.To), ubl.Str("transfer_id", x.ID),
	}
	if x.Amount > 0 {
		f = append(f, ubl.Int("amount", x.Amount))
	}
	if d := x.Document; d != nil {
		f = append(f, ubl.Str("content_hash", d.Hash))
		if d.ID != "" {
			f = append(f, ubl.Str("document_id", d.ID), ubl.Int("version", d.Version))
		}
		if len(x.Files) > 0 {
			f = append(f, ubl.Int("files", int64(len(x.Files))), ubl.Str("files_hash", filesHash(x.Files)))
		}
	}
	return f
}
