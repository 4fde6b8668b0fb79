package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// A call that fails is answered with a result that says so: the model that made it reads
// results, and can mend its arguments or find another way. Most programs end a model's
// work over an error of JSON-RPC, so that is left for what no model can mend.

// told is the outcome of a call as the client is told it. Errors that are still errors
// then are the protocol's own.
func (s *Server) told(ctx context.Context, v *visit, out *Result, err error) (*Result, error) {
	if err == nil || ofProtocol(err) || errors.Is(ctx.Err(), context.Canceled) { // nobody reads an answer that was cancelled
		return out, err
	}
	e := ubl.AsError(err)
	f := failure{Code: e.Code, Message: e.Message, Details: e.Details, RequestID: envelope.RequestOf(ctx).ID, RetryAfter: e.RetryAfter(), advice: e.Code.Advice()}
	if errors.Is(err, errReadOnly) {
		f.advice = "What changes something needs another address of this server: the same without readonly."
	}
	structured, err := json.Marshal(f)
	if err != nil { // impossible: strings, and maps of strings
		return nil, err
	}
	text := v.names().spellIn(f.text(), func(name string) bool { return s.tools.find(name) != nil })
	content, err := appendText(nil, []byte(text))
	return &Result{Content: json.RawMessage(content), Structured: structured, IsError: true}, err
}

// ofProtocol reports whether an error is one of JSON-RPC, also where a call led to it: the
// request isn't one, the caller is nobody any more, or the fault is the server's own.
func ofProtocol(err error) bool {
	if _, ok := errors.AsType[*rpcError](err); ok {
		return true
	}
	code := ubl.CodeOf(err)
	return code == ubl.CodeUnauthorized || code == ubl.CodeInternal
}

// malformed is err, which the protocol has a number for if it is of the code: the tool
// that was named isn't there, or its arguments are no object.
func malformed(err error, code ubl.Code) error {
	if err == nil || ubl.CodeOf(err) != code {
		return err
	}
	return &rpcError{cause: ubl.AsError(err), code: codeInvalidParams}
}

// failure is what a program is told of a call that failed.
type failure struct {
	Code    ubl.Code `json:"code"`
	Message string   `json:"message"`
	// Details say more, as place → reason. A place is an argument as the caller wrote it.
	Details   map[string]string `json:"details,omitempty"`
	RequestID string            `json:"request_id"`
	// RetryAfter is in seconds, 0 where waiting doesn't help.
	RetryAfter int `json:"retry_after,omitzero"`

	advice string // what a model can do, "" for nothing
}

// failureSchema is what failure looks like, for clients that hold errors too against
// the schema of a tool's answer.
const failureSchema = `{"type":"object","required":["code","message","request_id"],"properties":{` +
	`"code":{"type":"string"},"message":{"type":"string"},"details":{"type":"object"},` +
	`"request_id":{"type":"string"},"retry_after":{"type":"integer"}}}`

// orFailure is a schema of answers with failures among them. Clients made with version 1
// of the official TypeScript SDK refuse an answer that doesn't match, isError or not.
func orFailure(answer json.RawMessage) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"object","anyOf":[%s,%s]}`, answer, failureSchema)
}

// text is what a model is told: what is wrong, where, and what it can do.
func (f failure) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Failed, %s: %s.", f.Code, strings.TrimSuffix(f.Message, "."))
	for _, place := range slices.Sorted(maps.Keys(f.Details)) {
		if detail := f.Details[place]; place != "retry_after" && !strings.Contains(f.Message, detail) {
			fmt.Fprintf(&b, "\n- %s: %s", place, detail)
		}
	}
	if f.advice != "" {
		b.WriteString("\n" + f.advice)
	}
	if f.RetryAfter > 0 {
		fmt.Fprintf(&b, "\nWait %d s before you call again.", f.RetryAfter)
	}
	return b.String()
}
