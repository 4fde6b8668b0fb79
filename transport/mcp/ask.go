package mcp

import (
	"context"
	"strconv"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
)

// Questions and replies on the wire.

// askID begins the id of a question to a client of the era before 2026-07-28.
const askID = "ask-"

// ask puts a question to a client of that era, on the stream of its call. task is the task that
// it belongs to, "" for none.
func (t *talk) ask(n int64, q *ubl.Question, task string) {
	params := q.Params
	if task != "" {
		params = related(params, task)
	}
	t.send(appendEvent(nil, map[string]any{
		"jsonrpc": "2.0", "id": askID + strconv.FormatInt(n, 10) + "-" + strconv.Itoa(q.N), "method": q.Kind, "params": jsontext.Value(params),
	}))
}

// inputRequest is a question as a result of 2026-07-28 bears it.
func inputRequest(q *ubl.Question) map[string]any {
	return map[string]any{questionKey(q.N): map[string]any{"method": q.Kind, "params": jsontext.Value(q.Params)}}
}

func questionKey(n int) string { return "q" + strconv.Itoa(n) }

// replyIn is the reply to a question among a client's, nil for none.
func replyIn(raw jsontext.Value, question int) []byte {
	var replies map[string]jsontext.Value
	if len(raw) == 0 || strict.Unmarshal(raw, &replies) != nil {
		return nil
	}
	return replies[questionKey(question)]
}

// reply passes on what to has as the reply to what a call asks, nil for nothing. One that nobody waits for
// any more is ignored, as the protocol has it. It is not_found where the caller has no such call.
func (s *Server) reply(ctx context.Context, v *visit, n int64, to func(question int) []byte) error {
	if err := v.caller.Count(ubl.Sends); err != nil {
		return err
	}
	task, news, err := s.opts.Calls.Task(ctx, v.who(), n)
	if err != nil || news.Question == nil {
		return err
	}
	reply := to(news.Question.N)
	if reply == nil {
		return nil
	}
	if _, _, err := s.admitted(ctx, v, s.tools.find(task.Capability), task.Capability); err != nil {
		return err
	}
	if err := s.stillMay(ctx, v, task.Capability); err != nil {
		return err
	}
	err = s.opts.Calls.Reply(ctx, v.who(), n, news.Question.N, reply)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil
	}
	return err
}

// replied takes a client's answer to a question, on whatever node it comes.
func (s *Server) replied(ctx context.Context, v *visit, m *message) error {
	var id string
	if s.opts.Calls == nil || strict.Unmarshal(m.ID, &id) != nil {
		return nil
	}
	n, question, ok := readAskID(id)
	if !ok {
		return nil
	}
	reply := []byte(m.Result)
	if reply == nil { // an error of the client's
		reply = []byte(`{"action":"cancel"}`)
	}
	err := s.reply(ctx, v, n, func(asked int) []byte {
		if asked != question {
			return nil
		}
		return reply
	})
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil
	}
	return err
}
