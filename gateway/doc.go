// Package gateway asks models. It speaks the chat completions of OpenAI, which
// most providers and local servers of models speak too, over net/http.
//
// The way of one request:
//
//	Complete  cache (of the tenant) → providers that serve the model, in order
//	ask       POST {url}/chat/completions, streamed where somebody listens
//	read      SSE lines or one JSON object → text, tool calls, usage
//
// # Fallback
//
// The next provider is asked where one can't be reached, answers with a status
// that isn't the request's fault (429, 5xx, and 401, 403, 404: its key or its
// models are set up wrongly), answers with something that is no completion, or
// is too slow, all of it before the first token. After that nothing is begun
// anew: the caller has seen, and the operator pays for, what came. A provider that
// answered 429 with Retry-After is left alone for that long, a minute at most.
//
// # Limits
//
// A provider's timeout bounds the whole call; first-token-timeout bounds the wait
// for the first token of a streamed one, or for any other sign that the model is
// at work: its role, its reasoning (one that isn't streamed comes in one piece, so
// only the timeout holds). An answer has at most 8 MiB, a line of a
// stream 1 MiB, and an answer 128 tool calls. Redirects are not followed.
//
// # Usage and cost
//
// The provider tells the tokens. Where it doesn't, or tells impossible numbers,
// they are estimated as a quarter of the bytes, rounded up, and marked as
// estimated. Costs are tokens times the configured price, in millionths. An answer
// from the cache used nothing and costs nothing.
//
// # Cache
//
// An answer is kept under the hash of tenant and request where the temperature is
// 0 or the caller says that an earlier answer will do, and no tools are offered:
// what a tool does isn't repeated by repeating an answer. It is kept in memory of
// the node, with a TTL and a bound in bytes.
//
// # Errors
//
// Every error is from the table of [ubl.Error], names the provider by its
// configured name, and has none of the provider's text: that may quote prompts and
// keys. Details has the provider and, for the reasons in [reasons], why. Keys
// stand in no error, log or configuration that is printed.
package gateway
