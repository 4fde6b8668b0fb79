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
	ref, err := x.Keys.Find(t.Context(), key)
	if err == nil && ref == nil {
		err = x.State.checkBegin(t.Now(), c)
	}
	switch {
	case err != nil:
		t.Fail(err)
	case ref != nil:
		x.beginAgain(t, c, ref.N)
	default:
		if refusal := x.State.refuses(t.Now(), c); refusal != nil {
			x.deny(t, c, ubl.AsError(refusal))
		} else {
			x.intend(t, c, key)
		}
	}
}

// refuses says why a call that is well formed may not be made.
func (s *State) refuses(now ubl.Time, c ubl.BeginCall) error {
	switch c.Server {
	case ubl.ModelServer:
		return s.spends(now, c.Tokens)
	case ubl.OwnServer:
		return nil
	}
	if s.Servers[c.Server] == nil {
		return ubl.NoTool()
	}
	if _, err := s.enabled(c.Server); err != nil {
		return err
	}
	tool := s.Tools[c.Capability]
	switch {
	case tool == nil || tool.ServerID != c.Server:
		return ubl.NoTool()
	case tool.Gone:
		return ubl.Errorf(ubl.CodeUnknownTool, "the server no longer has this tool")
	case !tool.Callable():
		return ubl.Errorf(ubl.CodeForbidden, "the tool's definition has changed and waits for an owner's approval")
	}
	return nil
}

// deny puts a refusal on record, once for an attempt, and answers it.
func (x *Portal) deny(t *actors.Turn, c ubl.BeginCall, why *ubl.Error) {
	var key *actors.Key
	if c.Attempt != "" {
		key = new(actors.NewKey(ubl.DidToolDeny, ubl.Request{Who: c.Who, Key: c.Attempt}))
		if ref, err := x.Keys.Find(t.Context(), *key); err != nil || ref != nil {
			t.Fail(cmp.Or(err, error(why)))
			return
		}
	}
	p := x.State.calling(t.Now(), c, ubl.StatusDenied)
	p.Error, p.Event.call.row.Code = atomError(why.Code, why.Message), why.Code
	allowed, err := x.Decide(t, c.Did, c.Request, &p)
	if err != nil {
		t.Fail(err)
		return
	}
	x.Pass(t, allowed, key)
	t.Fail(why)
}

// intend puts the intent on record. What follows may be made once the answer is
// there.
func (x *Portal) intend(t *actors.Turn, c ubl.BeginCall, key actors.Key) {
	p := x.State.calling(t.Now(), c, ubl.StatusIntended)
	o := &open{
		form: form{version}, Call: p.Event.call.row, Attempt: c.Attempt, Agreement: c.Agreement, Deadline: c.Deadline, Tokens: c.Tokens, KeepMS: c.KeepMS,
	}
	p.Event.call.begins = o
	p.Intends = &actors.Outbound{Key: outboundOf(o.Call.N), Content: encode(o), Lease: o.Deadline, Deadline: o.Deadline, Once: true}
	p.Ref = actors.Ref{Kind: refRow, N: o.Call.N}
	allowed, err := x.Decide(t, c.Did, c.Request, &p)
	if err != nil {
		t.Fail(err)
		return
	}
	x.Pass(t, allowed, &key)
	t.Later(o.ticket)
}

// calling plans the action of a call, with a new row.
func (s *State) calling(now ubl.Time, c ubl.BeginCall, status ubl.Status) plan {
	row := ubl.Call{
		N: s.High + 1, At: now, Did: c.Did, Server: c.Server, Capability: c.Capability, Status: string(status),
		UserID: c.Who.UserID, IsService: c.Who.IsService, RequestID: c.Request.ID, Parent: c.Parent,
	}
	return plan{
		Act: actors.Act{
			Agreement: c.Agreement, Status: status,
			This: append(s.about(c), ubl.Int("call", row.N)), Pointers: pointers(c.Agreement, row.N),
		},
		Event: event{call: &step{row: row, drops: s.drops(), forgets: s.outdated(now)}},
	}
}

// ticket is the right to make the call, behind the gate.
func (o *open) ticket() (any, error) {
	return &ubl.CallTicket{N: o.Call.N, Receipt: *o.receipt, Status: o.Call.Status}, nil
}

// about is what the action says of the call: what the caller adds, and what the
// Portal knows.
func (s *State) about(c ubl.BeginCall) ubl.Fields {
	this := append(slices.Clone(c.This),
		ubl.Str("capability", c.Capability), ubl.Str("deadline", c.Deadline.String()),
		ubl.Str("input_hash", cmp.Or(c.Commitment, c.InputHash)), ubl.Str("server", c.Server),
	)
	if tool := s.Tools[c.Capability]; tool != nil {
		this = append(this, ubl.Str("definition_hash", tool.Hash))
	}
	if c.Model {
		this = append(this, ubl.Int("tokens", c.Tokens))
	}
	if c.KeepMS > 0 {
		this = append(this, ubl.Int("keep_ms", c.KeepMS))
	}
	return this
}

// pointers say where the effect of a call can be seen: in the log.
func pointers(agreement ubl.AgreementID, n int64) ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", agreement), ubl.Int("call", n)}
}

// beginAgain answers a key that has begun a call. Asked in the attempt that began
// it, by a node that didn't hear the answer, the call has yet to be made.
func (x *Portal) beginAgain(t *actors.Turn, c ubl.BeginCall, n int64) {
	if o := x.State.Open[n]; o != nil && c.Attempt != "" && o.Attempt == c.Attempt {
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
	o := x.State.Open[c.N]
	if o == nil {
		x.pastEnd(t, c)
		return
	}
	err := x.State.mayEnd(c.Who, o.Call)
	c.Usage = named(c.Usage)
	if err == nil {
		err = checkEnd(c, o)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	if o.KeepMS == 0 && c.Kept != nil && x.State.tasksOf(c.Who.UserID, t.Now()) >= ubl.MaxUserTasks {
		c.Kept = nil // whoever comes back for it learns that it isn't there
	}
	p := closing(o, c)
	row := p.Event.call.row
	x.Pass(t, x.Following(row.Did, c.Request, &p), nil)
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
			err = x.State.mayEnd(c.Who, *row)
		}
		if err != nil {
			return nil, err
		}
		return row, nil
	})
}

// mayEnd refuses everyone but who began the call. Another's looks like one that
// isn't there.
func (s *State) mayEnd(who ubl.Identity, row ubl.Call) error {
	if s.member(who) != nil || who.UserID != row.UserID {
		return errNoCall()
	}
	return nil
}

func errNoCall() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such call of the caller's, or the log keeps it no more")
}

// closing plans the effect of an open call.
func closing(o *open, c ubl.EndCall) plan {
	row := o.Call
	row.Status, row.Code, row.DurationMS, row.Usage = string(ubl.OutcomeOK), c.Code, max(c.DurationMS, 0), c.Usage
	p := plan{
		Act:  actors.Act{Agreement: o.Agreement, Effects: []ubl.Fields{called(o, c)}, Pointers: pointers(o.Agreement, row.N)},
		Ends: outboundOf(row.N),
	}
	if o.early {
		p.Ends, p.Closes, p.Alarms = "", o.receipt, []actors.Alarm{{Key: alarmOf(row.N)}}
		p.Records = []actors.Record{{Key: openKey(row.N)}}
	}
	if c.Code != "" {
		row.Status, p.Error = string(ubl.OutcomeError), atomError(c.Code, c.Message)
	}
	p.Event.call = &step{row: row, ends: o, keeps: keeping(o, row, c)}
	if c.Usage != nil && !c.Usage.Cached { // an answer from the cache cost nobody anything
		p.Event.call.used = new(c.Usage.PromptTokens + c.Usage.CompletionTokens)
	}
	return p
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
