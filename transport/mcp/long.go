package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// Calls are calls to other servers that may outlive their request: their callers are asked
// something, or come back for the answer. Safe for concurrent use.
type Calls interface {
	// MayAsk reports whether the server of a tool may ask the caller something.
	MayAsk(ctx context.Context, who ubl.Identity, tool string) bool
	// Confirms reports whether an agent's person is asked before it uses a tool. Own says that the tool is
	// ours, and destroys then that it replaces or takes away what was there.
	Confirms(ctx context.Context, who ubl.Identity, tool string, own, destroys bool) bool
	// Begin begins a call, which goes on when ctx has ended. A task is on record then.
	Begin(ctx context.Context, l Long) (Flight, error)
	// Task reads a call that the caller has begun, on whatever node; Follow waits for its end, or
	// for a question behind the nth.
	Task(ctx context.Context, who ubl.Identity, n int64) (*ubl.Task, *News, error)
	Follow(ctx context.Context, who ubl.Identity, n int64, question int) (*ubl.Task, *News, error)
	// Tasks lists the caller's, oldest first.
	Tasks(ctx context.Context, who ubl.Identity) ([]*ubl.Task, error)
	// Reply replies to a question; not_found where the call doesn't ask it any more.
	Reply(ctx context.Context, who ubl.Identity, n int64, question int, reply []byte) error
	// CancelTask ends a call; a conflict where it has ended.
	CancelTask(ctx context.Context, req ubl.Request, n int64) (*ubl.Task, error)
}

// Long is a call that may outlive its request.
type Long struct {
	Request  ubl.Request
	Tool     string
	Args     json.RawMessage
	Progress func(Progress) // nil for nobody who wants to see it
	Keep     time.Duration  // makes it a task, whose answer is kept for so long; 0 for none
	Form     bool           // the client can show a person a form
	Own      own
	Destroys bool // one of ours that replaces or takes away what was there
}

// Flight is a call under way on this node.
type Flight interface {
	N() int64
	// Next waits for the end, or for a question behind the nth.
	Next(ctx context.Context, n int) (*News, error)
	// Keep has the answer be kept; false where the call has ended.
	Keep() bool
	// Cancel gives the call up.
	Cancel()
}

// News is what a call has come to: a question, or its end.
type News struct {
	Question *ubl.Question
	Ended    bool
	Result   *Result
	Err      error
}

// later is what a client gets before its answer: a question, else a task.
type later struct {
	n        int64
	question *ubl.Question
	task     *ubl.Task
	// tool and args are those of the call: what comes back must be about the same.
	tool string
	args []byte
}

// own runs a tool of ours, whether or not a person has confirmed that.
type own func(ctx context.Context, confirmed bool) (*Result, error)

// reach makes a call in another way than the usual one. run runs the tool where it is ours.
type reach func(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, run own) (*Result, error)

// abilities are what a client has said that it can.
type abilities struct {
	form  bool // can show a person a form
	apps  bool // shows views
	tasks bool // takes tasks, from 2026-07-28 on
}

// extensionTasks is what the protocol calls tasks from 2026-07-28 on.
const extensionTasks = "io.modelcontextprotocol/tasks"

// readAbilities reads a client's capabilities, in either era.
func readAbilities(raw jsontext.Value) (a abilities) {
	var c struct {
		Elicitation map[string]jsontext.Value `json:"elicitation"`
		Extensions  map[string]jsontext.Value `json:"extensions"`
	}
	if len(raw) == 0 || strict.Unmarshal(raw, &c) != nil {
		return a
	}
	if c.Elicitation != nil {
		_, form := c.Elicitation["form"]
		_, url := c.Elicitation["url"]
		a.form = form || !url
	}
	_, a.tasks = c.Extensions[extensionTasks]
	a.apps = showsApps(c.Extensions[extensionApps])
	return a
}

// long reports whether a tools/call may outlive its request: its client wants a task, its person can be
// asked by the tool's server or has to confirm it, or it comes back to a call. Our own tools alone are
// confirmed at every address.
func (s *Server) long(ctx context.Context, v *visit, m *message) bool {
	switch {
	case s.opts.Calls == nil:
		return false
	case m.State != "" && v.portal:
		return true
	case v.portal && (m.wantsTask(v) || v.modern && v.can.tasks && s.mayBeTask(v, m.Name, m.Arguments)):
		return true
	case !v.can.form && m.State == "":
		return false
	}
	name, _, _ := s.meant(ctx, m.Name, m.Arguments)
	if act := s.tools.find(name); act != nil {
		return m.State != "" || s.opts.Calls.Confirms(ctx, v.who(), act.Name, true, destroys(act))
	}
	if !v.portal {
		return false
	}
	tool, _, err := s.otherName(ctx, v, name)
	return err == nil && (s.opts.Calls.MayAsk(ctx, v.who(), tool) || s.opts.Calls.Confirms(ctx, v.who(), tool, false, false))
}

// destroys reports whether a tool of ours replaces or takes away what was there. One that passes on
// does nothing itself: what it calls is asked about.
func destroys(act *envelope.Act) bool { return act.Destructive && !passesOn(act.Name) }

// wantsTask reports whether a client of 2025-11-25 asks for a task.
func (m *message) wantsTask(v *visit) bool {
	return v.version == newestLegacy && m.Task.Kind() == '{'
}

// mayBeTask reports whether a tool can be called as a task: another server's, or the one that runs
// programs. Who is to read alone puts no call on record.
func (s *Server) mayBeTask(v *visit, name string, args jsontext.Value) bool {
	if target, ok := s.target(name, args); ok {
		name = target.Name
	}
	act := s.tools.find(name)
	return !v.mandate().Reads() && (act == nil || act.Name == toolRun)
}

// talk is the answer to a call that may outlive its request: one JSON object, or a stream of
// events once there is something to say before it.
type talk struct {
	s *Server
	r *http.Request
	v *visit
	m *message

	mu      sync.Mutex
	out     *output
	started bool
	over    bool // it is answered: the call may go on, and out is the request's no more
}

// callLong answers a tools/call that may outlive its request.
func (s *Server) callLong(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	ctx, done := s.flights.start(r.Context(), v.session.id, m.ID)
	defer done()
	if m.wantsTask(v) && !s.mayBeTask(v, m.Name, m.Arguments) {
		s.answerError(ctx, w, v, m.ID, rpcErrorf(codeNoMethod, "the tool can't be called as a task"))
		return
	}
	t := &talk{s: s, r: r, v: v, m: m, out: newOutput(w, r, s.opts.Now, s.limits.WriteTimeout)}
	out, err := s.run(ctx, v, m.Name, m.Arguments, t.progress(), t.reach)
	t.answer(ctx, out, err)
}

// reach begins the call, or goes on with one that has asked something.
func (t *talk) reach(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, run own) (*Result, error) {
	s, v := t.s, t.v
	if t.m.State != "" {
		return t.resume(ctx, tool, args)
	}
	l := Long{Request: req, Tool: tool, Args: args, Progress: v.whileKnown(t.progress()), Form: v.can.form, Own: run}
	if run != nil {
		l.Destroys = destroys(s.tools.find(tool))
	}
	if t.m.wantsTask(v) {
		l.Keep = keepOf(t.m.Task)
		l.Form = l.Form && v.session.id != ""
	}
	flight, err := s.opts.Calls.Begin(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.Keep > 0 {
		task, _, err := s.opts.Calls.Task(ctx, v.who(), flight.N())
		if err != nil {
			return nil, err
		}
		return &Result{later: &later{n: flight.N(), task: task}}, nil
	}
	out, err := t.wait(ctx, flight)
	return out.about(tool, args), err
}

// about notes which call an answer that comes later is to.
func (r *Result) about(tool string, args []byte) *Result {
	if r != nil && r.later != nil {
		r.later.tool, r.later.args = tool, args
	}
	return r
}

// wait waits for a call of this node.
func (t *talk) wait(ctx context.Context, flight Flight) (*Result, error) {
	began, seen := t.s.opts.Now(), 0
	for {
		news, err := t.next(ctx, t.taskAfter(began), func(ctx context.Context) (*News, error) { return flight.Next(ctx, seen) })
		switch {
		case errors.Is(err, errTakesLong):
			if flight.Keep() {
				task, _, err := t.s.opts.Calls.Task(ctx, t.v.who(), flight.N())
				return &Result{later: &later{n: flight.N(), task: task}}, err
			}
			continue // it has just ended
		case err != nil:
			flight.Cancel()
			return nil, ubl.Errorf(ubl.CodeCancelled, "the caller gave the call up").Because(err)
		case news.Ended:
			return news.Result, news.Err
		case t.v.modern:
			if flight.Keep() {
				return &Result{later: &later{n: flight.N(), question: news.Question}}, nil
			}
			continue
		}
		seen = news.Question.N
		t.ask(flight.N(), news.Question, "")
	}
}

// resume replies to what a call has asked, and waits for what comes of it, on whatever node.
func (t *talk) resume(ctx context.Context, tool string, args json.RawMessage) (*Result, error) {
	s, who := t.s, t.v.who()
	n, question, ok := s.openState(t.m.State, who, tool, args)
	if !ok {
		return nil, &rpcError{cause: invalid("params.requestState", "not one that the server gave out for this call, or too old"), code: codeInvalidParams}
	}
	if err := s.stillMay(ctx, t.v, tool); err != nil {
		return nil, err
	}
	reply := replyIn(t.m.Responses, question)
	if reply != nil {
		if err := s.opts.Calls.Reply(ctx, who, n, question, reply); err != nil && ubl.CodeOf(err) != ubl.CodeNotFound {
			return nil, err
		}
	} else {
		question--
	}
	_, news, err := t.follow(ctx, n, question)
	switch {
	case err != nil:
		return nil, goneCall(err)
	case news.Ended:
		return news.Result, news.Err
	}
	return (&Result{later: &later{n: n, question: news.Question}}).about(tool, args), nil
}

// goneCall is the error for a call that can't be read any more.
func goneCall(err error) error {
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return ubl.Errorf(ubl.CodeUnavailable, "the call has ended, and its answer is not kept any more; the tool may have run").Once()
	}
	return err
}

// follow waits for a call on whatever node.
func (t *talk) follow(ctx context.Context, n int64, question int) (task *ubl.Task, news *News, err error) {
	news, err = t.next(ctx, 0, func(ctx context.Context) (news *News, err error) {
		task, news, err = t.s.opts.Calls.Follow(ctx, t.v.who(), n, question)
		return news, err
	})
	return task, news, err
}

// errTakesLong is why a client that knows tasks isn't kept waiting.
var errTakesLong = errors.New("the call takes long")

// taskAfter is how long the client is yet kept waiting, 0 for as long as it takes.
func (t *talk) taskAfter(began time.Time) time.Duration {
	if !t.v.modern || !t.v.can.tasks || !t.v.portal || !t.s.mayBeTask(t.v, t.m.Name, t.m.Arguments) {
		return 0
	}
	return max(t.s.limits.TaskAfter-t.s.opts.Now().Sub(began), time.Nanosecond)
}

// next waits for news, and lets nothing on the way take the silence for death.
func (t *talk) next(ctx context.Context, patience time.Duration, wait func(context.Context) (*News, error)) (*News, error) {
	for {
		limit := t.s.limits.Keepalive
		if patience > 0 {
			limit = min(limit, patience)
		}
		part, cancel := context.WithTimeout(ctx, limit)
		news, err := wait(part)
		late := part.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case !late || err == nil:
			return news, err
		case patience > 0 && patience <= limit:
			return nil, errTakesLong
		case patience > 0:
			patience -= limit
		}
		t.send([]byte(": keepalive\n\n"))
	}
}

// send sends an event, and begins the stream where there is none: nothing once the answer is
// written. A client that has gone ends the call by itself.
func (t *talk) send(event []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over:
	case t.started:
		_ = t.out.send(event)
	default:
		t.started = true
		_ = t.out.startStream(event)
	}
}

// progress tells the client how far the call is, nil where it doesn't want to know.
func (t *talk) progress() func(Progress) {
	if t.v.progress == nil || t.m.wantsTask(t.v) {
		return nil
	}
	return func(p Progress) {
		params := map[string]any{"progressToken": t.v.progress, "progress": p.Progress}
		if p.Total != 0 {
			params["total"] = p.Total
		}
		if p.Message != "" {
			params["message"] = p.Message
		}
		t.send(appendEvent(nil, map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
	}
}

// answer writes the answer, as the last event of a stream that has begun.
func (t *talk) answer(ctx context.Context, out *Result, err error) {
	body, status := t.body(ctx, out, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if !t.started {
		t.s.allowAnswer(t.out.ResponseWriter, ctx)
		write(t.out.ResponseWriter, status, body)
		return
	}
	event := append([]byte("event: message\ndata: "), bytes.TrimSpace(body)...)
	_ = t.out.send(append(event, "\n\n"...))
}

func (t *talk) body(ctx context.Context, out *Result, err error) (body []byte, status int) {
	s, v := t.s, t.v
	if err == nil && out.later != nil {
		if body, err = s.appendLater(v, t.m, out.later); err == nil {
			return body, http.StatusOK
		}
	}
	if err == nil {
		if body, err = s.appendResult(nil, v, t.m.ID, out); err == nil {
			return body, http.StatusOK
		}
		s.blame(ctx, "couldn't encode a result", err)
	}
	p := problemOf(ctx, err)
	body, _ = strict.Marshal(map[string]any{"jsonrpc": "2.0", "id": t.m.ID, "error": p}, strict.Deterministic(true))
	return body, p.status(v.modern)
}
