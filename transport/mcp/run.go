package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/mcp/script"
)

// toolRun runs a program whose only powers are its caller's tools.
const toolRun = "tool.run"

// Bounds of a run that its caller may choose.
const (
	defaultRunCalls, maxRunCalls     = 50, 200
	defaultRunSeconds, maxRunSeconds = 30, 120
)

// runAct is the act of tool.run.
func (s *Server) runAct() envelope.Act {
	return envelope.Act{
		Name: toolRun, Title: "Run a program",
		Description: "Runs a small JavaScript program that calls tools. Use it when a job needs many calls (a batch, a loop), or only a part of what they answer: it takes one round trip, and you read only what it returns. " +
			"Write the body of an async function, as: const {rooms} = await tool(\"messenger.list_rooms\", {}); return rooms. " +
			"A call returns the tool's structured answer, and throws an Error with code, message and details. Calls have your rights and their own receipts, and are made one after another. " +
			"Look arguments up with tool.search first. There is no network, file, timer or module.",
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["program"],"properties":{` +
			`"program":{"type":"string","minLength":1,"maxLength":65536,"description":"JavaScript: the body of an async function with tool(name, arguments), tools, args and log.",` +
			`"examples":["const {messages} = await tools.messenger.history({room_id: args.room}); return messages.map(m => m.body.text)"]},` +
			`"arguments":{"anyOf":[{"type":"object"},{"type":"null"}],"description":"What the program finds in args.","examples":[{"room":"r:general"}]},` +
			`"max_calls":{"anyOf":[{"type":"integer","minimum":1,"maximum":200},{"type":"null"}],"default":50,"description":"How many calls it may make."},` +
			`"timeout_seconds":{"anyOf":[{"type":"integer","minimum":1,"maximum":120},{"type":"null"}],"default":30,"description":"How long it may take, calls included."},` +
			`"client_request_id":{"anyOf":[{"type":"string","minLength":1,"maxLength":128},{"type":"null"}],"description":"A key of your own: a run that is repeated with it does no write twice.","examples":["summary-2026-01-07"]}}}`),
		Output: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["result","calls"],"properties":{` +
			`"result":{"description":"What the program returned."},"log":{"type":"array","items":{"type":"string"},"description":"What it logged."},` +
			`"calls":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["tool","request_id"],"properties":{` +
			`"tool":{"type":"string"},"request_id":{"type":"string"},"code":{"type":"string","description":"Why it failed."},` +
			`"receipt":{"type":"integer","description":"The seq of its receipt."},"foreign":{"type":"string","description":"Whose words it answered."},"salt":{"type":"string"}}}},` +
			`"stopped":{"type":"string","description":"The bound that ended the program."},` +
			`"error":{"type":"object","additionalProperties":false,"required":["name","message"],"description":"What it threw.","properties":{` +
			`"name":{"type":"string"},"message":{"type":"string"},"line":{"type":"integer"},"column":{"type":"integer"},"code":{"type":"string"},` +
			`"details":{"type":"object","additionalProperties":{"type":"string"}}}}}}`),
		Destructive: true, Do: s.runProgram, Foreign: foreignRun,
	}
}

// passesOn reports whether a tool of ours does nothing itself but call others, each of which is
// decided by itself.
func passesOn(tool string) bool { return tool == toolCall || tool == toolRun }

// ran is the answer to tool.run.
type ran struct {
	Result  json.RawMessage `json:"result"`
	Log     []string        `json:"log,omitempty"`
	Calls   []runCall       `json:"calls"`
	Stopped script.Reason   `json:"stopped,omitempty"`
	Error   *script.Failure `json:"error,omitempty"`
}

// runCall is a call that a program made.
type runCall struct {
	Tool string `json:"tool"`
	// RequestID is the call's own; its parent is the run's.
	RequestID string `json:"request_id"`
	// Code says why it failed, "" where it didn't.
	Code ubl.Code `json:"code,omitempty"`
	// Receipt is the seq of the receipt that its answer holds; 0 where it holds none, or several.
	Receipt int64 `json:"receipt,omitzero"`
	// Foreign is whose words the answer held, as in [Result.Foreign].
	Foreign string `json:"foreign,omitempty"`
	// Salt is as in [Result.Salt].
	Salt ubl.Salt `json:"salt,omitzero"`
}

// runProgram answers tool.run.
func (s *Server) runProgram(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	job, key, err := readRun(args)
	if err != nil {
		return nil, err
	}
	v, caller := visitOf(ctx), envelope.CallerOf(ctx).Anew(false, toolRun)
	caller.Uses(toolRun, ubl.Sends) // a run takes a process, whatever it does
	if _, err := caller.Enter(ctx); err != nil {
		return nil, err
	}
	r := &programRun{s: s, v: v, request: *envelope.RequestOf(ctx), key: envelope.Command(ctx, key).Key, calls: []runCall{}}
	job.Now, job.Seed = r.request.At.Std(), r.seed()
	out, err := s.opts.Scripts.Run(ctx, v.who().TenantID, job, r.do)
	if err != nil {
		return nil, err
	}
	if gone := v.caller.Remains(ctx); gone != nil { // while the program ran
		return nil, gone
	}
	return strict.Marshal(r.told(out, job))
}

// readRun reads the arguments of tool.run.
func readRun(args json.RawMessage) (job script.Job, key string, err error) {
	var in struct {
		Program   string         `json:"program"`
		Arguments jsontext.Value `json:"arguments"`
		MaxCalls  *int           `json:"max_calls"`
		Timeout   *int           `json:"timeout_seconds"`
		Key       *string        `json:"client_request_id"`
	}
	if err := readArguments(args, &in); err != nil {
		return job, "", err
	}
	calls, seconds := or(in.MaxCalls, defaultRunCalls), or(in.Timeout, defaultRunSeconds)
	given, err := object(in.Arguments, "arguments")
	switch {
	case err != nil:
		return job, "", err
	case strings.TrimSpace(in.Program) == "" || len(in.Program) > script.MaxProgram:
		return job, "", invalid("program", "expected JavaScript of 1 to 65536 bytes")
	case len(given) > script.MaxArguments:
		return job, "", invalid("arguments", "larger than "+strconv.Itoa(script.MaxArguments)+" bytes")
	case calls < 1 || calls > maxRunCalls:
		return job, "", invalid("max_calls", "expected an integer from 1 to 200")
	case seconds < 1 || seconds > maxRunSeconds:
		return job, "", invalid("timeout_seconds", "expected an integer from 1 to 120")
	case in.Key != nil && !ubl.ValidKey(*in.Key):
		return job, "", invalid(argKey, "expected 1 to 128 characters, none of them a control character")
	}
	return script.Job{
		Program: in.Program, Arguments: json.RawMessage(given), MaxCalls: calls, Timeout: time.Duration(seconds) * time.Second,
	}, or(in.Key, ""), nil
}

func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// programRun is one run. It belongs to the request's goroutine.
type programRun struct {
	s       *Server
	v       *visit
	request envelope.Request // the run's own
	key     string           // of the run
	writes  int
	calls   []runCall
}

// seed has a run that is repeated draw the same numbers.
func (r *programRun) seed() uint64 {
	sum := sha256.Sum256([]byte(r.key))
	return binary.BigEndian.Uint64(sum[:])
}

// do makes a call of the program: as if its caller had made it, under a request whose parent is
// the run's.
func (r *programRun) do(ctx context.Context, c script.Call) (json.RawMessage, *script.Problem) {
	call := runCall{Tool: "unknown"}
	out, err := r.call(ctx, c, &call)
	call.Code = ubl.CodeOf(err)
	var value json.RawMessage
	if err == nil {
		call.Receipt, call.Foreign, call.Salt, value = receiptOf(r.s.tools.find(call.Tool), out), out.Foreign, out.Salt, valueOf(out)
	}
	if err == nil && out.IsError {
		call.Code = codeToolFailed
	}
	r.calls = append(r.calls, call)
	switch {
	case err != nil:
		e := ubl.AsError(err)
		return nil, &script.Problem{Code: string(e.Code), Message: e.Message, Details: e.Details}
	case out.IsError:
		return nil, &script.Problem{Code: string(codeToolFailed), Message: "the tool answered that it failed: see result", Result: value}
	}
	return value, nil
}

// codeToolFailed is the code of a call whose tool says itself that it failed. It is a program's
// alone: to others that is a result.
const codeToolFailed ubl.Code = "tool_failed"

func (r *programRun) call(ctx context.Context, c script.Call, told *runCall) (*Result, error) {
	id, err := ubl.NewRequestID(r.s.opts.Random)
	if err != nil {
		return nil, err
	}
	told.RequestID = id
	if err := r.v.remains(ctx, ubl.TimeOf(r.s.opts.Now())); err != nil {
		return nil, err
	}
	ctx = envelope.WithCaller(ctx, r.v.caller.Anew(true, ""))
	name, args, _ := r.s.meant(ctx, c.Tool, jsontext.Value(c.Arguments))
	act := r.s.tools.find(name)
	switch {
	case act != nil:
		told.Tool = act.Name
	case ubl.ValidToolName(name):
		told.Tool = name
	}
	if told.Tool == toolRun {
		return nil, ubl.Errorf(ubl.CodeForbidden, "a program can't run another one")
	}
	inner := r.request
	inner.ID, inner.Key, inner.Parent, inner.At = id, id, r.request.ID, ubl.TimeOf(r.s.opts.Now())
	if !r.reads(ctx, act, name) {
		inner.Key = r.nextKey()
	}
	return r.s.attempt(envelope.WithRequest(ctx, &inner), r.v, name, args, nil, nil)
}

// reads reports whether a tool only reads, so that it needs no key.
func (r *programRun) reads(ctx context.Context, act *envelope.Act, name string) bool {
	if act != nil {
		return act.ReadOnly
	}
	_, known, err := r.s.otherName(ctx, r.v, name)
	return err == nil && known != nil && r.s.reads(known)
}

// nextKey is the key of the run's next write: the same for each run with the same key, however
// much it reads between them.
func (r *programRun) nextKey() string {
	r.writes++
	sum := sha256.Sum256([]byte(r.key))
	return "run:" + hex.EncodeToString(sum[:16]) + ":" + strconv.Itoa(r.writes)
}

// remains refuses a caller who is nobody any more: a program may run for minutes.
func (v *visit) remains(ctx context.Context, now ubl.Time) error {
	if at := v.caller.ExpiresAt; at != 0 && now >= at {
		return ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended")
	}
	return v.caller.Remains(ctx)
}

// valueOf is what a program gets of a result: its structured content, else its items.
func valueOf(r *Result) json.RawMessage {
	switch {
	case r.Structured != nil:
		return r.Structured
	case r.Content != nil:
		return r.Content
	}
	return json.RawMessage("null")
}

// receiptOf is the seq of a result's receipt: another server's tool has it beside the answer, ours
// that write in it, or in the one thing that it tells of.
func receiptOf(own *envelope.Act, r *Result) int64 {
	switch {
	case r.Receipt != nil:
		return r.Receipt.Seq
	case own == nil || own.ReadOnly:
		return 0
	}
	var members map[string]jsontext.Value
	if strict.Unmarshal(r.Structured, &members) != nil {
		return 0
	}
	if seq := seqIn(members["receipt"]); seq != 0 {
		return seq
	}
	var found int64
	for _, member := range members {
		var thing struct {
			Receipt jsontext.Value `json:"receipt"`
		}
		if strict.Unmarshal(member, &thing) != nil || thing.Receipt == nil {
			continue
		}
		if found != 0 {
			return 0
		}
		found = seqIn(thing.Receipt)
	}
	return found
}

// seqIn is the seq of a receipt, 0 for none.
func seqIn(receipt jsontext.Value) int64 {
	var r ubl.Receipt
	if len(receipt) == 0 || json.Unmarshal(receipt, &r) != nil {
		return 0
	}
	return r.Seq
}

// told is the answer.
func (r *programRun) told(out *script.Outcome, job script.Job) *ran {
	a := &ran{Result: out.Result, Log: out.Log, Calls: r.calls, Stopped: out.Stopped, Error: out.Failure}
	if out.Stopped != "" {
		a.Error = &script.Failure{Name: "Stopped", Message: advice(out.Stopped, job) + " Calls without a code took effect."}
	}
	if a.Result == nil {
		a.Result = json.RawMessage("null")
	}
	return a
}

// advice says of a bound what it is, and what to do.
func advice(stopped script.Reason, job script.Job) string {
	switch stopped {
	case script.StoppedTime:
		return "The program took longer than " + job.Timeout.String() + ": do less in one run, or allow more by timeout_seconds (at most 120)."
	case script.StoppedCalls:
		return "The program made more than " + strconv.Itoa(job.MaxCalls) + " calls: do less in one run, or allow more by max_calls (at most 200)."
	case script.StoppedCPU:
		return "The program computed for too long: does a loop never end?"
	case script.StoppedMemory:
		return "The program took too much memory: read in smaller pages, and keep less of them."
	case script.StoppedStack:
		return "The program's data is nested too deeply."
	}
	return "The program's process ended before the program."
}

// foreignRun says whose words an answer of tool.run may hold: those of every server that answered.
func foreignRun(answer json.RawMessage) (server string, failed bool) {
	var told ran
	if json.Unmarshal(answer, &told) != nil {
		return "", false
	}
	var ids []string
	for _, call := range told.Calls {
		if call.Foreign != "" {
			ids = append(ids, strings.Split(call.Foreign, ", ")...)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ", "), told.Error != nil
}
