package portal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

const (
	// maxOpen bounds calls under way: all of a ledger's open actions must fit into
	// the memory of whoever checks it.
	maxOpen = 10_000
	// maxDeadline is how long a call may take at most.
	maxDeadline = time.Hour
	// maxTokens is the most that one call may ask of a model.
	maxTokens = 1 << 30
)

// begin puts the intent of a call on record, or its refusal. The key comes before
// everything that may have changed since the first attempt.
func (x *Portal) begin(t *actors.Turn, c ubl.BeginCall) {
	key := actors.NewKey(c.Did, c.Request, c.Server, c.Capability, c.InputHash, c.Parent)
	ref, err := x.keys.Find(t.Context(), key)
	if err == nil && ref == nil {
		err = cmp.Or(x.checkBegin(t.Now(), c), x.env.Usage.May(c.Who, c.Did))
	}
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil:
		x.beginAgain(t, c, ref.N)
	default:
		if refusal := x.refuses(t.Now(), c); refusal != nil {
			x.deny(t, c, ubl.AsError(refusal))
		} else {
			x.intend(t, c, key)
		}
	}
}

// refuses says why a call that is well formed may not be made.
func (x *Portal) refuses(now ubl.Time, c ubl.BeginCall) error {
	switch c.Server {
	case ubl.ModelServer:
		return x.spends(now, c.Tokens)
	case ubl.OwnServer:
		return nil
	}
	if _, err := x.enabled(c.Server); err != nil {
		return err
	}
	tool := x.state.Tools[c.Capability]
	switch {
	case tool == nil || tool.ServerID != c.Server:
		return ubl.Errorf(ubl.CodeNotFound, "there is no such tool")
	case tool.Gone:
		return ubl.Errorf(ubl.CodeNotFound, "the server lists this tool no more")
	case !tool.Callable():
		return ubl.Errorf(ubl.CodeForbidden, "the tool's definition has changed and waits for an owner's approval")
	}
	return nil
}

// deny puts a refusal on record, once for an attempt, and answers it.
func (x *Portal) deny(t *actors.Turn, c ubl.BeginCall, why *ubl.Error) {
	a := &actors.Append{}
	if c.Attempt != "" {
		key := actors.NewKey(ubl.DidToolDeny, ubl.Request{Who: c.Who, Key: c.Attempt})
		ref, err := x.keys.Find(t.Context(), key)
		if err != nil {
			t.Fail(err)
			return
		}
		if ref != nil {
			t.Fail(why)
			return
		}
		x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refDone})
	}
	row := x.newRow(t.Now(), c)
	row.Status, row.Code = string(ubl.StatusDenied), why.Code
	act := x.action(a, c, row)
	act.Status, act.Error = ubl.StatusDenied, atomError(why.Code, why.Message)
	x.add(a, row, &act.Receipt)
	t.Commit(a)
	t.Fail(why)
}

// intend puts the intent on record. What follows may be made once the answer is
// there.
func (x *Portal) intend(t *actors.Turn, c ubl.BeginCall, key actors.Key) {
	a := &actors.Append{}
	row := x.newRow(t.Now(), c)
	row.Status = string(ubl.StatusIntended)
	act := x.action(a, c, row)
	act.Status = ubl.StatusIntended
	o := &open{
		Version: version, Call: row, Attempt: c.Attempt, Agreement: c.Agreement, Deadline: c.Deadline, Tokens: c.Tokens,
		receipt: &act.Receipt,
	}
	x.add(a, row, o.receipt)
	a.Records = append(a.Records, actors.Record{Key: openKey(row.N), Seal: func() []byte {
		stored := *o
		stored.Call.Receipt = &act.Receipt
		return encode(stored)
	}})
	x.keys.Add(a, key, row.At, actors.Ref{Kind: refRow, N: row.N})
	x.state.begin(o)
	t.Commit(a)
	t.Later(o.ticket)
}

// ticket is the right to make the call, behind the gate.
func (o *open) ticket() (any, error) {
	return &ubl.CallTicket{N: o.Call.N, Receipt: *o.receipt, Status: o.Call.Status}, nil
}

// action adds the action of a call to the append.
func (x *Portal) action(a *actors.Append, c ubl.BeginCall, row ubl.Call) *actors.Act {
	act := &actors.Act{
		Did: c.Did, Agreement: c.Agreement, Request: c.Request, At: row.At,
		This: append(x.about(c), ubl.Int("call", row.N)), Pointers: pointers(c.Agreement, row.N),
	}
	a.Acts = append(a.Acts, act)
	return act
}

// about is what the action says of the call: what the caller adds, and what the
// Portal knows.
func (x *Portal) about(c ubl.BeginCall) ubl.Fields {
	this := append(slices.Clone(c.This),
		ubl.Str("capability", c.Capability), ubl.Str("deadline", c.Deadline.String()),
		ubl.Str("input_hash", c.InputHash), ubl.Str("server", c.Server),
	)
	if tool := x.state.Tools[c.Capability]; tool != nil {
		this = append(this, ubl.Str("definition_hash", tool.Hash))
	}
	if c.Model {
		this = append(this, ubl.Int("tokens", c.Tokens))
	}
	return this
}

// pointers say where the effect of a call can be seen: in the log.
func pointers(agreement ubl.AgreementID, n int64) ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", agreement), ubl.Int("call", n)}
}

func (x *Portal) newRow(now ubl.Time, c ubl.BeginCall) ubl.Call {
	return ubl.Call{
		N: x.state.High + 1, At: now, Did: c.Did, Server: c.Server, Capability: c.Capability,
		UserID: c.Who.UserID, IsService: c.Who.IsService, RequestID: c.Request.ID, Parent: c.Parent,
	}
}

// beginAgain answers a key that has begun a call. Asked in the attempt that began
// it, by a node that didn't hear the answer, the call has yet to be made.
func (x *Portal) beginAgain(t *actors.Turn, c ubl.BeginCall, n int64) {
	if o := x.state.Open[n]; o != nil && c.Attempt != "" && o.Attempt == c.Attempt {
		t.Later(o.ticket)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) { return x.pastTicket(ctx, n) })
}

// pastTicket answers a retry of a begun call. The caller learns that it is one: a
// call is made once, even where nobody knows whether it was. A key may outlive its
// row, whose call has ended then.
func (x *Portal) pastTicket(ctx context.Context, n int64) (any, error) {
	row, err := x.readRow(ctx, n)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return &ubl.CallTicket{N: n, Again: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &ubl.CallTicket{N: n, Receipt: *row.Receipt, Again: true, Status: row.Status}, nil
}

// end puts the effect of a call on record, or answers what it was.
func (x *Portal) end(t *actors.Turn, c ubl.EndCall) {
	o := x.state.Open[c.N]
	if o == nil {
		x.pastEnd(t, c)
		return
	}
	err := x.mayEnd(c.Who, o.Call)
	c.Usage = named(c.Usage)
	if err == nil {
		err = checkEnd(c, o)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	a := &actors.Append{}
	row := x.close(a, t.Now(), o, c)
	t.Commit(a)
	t.Later(func() (any, error) {
		receipt := *o.receipt
		row.Receipt = &receipt
		return &row, nil
	})
}

// named is usage with names that fit into an atom, whatever a provider calls its
// models.
func named(u *ubl.Usage) *ubl.Usage {
	if u == nil {
		return nil
	}
	const max = 128
	with := *u
	with.Provider, with.Model = clipped(u.Provider, max), clipped(u.Model, max)
	return &with
}

// pastEnd answers with the row of a call that has ended.
func (x *Portal) pastEnd(t *actors.Turn, c ubl.EndCall) {
	ctx := t.Context()
	t.Later(func() (any, error) {
		row, err := x.readRow(ctx, c.N)
		if err == nil {
			err = x.mayEnd(c.Who, *row)
		}
		if err != nil {
			return nil, err
		}
		return row, nil
	})
}

// mayEnd refuses everyone but who began the call. Another's looks like one that
// isn't there.
func (x *Portal) mayEnd(who ubl.Identity, row ubl.Call) error {
	if x.member(who) != nil || who.UserID != row.UserID {
		return errNoCall()
	}
	return nil
}

func errNoCall() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such call of the caller's, or the log keeps it no more")
}

// close adds the effect of an open call to the append, and its row as it is from
// now on.
func (x *Portal) close(a *actors.Append, now ubl.Time, o *open, c ubl.EndCall) ubl.Call {
	row := o.Call
	row.Status, row.Code, row.DurationMS, row.Usage = string(ubl.OutcomeOK), c.Code, max(c.DurationMS, 0), c.Usage
	act := &actors.Act{
		Did: row.Did, Agreement: o.Agreement, Request: c.Request, At: now, Closes: o.receipt,
		Effects: []ubl.Fields{called(o, c)}, Pointers: pointers(o.Agreement, row.N),
	}
	if c.Code != "" {
		row.Status, act.Error = string(ubl.OutcomeError), atomError(c.Code, c.Message)
	}
	a.Acts = append(a.Acts, act)
	a.Records = append(a.Records, actors.Record{Key: openKey(row.N)})
	x.write(a, row, o.receipt)
	if c.Usage != nil && !c.Usage.Cached { // an answer from the cache cost nobody anything
		x.spend(a, now, c.Usage.PromptTokens+c.Usage.CompletionTokens)
	}
	x.state.end(o)
	return row
}

// called is what came of a call.
func called(o *open, c ubl.EndCall) ubl.Fields {
	f := append(slices.Clone(c.Effect),
		ubl.Int("call", o.Call.N), ubl.Int("duration_ms", max(c.DurationMS, 0)), ubl.Str("op", "portal.called"),
	)
	if c.OutputHash != "" {
		f = append(f, ubl.Str("output_hash", c.OutputHash))
	}
	if u := c.Usage; u != nil {
		f = append(f,
			ubl.Bool("cached", u.Cached), ubl.Int("completion_tokens", u.CompletionTokens), ubl.Int("cost_micros", u.CostMicros),
			ubl.Bool("estimated", u.Estimated), ubl.Str("model", u.Model), ubl.Int("prompt_tokens", u.PromptTokens),
			ubl.Str("provider", u.Provider),
		)
	}
	return f
}

// atomError is an error as an atom bears it.
func atomError(code ubl.Code, message string) *ubl.AtomError {
	const max = 500
	return &ubl.AtomError{Code: code, Message: clipped(message, max)}
}
