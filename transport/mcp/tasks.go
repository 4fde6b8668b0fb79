package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// defaultKeep is how long the answer of a task is kept whose client doesn't say it.
	defaultKeep = time.Hour
	// minKeep is the least, so that a client has time to look.
	minKeep = time.Minute
	// pollEvery is how often clients should ask.
	pollEvery = time.Second
	// metaTask is where messages of 2025-11-25 name the task that they belong to.
	metaTask = "io.modelcontextprotocol/related-task"
	taskID   = "call-"
)

// keepOf is how long a client wants the answer of its task kept.
func keepOf(task jsontext.Value) time.Duration {
	var t struct {
		TTL *float64 `json:"ttl"`
	}
	if strict.Unmarshal(task, &t) != nil || t.TTL == nil {
		return defaultKeep
	}
	return max(minKeep, time.Duration(min(*t.TTL, float64(ubl.MaxKeep.Milliseconds())))*time.Millisecond)
}

func taskName(n int64) string { return taskID + strconv.FormatInt(n, 10) }

// readTaskName is the number of a task's call.
func readTaskName(name string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, taskID), 10, 64)
	if err != nil || !strings.HasPrefix(name, taskID) || n < 1 {
		return 0, noTask()
	}
	return n, nil
}

func noTask() error {
	return &rpcError{cause: invalid("params.taskId", "no task of yours, or one whose time is over"), code: codeInvalidParams}
}

// taskParams are those of all requests about one task.
type taskParams struct {
	Task    string         `json:"taskId"`
	Replies jsontext.Value `json:"inputResponses"`
}

// tasks answers requests about tasks.
func (s *Server) tasks(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	ctx, done := s.flights.start(r.Context(), v.session.id, m.ID)
	defer done()
	if s.opts.Calls == nil || !v.portal {
		s.refuse(w, r, m.ID, rpcErrorf(codeNoMethod, "there are tasks at the portal's address alone"))
		return
	}
	if _, err := v.caller.Anew(false, "").Enter(ctx); err != nil {
		s.answerError(ctx, w, v, m.ID, err)
		return
	}
	if m.Method == methodTasksResult {
		s.taskResult(ctx, w, r, v, m)
		return
	}
	fields, err := s.taskFields(ctx, v, m)
	if err != nil {
		s.answerError(ctx, w, v, m.ID, err)
		return
	}
	answerWith(w, m.ID, s.object(v, fields, "complete"))
}

func (s *Server) taskFields(ctx context.Context, v *visit, m *message) (map[string]any, error) {
	if m.Method == methodTasksList {
		return s.listTasks(ctx, v, m)
	}
	n, err := readTaskName(m.TaskID)
	if err != nil {
		return nil, err
	}
	switch m.Method {
	case methodTasksCancel:
		return s.cancelTask(ctx, v, n)
	case methodTasksUpdate:
		return s.updateTask(ctx, v, m, n)
	}
	task, news, err := s.opts.Calls.Task(ctx, v.who(), n)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil, noTask()
	}
	if err != nil {
		return nil, err
	}
	return s.taskOf(ctx, v, task, news), nil
}

// listTasks lists the caller's, of whom there are no more than a page.
func (s *Server) listTasks(ctx context.Context, v *visit, m *message) (map[string]any, error) {
	if m.Cursor != "" {
		return nil, invalid("params.cursor", "not one that the server gave out")
	}
	list, err := s.opts.Calls.Tasks(ctx, v.who())
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for _, t := range list {
		out = append(out, s.taskOf(ctx, v, t, nil))
	}
	return map[string]any{"tasks": out}, nil
}

func (s *Server) cancelTask(ctx context.Context, v *visit, n int64) (map[string]any, error) {
	task, err := s.opts.Calls.CancelTask(ctx, envelope.Command(ctx, ""), n)
	switch code := ubl.CodeOf(err); {
	case code == ubl.CodeNotFound:
		return nil, noTask()
	case code == ubl.CodeConflict && v.modern: // the wish is taken, and comes too late
		return map[string]any{}, nil
	case code == ubl.CodeConflict:
		return nil, &rpcError{cause: invalid("params.taskId", "the task has ended"), code: codeInvalidParams}
	case err != nil:
		return nil, err
	case v.modern:
		return map[string]any{}, nil
	}
	return s.taskOf(ctx, v, task, nil), nil
}

// updateTask takes replies to what a task asks. Those to anything else are ignored.
func (s *Server) updateTask(ctx context.Context, v *visit, m *message, n int64) (map[string]any, error) {
	err := s.reply(ctx, v, n, func(question int) []byte { return replyIn(m.Responses, question) })
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil, noTask()
	}
	return map[string]any{}, err
}

// taskResult answers tasks/result of 2025-11-25: it waits for the task's end, and asks its client
// what the task asks meanwhile.
func (s *Server) taskResult(ctx context.Context, w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	t := &talk{s: s, r: r, v: v, m: m, out: newOutput(w, r, s.opts.Now, s.limits.WriteTimeout)}
	n, err := readTaskName(m.TaskID)
	if err != nil {
		t.answer(ctx, nil, err)
		return
	}
	for question := 0; ; {
		task, news, err := t.follow(ctx, n, question)
		switch {
		case ubl.CodeOf(err) == ubl.CodeNotFound:
			t.answer(ctx, nil, noTask())
			return
		case err != nil:
			t.answer(ctx, nil, err)
			return
		case news.Ended:
			out, err := s.cameTo(ctx, v, task, news)
			if err == nil {
				out.task = m.TaskID
			}
			t.answer(ctx, out, err)
			return
		}
		question = news.Question.N
		if err := s.stillMay(ctx, v, task.Capability); err != nil {
			t.answer(ctx, nil, err)
			return
		}
		if v.can.form {
			t.ask(n, news.Question, m.TaskID)
		}
	}
}

// cameTo is the result of a call that has ended, as its client would have got it.
func (s *Server) cameTo(ctx context.Context, v *visit, task *ubl.Task, news *News) (*Result, error) {
	if err := s.stillMay(ctx, v, task.Capability); err != nil {
		return nil, err
	}
	if news.Err == nil {
		s.linkHere(ctx, v, news.Result)
	}
	return s.told(ctx, v, news.Result, s.withNear(ctx, v, task.Capability, malformed(news.Err, ubl.CodeUnknownTool)))
}

// taskOf is a task as the client's era has it. Without news it is one of a list.
func (s *Server) taskOf(ctx context.Context, v *visit, t *ubl.Task, news *News) map[string]any {
	status, message := t.Status, statusMessage(t)
	out := map[string]any{"taskId": taskName(t.N), "createdAt": t.CreatedAt.String(), "lastUpdatedAt": t.UpdatedAt.String()}
	if v.modern {
		out["ttlMs"], out["pollIntervalMs"] = any(nil), pollEvery.Milliseconds()
		if t.KeepMS > 0 {
			out["ttlMs"] = t.KeepMS
		}
		if news != nil {
			status = s.detail(ctx, v, t, news, out)
		}
	} else {
		out["ttl"], out["pollInterval"] = t.KeepMS, pollEvery.Milliseconds()
		if t.Code != "" && t.Code != ubl.CodeCancelled {
			status = ubl.TaskFailed
		}
	}
	out["status"] = status
	if message != "" {
		out["statusMessage"] = message
	}
	return out
}

// detail adds to a task of 2026-07-28 what its status brings with it. Whatever the caller would
// have got as a result completes the task.
func (s *Server) detail(ctx context.Context, v *visit, t *ubl.Task, news *News, out map[string]any) string {
	switch {
	case news.Question != nil && v.can.form && s.stillMay(ctx, v, t.Capability) == nil:
		out["inputRequests"] = inputRequest(news.Question)
		return ubl.TaskAsking
	case !news.Ended:
		return ubl.TaskWorking
	case t.Status == ubl.TaskCancelled:
		return t.Status
	}
	result, err := s.cameTo(ctx, v, t, news)
	if err == nil {
		var body []byte
		if body, err = s.appendResult(nil, v, jsontext.Value("0"), result); err == nil {
			var whole struct {
				Result jsontext.Value `json:"result"`
			}
			if err = strict.Unmarshal(body, &whole); err == nil {
				out["result"] = whole.Result
				return ubl.TaskCompleted
			}
		}
	}
	out["error"] = problemOf(ctx, err)
	return ubl.TaskFailed
}

func statusMessage(t *ubl.Task) string {
	switch {
	case t.Status == ubl.TaskAsking:
		return "The tool asks its caller something."
	case t.Status == ubl.TaskCancelled:
		return "The task was cancelled."
	case t.Code == ubl.CodeConflict:
		return "The tool answered that it failed."
	case t.Code != "":
		return "The call failed: " + string(t.Code) + "."
	}
	return ""
}

// appendLater writes the answer to a call that goes on: what it asks, or its task.
func (s *Server) appendLater(v *visit, m *message, l *later) ([]byte, error) {
	fields, kind := map[string]any{}, "task"
	switch {
	case l.question != nil:
		kind = "input_required"
		fields["inputRequests"], fields["requestState"] = inputRequest(l.question), s.makeState(v.who(), l.n, l.question.N, l.tool, l.args)
	case v.modern:
		fields = s.taskOf(context.Background(), v, l.task, nil)
	default:
		fields["task"] = s.taskOf(context.Background(), v, l.task, nil)
	}
	return append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...), `,"result":`...), s.object(v, fields, kind)...), '}'), nil
}

// object is a result: in 2026-07-28 with what it is and who says it.
func (s *Server) object(v *visit, fields map[string]any, kind string) []byte {
	if v.modern {
		fields["resultType"] = kind
		fields["_meta"] = map[string]any{"io.modelcontextprotocol/serverInfo": jsontext.Value(s.info)}
	}
	raw, err := strict.Marshal(fields, strict.Deterministic(true))
	if err != nil { // impossible: texts, numbers, and JSON that was checked
		return []byte(`{}`)
	}
	return raw
}

// related is parameters that name their task.
func related(params json.RawMessage, task string) json.RawMessage {
	meta := []byte(`{"_meta":{"` + metaTask + `":{"taskId":"` + task + `"}}`)
	if len(params) > 2 {
		meta = append(meta, ',')
	}
	return append(meta, params[1:]...)
}
