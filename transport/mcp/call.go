package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// call answers a tools/call without the SDK, which takes ten times as long.
func (s *Server) call(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	ctx, done := s.flights.start(r.Context(), v.session.id, m.ID)
	defer done()
	out, err := s.run(ctx, v, m.Name, m.Arguments, nil, nil)
	s.allowAnswer(w, ctx)
	if err != nil {
		s.answerError(ctx, w, v, m.ID, err)
		return
	}
	buf := buffers.Get().(*[]byte)
	defer giveBuffer(buf)
	body, err := s.appendResult((*buf)[:0], v, m.ID, out)
	if err != nil {
		s.blame(ctx, "couldn't encode a result", err)
		s.answerError(ctx, w, v, m.ID, err)
		return
	}
	*buf = body
	write(w, http.StatusOK, body)
}

// allowAnswer gives the answer of a tool that took long a time of its own: the
// server's began with the request.
func (s *Server) allowAnswer(w http.ResponseWriter, ctx context.Context) {
	now := s.opts.Now()
	if now.Sub(envelope.RequestOf(ctx).At.Std()) > longCall {
		// A writer without deadlines is a test's.
		_ = http.NewResponseController(w).SetWriteDeadline(now.Add(s.limits.WriteTimeout))
	}
}

// longCall is far below the time that the server gives an answer.
const longCall = 20 * time.Second

// maxPooled bounds what a buffer may hold and still be kept.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

func giveBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		buffers.Put(b)
	}
}

// run calls a tool by either spelling of its name. progress is nil where nobody
// wants to see it, long for calls that end with their request. Errors are the protocol's own; a call that failed is a result.
func (s *Server) run(ctx context.Context, v *visit, name string, args jsontext.Value, progress func(Progress), long reach) (*Result, error) {
	name, args, named := s.meant(ctx, name, args)
	out, err := s.attempt(ctx, v, name, args, progress, long)
	if special, ok := errors.AsType[*rpcError](err); ok && named { // to the protocol tool.call was in order
		err = special.cause
	}
	return s.told(ctx, v, out, err)
}

// meant is the call that a caller means, and whether they named it to tool.call.
func (s *Server) meant(ctx context.Context, name string, args jsontext.Value) (string, jsontext.Value, bool) {
	if target, ok := s.target(name, args); ok && mayCallByName(ctx) == nil {
		return target.Name, target.Arguments, true
	}
	return name, args, false
}

// attempt calls a tool: for a request of its own, or for a program's. A panic is an error.
func (s *Server) attempt(ctx context.Context, v *visit, name string, args jsontext.Value, progress func(Progress), long reach) (out *Result, err error) {
	act, began := s.tools.find(name), s.opts.Now()
	theirs := "" // the tool of another server, whose calls the portal logs by itself
	defer func() {
		if p := recover(); p != nil {
			err = ubl.AsError(s.opts.Panics.Note(p, "a tool", "request_id", envelope.RequestOf(ctx).ID))
		}
		if err != nil {
			s.blame(ctx, "couldn't run a tool", err)
		}
		if v.portal && theirs == "" && (err == nil || v.belongs(ctx)) {
			s.note(ctx, act, name, began, err)
		}
	}()
	other, known, err := s.admitted(ctx, v, act, name)
	if err != nil {
		return nil, s.withNear(ctx, v, name, err)
	}
	theirs = other
	if args, err = object(args, "params.arguments"); err != nil {
		return nil, malformed(err, ubl.CodeValidation)
	}
	switch {
	case act != nil && long == nil:
		return runOwn(context.WithValue(ctx, visitKey{}, v), act, json.RawMessage(args), progress)
	case act != nil: // it is on record as a call, and not noted besides
		theirs = act.Name
		return long(ctx, envelope.Command(ctx, ""), act.Name, json.RawMessage(args), func(ctx context.Context, confirmed bool) (*Result, error) {
			if confirmed {
				ctx = envelope.WithCaller(ctx, v.caller.ConfirmedFor(act.Name))
			}
			return runOwn(context.WithValue(ctx, visitKey{}, v), act, json.RawMessage(args), nil)
		})
	}
	key, args, err := cutKey(known, args)
	if err != nil {
		return nil, err
	}
	if err := envelope.CallerOf(ctx).Count(ubl.Sends); err != nil { // our own are counted by the API's table
		return nil, err
	}
	if long != nil {
		out, err = long(ctx, envelope.Command(ctx, key), theirs, json.RawMessage(args), nil)
	} else {
		out, err = s.opts.Portal.Call(ctx, envelope.Command(ctx, key), theirs, json.RawMessage(args), v.whileKnown(progress))
	}
	if gone := v.caller.Remains(ctx); gone != nil { // while the other server worked
		return nil, gone
	}
	if err == nil {
		s.linkHere(ctx, v, out)
	}
	return out, s.withNear(ctx, v, name, malformed(err, ubl.CodeUnknownTool))
}

// admitted refuses what the caller may not call here, and answers the portal's name of a tool
// that isn't ours, and the tool where it is one that the caller may use.
func (s *Server) admitted(ctx context.Context, v *visit, act *envelope.Act, name string) (other string, known *ubl.PortalTool, err error) {
	if act != nil {
		return "", nil, v.mayOwn(act.Name, act.ReadOnly)
	}
	other, known, err = s.otherName(ctx, v, name)
	if err != nil {
		return "", nil, malformed(err, ubl.CodeUnknownTool)
	}
	return other, known, v.may(other, known != nil && s.reads(known), true)
}

// stillMay refuses who may not use the tool of a call any more that they have begun: an owner has closed
// it since, or the agent's mandate is narrower.
func (s *Server) stillMay(ctx context.Context, v *visit, tool string) error {
	external := s.tools.find(tool) == nil
	if err := v.may(tool, true, external); err != nil {
		return err
	}
	caller := v.caller.Still(tool)
	if external {
		caller = caller.External()
	}
	_, err := caller.Enter(ctx)
	return err
}

// whileKnown is progress that ends with the caller's credential; nil stays nil.
func (v *visit) whileKnown(progress func(Progress)) func(Progress) {
	if progress == nil {
		return nil
	}
	return func(p Progress) {
		if !v.caller.Doubtful() {
			progress(p)
		}
	}
}

// belongs reports whether the caller is in the tenant, whatever became of the call:
// who isn't can't write into its log.
func (v *visit) belongs(ctx context.Context) bool {
	_, err := v.caller.Anew(false, "").Enter(ctx)
	return err == nil
}

// note puts a call through the portal into its log that isn't another server's:
// one of our own tools, or of none. What is no name can't be logged as one.
func (s *Server) note(ctx context.Context, act *envelope.Act, name string, began time.Time, err error) {
	switch {
	case s.opts.Portal == nil:
		return
	case act != nil:
		name = act.Name
	case !ubl.ValidToolName(name):
		name = "unknown"
	}
	row := envelope.CallRow(ctx, name, began, s.opts.Now(), err)
	s.opts.Portal.Log(envelope.CallerOf(ctx).Identity.TenantID, row)
}

// runOwn runs one of our own tools.
func runOwn(ctx context.Context, act *envelope.Act, args json.RawMessage, progress func(Progress)) (*Result, error) {
	ctx, aside := envelope.WithAside(ctx)
	answer, item, err := do(ctx, act, act.Whole(args), progress)
	if err != nil {
		return nil, act.Explain(err)
	}
	server, failed := act.Wrote(answer)
	out := &Result{Structured: answer, Foreign: server, IsError: failed, Salt: aside.Salt}
	if item != nil {
		out.Content, err = itemAndText(item, answer)
	}
	return out, err
}

// do does an act; item is what it shows beside its answer, nil for nothing.
func do(ctx context.Context, act *envelope.Act, args json.RawMessage, progress func(Progress)) (answer, item json.RawMessage, err error) {
	switch {
	case act.Show != nil:
		return act.Show(ctx, args)
	case act.Stream == nil || progress == nil:
		answer, err = act.Do(ctx, args)
		return answer, nil, err
	}
	pieces := 0
	answer, err = act.Stream(ctx, args, func(text string) {
		pieces++
		progress(Progress{Progress: float64(pieces), Message: text})
	})
	return answer, nil, err
}
