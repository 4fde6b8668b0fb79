package portal

import (
	"context"
	"errors"
	"net"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// notSent is the code of the SDK's own error for a request that didn't get through.
const notSent = -32005

// explain says why a server could not be asked, from an error of the SDK and, where
// there is one, the guard's reason. What the server itself wrote stays in the cause.
func explain(err, reason error) error {
	if reason != nil {
		return ubl.AsError(reason).Because(err)
	}
	if e, ok := errors.AsType[*ubl.Error](err); ok {
		return e
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code != notSent {
		return refusal(wire).Because(err)
	}
	return failure(err).Because(err)
}

// refusal is what a server's JSON-RPC error means to a caller.
func refusal(e *jsonrpc.Error) *ubl.Error {
	switch e.Code {
	case jsonrpc.CodeInvalidParams:
		return ubl.Errorf(ubl.CodeValidation, "the server refuses the arguments")
	case jsonrpc.CodeMethodNotFound:
		return ubl.Errorf(ubl.CodeNotFound, "the server doesn't know what it is asked for")
	}
	return ubl.Errorf(ubl.CodeUnavailable, "the server failed with the JSON-RPC error %d", e.Code)
}

// failure tells apart the ways in which a server doesn't answer.
func failure(err error) *ubl.Error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return ubl.Errorf(ubl.CodeUnavailable, "the server didn't answer in time")
	case errors.Is(err, context.Canceled):
		return ubl.Errorf(ubl.CodeUnavailable, "the call was given up before the server answered")
	case errors.Is(err, errRedirect):
		return ubl.Errorf(ubl.CodeUnavailable, "the server redirects to another one: an owner must set its new address")
	case errors.As(err, &dns):
		return ubl.Errorf(ubl.CodeUnavailable, "the server's name can't be resolved")
	case unreached(err):
		return ubl.Errorf(ubl.CodeUnavailable, "couldn't connect to the server")
	case errors.Is(err, mcp.ErrSessionMissing):
		return ubl.Errorf(ubl.CodeUnavailable, "the server ends its sessions at once")
	}
	return ubl.Errorf(ubl.CodeUnavailable, "the server doesn't answer as an MCP server does")
}

// unreached reports whether no connection to the server was made.
func unreached(err error) bool {
	var dns *net.DNSError
	var dial *net.OpError
	return errors.As(err, &dns) || errors.As(err, &dial) && dial.Op == "dial"
}

// mayHaveRun is what a caller is told of a call that ended without an answer.
func mayHaveRun(err error) error {
	e := ubl.AsError(err)
	return ubl.Errorf(e.Code, "%s; the tool may have run all the same, so look before you call it again", e.Message).Because(e.Cause).Once()
}
