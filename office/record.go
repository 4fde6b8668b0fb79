package office

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"ubl"
)

// recorded is a call outside that is on record: begun, and once to be ended.
type recorded struct {
	o      *Office
	req    ubl.Request
	ticket *ubl.CallTicket
	began  time.Time
}

// begin puts the intent of a call on record. The command lacks only what is the
// same for all.
func (o *Office) begin(ctx context.Context, c ubl.BeginCall) (*recorded, error) {
	began := o.Now()
	c.Deadline = ubl.TimeOf(began.Add(o.Timeout + grace))
	ticket, err := ubl.Ask[*ubl.CallTicket](ctx, o.Asker, ubl.PortalName(c.Who.TenantID), c)
	switch {
	case err != nil:
		return nil, err
	case ticket.Again:
		return nil, again(ticket)
	}
	return &recorded{o: o, req: c.Request, ticket: ticket, began: began}, nil
}

// again refuses to make a call a second time.
func again(t *ubl.CallTicket) error {
	e := ubl.Errorf(ubl.CodeConflict, "the call was made with this key before, and its answer is not kept: details tells how it went")
	if t.Status == string(ubl.StatusIntended) {
		e = ubl.Errorf(ubl.CodeUnavailable, "the call was begun with this key before, and has not ended yet")
	}
	e.Details = map[string]string{
		"n": strconv.FormatInt(t.N, 10), "seq": strconv.FormatInt(t.Receipt.Seq, 10), "status": t.Status,
	}
	return e
}

// end puts the effect on record, also for a caller that has gone. failed is how
// the call ended, nil for well. The error is what the caller gets.
func (r *recorded) end(ctx context.Context, c ubl.EndCall, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	c.Request, c.N, c.DurationMS = r.req, r.ticket.N, r.o.Now().Sub(r.began).Milliseconds()
	if failed != nil {
		e := ubl.AsError(failed)
		c.Code, c.Message = e.Code, e.Message
	}
	if err := r.tell(ctx, c); err != nil {
		r.o.Log.Error("couldn't put the effect of a call on record", "request_id", r.req.ID, "n", c.N, "error", err)
		return ubl.Errorf(ubl.CodeUnavailable, "the call was made, and its effect couldn't be put on record").Because(err)
	}
	return failed
}

// tell tries until it is on record or the time is over.
func (r *recorded) tell(ctx context.Context, c ubl.EndCall) error {
	for {
		_, err := ubl.Ask[*ubl.Call](ctx, r.o.Asker, ubl.PortalName(r.req.Who.TenantID), c)
		if code := ubl.CodeOf(err); code != ubl.CodeUnavailable && code != ubl.CodeOverloaded {
			return err
		}
		timer := time.NewTimer(endAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// hash is the hash of a value as canonical JSON.
func hash(v any) (string, error) {
	data, err := json.Marshal(v)
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	if err != nil {
		return "", ubl.Errorf(ubl.CodeInternal, "couldn't hash what is put on record").Because(err)
	}
	return ubl.BodyHash(data), nil
}
