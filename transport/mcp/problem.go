package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"ubl"
	"ubl/transport/envelope"
)

// Codes of JSON-RPC, of MCP, and of our own (the table is in the package's
// comment).
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeHeaderMismatch = -32020
	codeUnsupported    = -32022
	codeRateLimited    = -32029
	codeUnavailable    = -32053
	codeFull           = -32057
	codeOfStatus       = -32000 // less the last two digits of a 4xx status
)

// codeOf is the JSON-RPC code for one of the table.
func codeOf(code ubl.Code) int64 {
	switch status := code.Status(); {
	case code == ubl.CodeUnknownTool: // as the protocol wants it
		return codeInvalidParams
	case status == http.StatusBadRequest:
		return codeInvalidParams
	case status == http.StatusInternalServerError:
		return codeInternal
	case status == http.StatusTooManyRequests:
		return codeRateLimited
	case status == http.StatusInsufficientStorage:
		return codeFull
	case status >= 500:
		return codeUnavailable
	default:
		return codeOfStatus - int64(status%100)
	}
}

// rpcError is an error of the table that the protocol has a code of its own for.
type rpcError struct {
	cause *ubl.Error
	code  int64
	// status is that of the HTTP answer; 0 for what goes with the code.
	status int
	// uri is of the resource that wasn't found. supported and requested are
	// versions. The protocol wants them told.
	uri       string
	supported []string
	requested string
}

func (e *rpcError) Error() string { return e.cause.Error() }

func (e *rpcError) Unwrap() error { return e.cause }

// rpcErrorf is a validation error, or one of a method that isn't there, with a
// code of the protocol.
func rpcErrorf(code int64, format string, args ...any) *rpcError {
	of := ubl.CodeValidation
	if code == codeNoMethod {
		of = ubl.CodeNotFound
	}
	return &rpcError{cause: ubl.Errorf(of, format, args...), code: code}
}

// invalid says which parameter is wrong and why.
func invalid(place, reason string) *ubl.Error {
	e := ubl.Errorf(ubl.CodeValidation, "%s: %s", place, reason)
	e.Details = map[string]string{place: reason}
	return e
}

// problem is an error as it goes over the wire.
type problem struct {
	Code    int64       `json:"code"`
	Message string      `json:"message"`
	Data    problemData `json:"data"`
}

type problemData struct {
	Code      ubl.Code          `json:"code"`
	Details   map[string]string `json:"details,omitempty"`
	RequestID string            `json:"request_id"`
	URI       string            `json:"uri,omitempty"`
	Supported []string          `json:"supported,omitempty"`
	Requested string            `json:"requested,omitempty"`
	// RetryAfter is in seconds, 0 where waiting doesn't help.
	RetryAfter int `json:"retry_after,omitzero"`
}

// problemOf is what a caller is told of err.
func problemOf(ctx context.Context, err error) *problem {
	e := ubl.AsError(err)
	p := &problem{Code: codeOf(e.Code), Message: withDetails(e)}
	p.Data.Code, p.Data.Details, p.Data.RequestID = e.Code, e.Details, envelope.RequestOf(ctx).ID
	p.Data.RetryAfter = e.RetryAfter()
	if special, ok := errors.AsType[*rpcError](err); ok {
		p.Code = special.code
		p.Data.URI, p.Data.Supported, p.Data.Requested = special.uri, special.supported, special.requested
	}
	return p
}

// withDetails is the error's message with its details, which many clients don't
// show to the model that could mend its arguments by them.
func withDetails(e *ubl.Error) string {
	said := e.Message
	for _, place := range slices.Sorted(maps.Keys(e.Details)) {
		if detail := place + ": " + e.Details[place]; !strings.Contains(said, detail) {
			said += "; " + detail
		}
	}
	return said
}

// status is that of an answer with the problem, where the request as such was
// in order: 2026-07-28 wants some codes seen by proxies.
func (p *problem) status(modern bool) int {
	switch {
	case modern && p.Code == codeNoMethod:
		return http.StatusNotFound
	case modern && (p.Code == codeInvalidParams || p.Code == codeUnsupported):
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// wire is the problem for the SDK to answer with.
func (p *problem) wire() error {
	data, err := json.Marshal(p.Data)
	if err != nil { // impossible: strings and maps of strings
		data = nil
	}
	return &jsonrpc.Error{Code: p.Code, Message: p.Message, Data: data}
}

// blame logs what is our own fault.
func (s *Server) blame(ctx context.Context, what string, err error) {
	if ubl.CodeOf(err) == ubl.CodeInternal {
		s.opts.Log.ErrorContext(ctx, what, "request_id", envelope.RequestOf(ctx).ID, "error", err)
	}
}
