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
//	tools/list
//	          answered here, from tools that are encoded already
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
// # Sets
//
// Each tool is in one set: ours by the table in sets.go, another server's in the set of its
// server's id. A server whose id is a set of ours is reached as server:id. Two words stand for
// more: default, and all. A request says which sets it wants listed, and whether it only reads:
//
//	/mcp/messenger,files/readonly         the path: sets, /readonly or both
//	/mcp?sets=messenger&readonly=true     the query
//	X-MCP-Toolsets, X-MCP-Readonly        headers
//
// The path beats the query, and that the headers; sets and readonly each for itself. A query with
// another name in it is refused: a misspelt readonly must not let a client write. X-MCP-Read-Only
// is taken as well. Every request
// says it anew: a session knows nothing of it. A set that there isn't is a validation error that
// lists those that there are. ?schemas=output, or X-MCP-Schemas, adds the schemas of answers.
//
// A set chooses what is listed and guards nothing: every tool can be called by its name. The three
// tools that find the others are listed at every address, so that none is a dead end. The
// instructions of initialize and server/discover tell of the address that was asked: of listed tools
// alone, and of no other address where the token counts at this one only.
// What is listed and found at all is what the caller may use, as far as that is known before a call:
//
//	ToolAccess   closes no tool to them ([Options.Visible])
//	role         the tool is for them: the table says for whom, and the tenant's own terms may
//	             permit more ([Options.Permits])
//	Mandate      the Agreement of an agent names it ([Options.Mandate])
//	readonly     it only reads
//
// The actors decide the first two again for each call. The last two are decided here, for calls
// and lists alike. Another server's tool only reads if the definition that an owner has approved
// says so.
//
// What a person lets an agent use is cut otherwise: see grants.go.
//
// By default a list has at most 15 tools and 24,000 bytes: a choice of ours (standard), and at the
// portal the tools of servers, whole servers by their ids until the next one doesn't fit.
//
// # The long tail
//
// Three tools reach all others. tool.search ranks what the caller may use by words (package find)
// and answers names with the schemas of their arguments; tool.describe tells all of one;
// tool.call calls one by its name. A tool.call is turned into the call that it means before
// anything else looks at it, so rights, receipt, key, row in the portal's log, marks and errors
// are those of the tool, and tool.call itself never runs. An owner may close it like any tool.
// An index is made once for each catalogue of other servers' tools, and shared by all who may
// use the same.
//
// # Programs
//
// tool.run runs a program (package script) that calls tools. It is open to members like each tool
// without a record: a program can do nothing that its caller can't. Its calls go where a tools/call
// goes: the tenant lets the caller in anew for each, so that rights, bounds of the Agreement,
// rates, receipts, rows and marks are those of the tool that is called. What is its own:
//
//	request   each call has a request id of its own; its parent is the run's
//	key       of the run's nth write: made of the run's key and n, so that a repeated run does no
//	          write twice. A key in the arguments beats it
//	readonly  holds for each call; tool.run itself is listed as reading there
//	marks     an answer that may hold other servers' words names all that answered
//	errors    a refused call throws in the program. What the program doesn't catch, and the bound
//	          that stops it, are told in the result: error and stopped, with isError
//	itself    a program can't run another one
//
// The run leaves no receipt: it does nothing but what its calls do.
//
// # Keys
//
// A call of ours whose client_request_id has the form of a request id has that as its request id.
// Another server's tool has the same argument, though that server never sees it: it is the key by which
// the portal makes the call once. A tool that has an argument of this name itself keeps it.
//
// # Answers for models
//
// Tools that read answer briefly unless full is true: see [envelope.Brief]. office.file.read answers a text
// piece by piece, a picture as an item beside the answer, and a link to what is neither. It is
// a part of office.file.get: that tool's record closes it, and the receipt is of that act. What
// is listed of arguments leaves out what costs more than it tells (lean.go); tool.describe has all of it.
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
// # Salts
//
// The salt of an act whose content is stored nowhere is told once, in its answer: of a call of another
// server's tool, and of a search's query. A result has it as "ubl/salt" in its _meta, for programs;
// tool.run has it at each of its calls. Salts of what is stored are read with it (full: true).
//
// # What other servers offer beside tools
//
// At the portal their prompts are server.prompt, and their resources and templates have the server's
// own URI behind ubl://servers/, the id and a slash: ubl://servers/weather/map://lisbon/{day}. The
// portal's tools server.prompts and server.resources stand for them: who may use the tool is
// shown what it stands for, and a prompt that is written out or a resource that is read is a
// call of that tool, with its gate, receipt and row in the log. Clients without prompts or resources call the tool. Resources
// are listed behind ours, a page a server: only a client that turns the page has servers asked.
// A resource bears the mark in its _meta, so that programs get it as it is; a prompt has a
// message before it that says whose it is, and isn't called data: the user has chosen it.
// Links to resources in results name what can be read here. Completions are counted like calls, and leave no receipt. Another server's resource can't be subscribed to.
// A set chooses tools alone.
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
// # Views
//
// A client that shows MCP Apps (SEP-1865) says so in its capabilities: extensions, io.modelcontextprotocol/ui.
// Its lists name a view at two tools, in _meta.ui: ui://ubl/room at messenger.history, and
// ui://ubl/receipt at receipt.get. It reads the view as a resource and shows the tool's answers by it.
// A session's id says whether its client does. Others are told nothing and pay no byte; views are in
// no list of resources. A view (app/src/views of package web) is one page that asks nobody for anything. Where the client
// passes calls on, a room's view has a receipt fetched when somebody presses for it, by the agent's own
// rights, and computes its hashes in the page.
//
// # Questions and tasks
//
// A call through the portal may outlive its request ([Calls]): its server asks the caller something,
// or it is a task. What it is then is on record with the Portal, so every message may reach another node.
//
//	            2025-11-25 and before               2026-07-28
//	question    a request on the stream of the      a result, input_required, with a state; the
//	            call, to a session whose client     client calls again with the reply and the
//	            can show forms (its id says so);    state (state.go), which opens for the same
//	            the reply is a POST                 caller and call alone, for 15 minutes
//	task        where the call says task            where the client knows the extension, and the
//	                                                call hasn't ended after 5 s
//	            tasks/get, result, list, cancel     tasks/get, update, cancel
//
// Tools of other servers can be tasks, and tool.run, which is on record as a call then. A call
// that could be a question's or a task's and is neither answers as always. A client that can't show forms
// isn't asked: the server hears so. A task's id counts for who began it. The Tenant is asked again before a
// question or an answer is told later, and before a reply is passed on: who may not use the tool any more
// gets neither, and can only cancel.
//
// A call that a person has to confirm is a question's: at /mcp, too, for our own tools, which are on record as
// calls then. A client that can't show forms is refused, and so is a call in a program, which can't wait so long.
//
// # Found by others
//
// Who knows the host alone finds a catalogue at the well-known places, by it a card of each server
// here, and by that the address (SEP-2127). Cards are for anyone, follow the host that was asked, and never
// say what tools there are. See card.go.
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
