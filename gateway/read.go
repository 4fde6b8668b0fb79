package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"ubl"
)

// Bounds of an answer.
const (
	maxAnswer    = 8 << 20
	maxLine      = 1 << 20
	maxToolCalls = 128
)

// assembly puts an answer together from its parts.
type assembly struct {
	onDelta func(string) // nil where nobody listens
	begun   func()       // called with each choice: the model is at work
	any     bool         // whether a token has come

	text   strings.Builder
	calls  []partialCall
	finish string
	usage  *wireUsage
}

// partialCall is a tool call as far as it has come.
type partialCall struct {
	id         string
	name, args []byte
}

var (
	errManyCalls = errors.New("too many tool calls")
	errSaid      = errors.New("the stream said that it failed")
)

// add takes in an answer or a chunk of one.
func (s *assembly) add(w *wireAnswer) error {
	if w.Usage != nil {
		s.usage = w.Usage
	}
	if w.Error != nil {
		return errSaid
	}
	if len(w.Choices) == 0 {
		return nil
	}
	s.begun() // a model that reasons says so, or only its role, long before its first token
	c := w.Choices[0]
	if c.FinishReason != "" {
		s.finish = c.FinishReason
	}
	d := c.Delta
	if d == nil {
		d = c.Message
	}
	if d == nil {
		return nil
	}
	s.any = s.any || d.Content != "" || len(d.ToolCalls) > 0
	if d.Content != "" {
		s.text.WriteString(d.Content)
		if s.onDelta != nil {
			s.onDelta(d.Content)
		}
	}
	for _, call := range d.ToolCalls {
		if err := s.addCall(call); err != nil {
			return err
		}
	}
	return nil
}

// addCall adds to the call that a delta belongs to. One without an index is a
// whole call.
func (s *assembly) addCall(c wireCall) error {
	at := len(s.calls)
	if c.Index != nil {
		at = *c.Index
	}
	if at < 0 || at >= maxToolCalls {
		return errManyCalls
	}
	for len(s.calls) <= at {
		s.calls = append(s.calls, partialCall{})
	}
	call := &s.calls[at]
	if c.ID != "" {
		call.id = c.ID
	}
	call.name = append(call.name, c.Function.Name...)
	call.args = append(call.args, c.Function.Arguments...)
	return nil
}

// answer is what has come so far. A call whose id was left out gets one; one
// without a name can't be made.
func (s *assembly) answer() *Answer {
	a := &Answer{Text: s.text.String(), Finish: s.finish}
	for i, c := range s.calls {
		if len(c.name) == 0 {
			continue
		}
		id := cmp.Or(c.id, "call_"+strconv.Itoa(i))
		a.ToolCalls = append(a.ToolCalls, ToolCall{ID: id, Name: string(c.name), Arguments: string(c.args)})
	}
	return a
}

// readWhole reads an answer in one piece.
func (p *provider) readWhole(ctx context.Context, body io.Reader, into *assembly) *failure {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return p.broken(ctx, err)
	}
	if len(data) > maxAnswer {
		return p.tooLong()
	}
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil || w.Error == nil && (len(w.Choices) == 0 || w.Choices[0].Message == nil) {
		return p.garbled()
	}
	return p.take(&w, into)
}

// readStream reads server-sent events. Each data line is one chunk, as every
// provider sends it; other fields and comments are passed over.
func (p *provider) readStream(ctx context.Context, body io.Reader, into *assembly) *failure {
	limited := &io.LimitedReader{R: body, N: maxAnswer + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			return p.ended(into)
		}
		var w wireAnswer
		if json.Unmarshal(data, &w) != nil {
			if limited.N <= 0 { // our own bound has cut the line
				break
			}
			return p.garbled()
		}
		if failed := p.take(&w, into); failed != nil {
			return failed
		}
	}
	switch err := lines.Err(); {
	case limited.N <= 0 || errors.Is(err, bufio.ErrTooLong):
		return p.tooLong()
	case err != nil:
		return p.broken(ctx, err)
	}
	return p.ended(into)
}

// ended accepts the end of a stream that said why it stopped. Not every server
// sends [DONE], and not every one a reason before it; without both, the rest is
// missing.
func (p *provider) ended(into *assembly) *failure {
	if into.finish == "" {
		return p.fail(ubl.CodeUnavailable, "broke its answer off").reason("broken_off")
	}
	return nil
}

// take adds a chunk, and fails where it is one to fail on.
func (p *provider) take(w *wireAnswer, into *assembly) *failure {
	switch err := into.add(w); {
	case errors.Is(err, errManyCalls):
		return p.fail(ubl.CodeUnavailable, "wants more tools called than are allowed").reason("tool_calls")
	case err != nil:
		return p.refusal(inStream, w.Error.reason())
	case into.finish == "content_filter":
		return p.refusal(inStream, "content_filter")
	}
	return nil
}

func (p *provider) tooLong() *failure {
	return p.fail(ubl.CodeUnavailable, "sent more than an answer may have").reason("too_long")
}

func (p *provider) garbled() *failure {
	return p.fail(ubl.CodeUnavailable, "sent something that is no completion").reason("garbled")
}
