// Package mcp is the Model Context Protocol server: the acts of the API as
// tools, rooms, documents and receipts as resources, and prompts for the common
// jobs. /mcp has our own tools, /portal/mcp those of other servers besides.
//
// # Two eras
//
// A request with the header MCP-Protocol-Version of 2026-07-28 or later stands
// by itself: it says in its _meta who the client is, and nothing is remembered.
// Older clients begin with initialize and get a session. Its id is sealed and
// holds all there is to know (see [sessions]), so that any node takes it and
// none has to be asked. Another caller's id is as unknown as one made up.
//
// # The way of one request
//
//	door      Origin, method, Accept, size; one JSON-RPC message; headers and
//	          _meta against each other; parameters of the right type
//	tools/call, nobody wants progress
//	          run here, answered as JSON
//	subscriptions/listen, GET
//	          a channel: notifications until somebody ends it
//	initialize
//	          answered here: a session's id
//	resources/subscribe
//	          noted for the session's channel
//	all else  the SDK, stateless, with one server for everyone: our middleware
//	          answers what depends on the caller, so no caller's state is shared
//
// The door refuses what the SDK would refuse, with the same codes and statuses;
// it names the place and not the value, which the SDK's own errors quote. A
// tools/call gives the same answer on both ways; a test runs the transcripts on
// each.
//
// # Errors
//
// A call that fails is a result with isError and the HTTP status 200: a model reads it,
// and mends its arguments or finds another way. So is every error of the table that
// tells what became of the call: arguments, rules, rates, quotas, and also overloaded
// and unavailable, since it is the caller who waits and calls again. Its text names
// each argument as the caller wrote it, what is wrong and what would be right; its
// structured content is for programs: code, message, details, request_id, and
// retry_after in seconds where waiting helps. The output schemas that tools are listed
// with allow for it. See failure.go.
//
// An error of JSON-RPC is left for what is no call, or what no model can mend: a message
// that is no JSON-RPC, an unknown method, parameters of the wrong type, a tool that isn't
// there (-32602, as the protocol wants it), a caller whose credential has ended, a fault
// of our own, and every other method. data holds code, details, request_id and
// retry_after. The numbers: -32602 validation_error, -32001 unauthorized, -32003
// forbidden and not_a_member, -32004 not_found, -32029 rate_limited, -32603 internal; the
// others follow their status: 409 is -32009, 413 -32013, 415 -32015, 503 -32053,
// 507 -32057. An unknown prompt, and a resource that can't be found, are -32602.
//
// Results with isError of other servers' tools are passed on as they are.
//
// # Other servers' words
//
// A tool of another server has "ubl/foreign": {"server": id} in its _meta, and its
// description begins with whose it is. So has each result of it; its content stands
// between two items of text of our own that bear the same number, drawn once the content
// is known. Structured content stays as it is, for programs.
//
// Answers of our own tools that hold such words are marked the same way, as a whole:
// office.tool.call, portal.tool.list, portal.tool.approve and portal.discover ([envelope.Act]
// says whose they are). The server is then the one that was called, the ids of those whose
// tools are shown with ", " between them, or "MCP registry". Whatever comes without the
// mark is ours. See foreign.go in the root package.
//
// # Channels
//
// A channel holds one goroutine, the response and a set of what is to be told:
// notifications say that something changed, never what, so one of a kind is
// enough however often it happened. One subscription to the tenant's ledger
// feeds all channels of the tenant on a node. A hole in it (a leader died before
// it published) tells everything that is subscribed. Who may still see a
// resource is asked again before it is told of, at least every 10 s and after
// each change of membership.
//
// A session's subscriptions are kept by the node that took them, and reach the
// channel if that node holds it: a balancer in front of several nodes should
// send a session to one node by its Mcp-Session-Id. Without that everything else
// works; a channel that comes to another node begins with list_changed, which
// has clients look anew. Clients of 2026-07-28 name what they listen to in the
// request of the channel itself and have no such limit. What a node remembers is
// bounded, for each user and for all: where it is too much, a user's own oldest
// sessions without a channel are forgotten first. A receipt can't be subscribed to.
//
// # What fails
//
// A tool that panics is answered with -32603 and logged. A client that doesn't
// read runs into a write deadline of 10 s. DELETE ends a session's channels and
// makes its id unknown on that node; being kept nowhere, the id stays good on
// others until its caller's credential ends. A batch, which clients of
// 2025-03-26 may send, holds one request at most: a second act could not have an
// idempotency key of its own.
package mcp
