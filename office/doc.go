// Package office does for callers what has its effect outside: it asks models, and
// lets them use tools. It joins the actors (who may, and what is on record), the
// gateway (models) and the portal with our own tools.
//
// The way of office.llm.complete:
//
//	check      the request; the caller may execute in the workspace: its Agreement
//	look       the heuristics look at the prompt
//	BeginCall  the intent is on record, or refused (the budget)
//	steps      the model is asked; what it wants called is called for the caller,
//	           and what came of it goes into the next step
//	look       at every answer and at what tools answered
//	EndCall    the effect: hashes, usage, cost, findings
//
// The intent (this) has workspace_id, model, max_tokens, prompt_hash and the
// findings in the prompt; input_hash covers the whole request. The effect has
// output_hash, the usage of all steps, steps, tool_calls, finish_reason, the
// findings in the answers, and as tools_… those in what tools answered. Texts are
// on record as hashes only: prompt_hash is of {"prompt":…}, output_hash of
// {"completion":…}, both as canonical JSON.
//
// # Checks that block
//
// A blocked text ends the call with forbidden. The intent is on record by then, so
// the refusal is too, as the effect. A prompt that is blocked is shown to no model,
// a tool's answer that is blocked goes no further. Where answers may be blocked
// nobody hears them piece by piece: the whole is looked at first.
//
// # Tools
//
// A model may use the tools that the caller names and may use themselves; each call
// goes the caller's way, with a request id of its own and the completion's as its
// parent, and so has its own refusals and receipts. Completions and
// office.tool.call can't be used from inside a completion. Answers of tools are cut
// at 32 KiB; errors are told to the model, which may mend them. The last step
// allows no tools, so that there is an answer.
//
// # The same key again
//
// A call is made once for a key. While it runs, and for ten minutes after, a
// repetition on the same node gets the same answer. A call goes on as long as one
// of those who asked for it still waits, so that a lost connection costs nothing
// where the repetition has come before the loss is noticed. Else it is a conflict that
// tells in its details how the call ended (n, seq of its receipt, status), since
// texts are not stored; or unavailable while another node makes it, or the node
// that made it is gone and the sweep has not ended it yet.
//
// # What fails
//
// Whatever ends a call, its effect is written within five seconds in a context of
// its own, also for a caller that has gone: with the error, and with the usage until
// then. Where even that fails the caller gets unavailable, and the sweep closes the
// call after its deadline.
package office
