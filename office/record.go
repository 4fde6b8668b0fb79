package office

import (
	"context"
	"encoding/json"
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
	var err error
	if c.Attempt, err = ubl.NewRequestID(o.Random); err != nil {
		return nil, err
	}
	ticket, err := ubl.Ask[*ubl.CallTicket](ctx, o.Asker, ubl.PortalName(c.Who.TenantID), c)
	if err == nil {
		err = ticket.Repeated()
	}
	if err != nil {
		return nil, err
	}
	return &recorded{o: o, req: c.Request, ticket: ticket, began: began}, nil
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
	if err := ubl.Conclude(ctx, r.o.Asker, c); err != nil {
		r.o.Log.Error("couldn't put the effect of a call on record", "request_id", r.req.ID, "n", c.N, "error", err)
		return err
	}
	return failed
}

// canonical is a value as canonical JSON.
func canonical(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeInternal, "couldn't hash what is put on record").Because(err)
	}
	return data, nil
}
