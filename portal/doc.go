// Package portal is the portal service of a node: the way from a tenant to the
// external MCP servers that its owners have added. The Portal actor of the tenant
// remembers; this package connects, and does what an actor must not: it waits.
//
// # Data
//
// Nothing here is lasting. A node holds, for tenants that use it: a catalogue
// (servers, pinned tools, who may use them), dropped whenever the tenant's feed
// tells of a change; sessions with servers, one for each set of credentials;
// compiled input schemas; and log rows that wait to be written. Everything else
// is asked of the actors. Secrets are sealed under the node's key before an actor
// sees them, bound to tenant, server and address (see purpose).
//
// # The way of one call
//
//	Enter       the Tenant: member? ToolAccess? within the limit? In the same go:
//	BeginCall   the Portal: the intent is durable, with a receipt
//	arguments   against the pinned definition
//	session     opened, or the one that is open
//	tools/call  until the deadline: one POST of our own (see poster), or by the SDK
//	EndCall     the effect is durable; then the caller hears
//
// A refusal by the Tenant is a row in the log and, as far as the Tenant tells of it,
// an act of its own. What comes
// after BeginCall always ends in an effect: by EndCall, or by the sweep of the
// Portal once the deadline has passed. Where the sweep was first, or the effect can't
// be put on record, the caller gets unavailable, whatever the server answered. A call
// is made at most once for each key: its answer is not kept, so a second try is told
// so: conflict, or unavailable while the first has not ended.
//
// # Calls that outlive their request
//
// [Portal.Begin] begins a call that goes on when its request has ended: a task, or one whose caller
// may be asked something ([Flight]). It is a call like others, with its intent and its effect; besides,
//
//	AskCaller   the node that makes it shows its question to the Portal, again and again until
//	            there is a reply; and hears, each second, whether the call was cancelled
//	ReplyCall   a reply that came to any node
//	CancelCall  the effect is on record at once, with the code cancelled; the node gives the call up
//	EndCall     the effect, and in the same commit the answer: sealed by the node, beside the ledger,
//	            for as long as the task said (a day at most), else for ten minutes
//	ReadTask    how it stands, and what it came to, asked by any node
//
// Only who began a call can do any of that. Questions and replies are nowhere stored: the Portal
// holds them in memory, and who waits asks again, so one that moves loses none. An answer that is
// larger than [ubl.MaxKept] isn't kept, nor one beyond so many ([ubl.MaxUserTasks]). A task whose
// node has gone ends with unavailable: for who asks for it a minute after its node was heard of last,
// else with its lease. An answer goes with a call that begins after its time. A task takes half
// an hour at most.
//
// # Questions
//
// A server may ask the person in front of its caller's client for a form (elicitation) in the
// middle of a call: by a question in its session or, from 2026-07-28 on, by its result. An owner opens that
// to people as a tool, SERVER.elicitation, which is closed until then; a server's own tool of that name
// stays what it is, and nobody is asked then. The Tenant decides for each question, and counts it.
//
// A call whose caller can be asked has a session of its own with the server: what the server asks
// there is about this call and can reach nobody else. With a program that is a process of its own. There
// alone the portal says that it can be asked, and where it lists the tools of a server that may ask: some
// have other tools then, which come with the next sync after an owner has opened that. The portal makes
// a form of its own of what the protocol allows: bounded, and without credentials, patterns and what
// can't be seen. Whose question it is stands before the server's words; they have no blank lines, and titles
// and values no line breaks. What doesn't fit is declined, and so are pages (URL mode): whoever sees one
// takes it for ours. One question is asked at a time, ten in a call; a call waits five minutes for its
// caller, which isn't the server's time.
//
// The effect of the call says how many were asked, what became of each (replies) and a commitment to the
// questions (asked_hash), under the call's salt. What was replied is in no record.
//
// A server's tool that can be called as a task alone (2025-11-25) isn't listed: the portal makes tasks of
// calls for its callers, and calls no tool as one.
//
// # Calls that a person confirms
//
// A tool's record and an agent's mandate may want a person asked before the agent uses it
// ([Portal.Confirms]). The call is begun as one that outlives its request, and asks by a form without
// fields before anything is done. The form says who is about to use what, with the first 2,000 characters
// of the arguments, without the values of what is called a password, token or the like. Whatever isn't an
// acceptance ends the call, with declined, or with confirmation_required after five minutes. The call's effect
// says what became of the question, as above. The Tenant refuses what isn't begun so.
//
// Sampling isn't passed on: 2026-07-28 deprecates it. Servers hear that the portal can't.
//
// # What servers offer beside tools
//
// Prompts and resources are used by two tools that the portal makes for a server that has
// them: server.prompts and server.resources (see [ubl.Offer]). To the actors they are tools
// like any: closed until an owner opens them, pinned, held where they change, called with
// intent and effect. The definition of the first holds all prompts, that of the second all templates
// of resources: those are few, and what a model reads first. The list of resources isn't
// pinned, since it is long and changes all the time: it is asked for when somebody looks, and
// kept for a minute. What is behind a name isn't pinned with either: a server writes it anew each time.
// Lists have no more than [ubl.MaxPrompts], MaxTemplates and MaxResources entries; what has
// secrets or invisible characters in its name or URI is left out. Completions are asked for and not on record: they come with
// each key that is pressed. A tool of the server's own that is called prompts or resources
// stays what it is, and there is no other of the name.
//
// # APIs
//
// A server of the kind openapi is an HTTP API: a sync reads its document (see package openapi), and
// its operations are its tools. The definition says how an operation is asked for, so
// that is pinned and approved with the rest; a call takes it from there and not from the document. Credentials, bounds,
// addresses, redaction and outcomes are those of other servers. A status that isn't success is a result
// that says isError; 401 and 403 are forbidden and 429 is rate_limited, as everywhere. The document is asked for with the
// credentials only where it is on the API's own server.
//
// # Programs
//
// A server of the kind stdio is a program that the operator allows by name (package stdio). A session is one
// process, which speaks lines of JSON-RPC over its pipes (see program): a node has one for each server of each tenant,
// from the first call until it is idle. Bounds, redaction, pinning and outcomes are those of other servers. A line is bounded
// as an answer is, and so is what comes between two answers. The owner's secret goes into its environment, sealed until then and bound
// to the command's name. A process that ends, or that lets a call run out of time, makes room for another with the next call; one that ended soon
// after its start rests as long as a server that is down. Another node starts its own: nothing that a process keeps is anybody's to rely on.
//
// # Outcomes
//
// A call that the server answered with a result is outcome ok, one whose result
// says isError is outcome error with the code conflict: both reach the caller as a
// result. A call that its caller gave up is outcome error with the code cancelled, and says how far it was.
// Everything else is an error: validation_error for arguments that the
// definition or the server refuses, not_found for a tool that the server doesn't
// know, forbidden where credentials are missing or refused, rate_limited where the
// server says so, overloaded where too many calls are under way, and unavailable for a server that is down, slow, broken or
// too talkative. What a server wrote into an error is never shown.
//
// # Servers that are down
//
// A sync that fails leaves since when the server has been down, and that gives the
// timetable of the tries that follow ([ubl.NextTry]): every node can say when the next is.
// The Portal's alarms keep to it, and have the node that leads the tenant's partition ask
// (SyncServer), 32 servers at a time and four of a tenant. A try that fails as the one before
// leaves no trace, but once a day.
//
// # What servers may do
//
// Anything: be slow, huge, endless or malformed, close in the middle, flood us with
// questions, change their tools, redirect elsewhere. Every wait ends with a
// deadline, every answer is cut off at a size (see guard), nothing they send is
// followed to another server, and names never lead to addresses that hand out
// credentials (see reachable). Private addresses are for tenants whose operator allows
// the network; others hear no more than that a server can't be reached (see
// errUnreachable). Input schemas that would take long to check are
// not checked here (see tame): the server does it. Metadata can't send a user to one host and
// their code to another unless an owner agreed (see checkMixUp). A provider whose own page sends
// the browser on to another can't be told from here: there only the name it gives itself helps
// (RFC 9207), and the page that shows the user which host gets the code.
//
// What they say, in results, descriptions and progress, loses first what can't be seen
// ([ubl.Plain]), then the credentials that they were sent, in every form that those come by
// in passing (see forms). Where that can't be done, the result is an error. Whose words it
// is goes with it ([ubl.ToolResult.Foreign]).
package portal
