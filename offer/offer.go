// Package offer is what a family of actors offers to people and programs by itself: each
// operation over REST at its path, over MCP as a tool, in the OpenAPI document and in the
// tenant's list of tools.
//
// An operation turns what somebody asks for into one question to one actor. That is all of it:
// who is calling, whether they may use the tool, how often, how large, the idempotency key and
// the shape of errors are the transports' business, the rest is the actor's.
//
// A family that names acts of its own brings their forms, too ([Act]).
package offer

import (
	"reflect"

	"ubl"
)

// Operation is one of a family. Of makes it.
type Operation struct {
	// Method and Path are those of REST, below /api. A path names members of the input:
	// {counterId} is counter_id. The others are in the query of a GET, else in the body.
	Method, Path string
	// Tool is the name as a tool, and that of the act where the operation is one.
	Tool string
	// Summary says in a line what it does, More what else there is to know. Models read
	// both, and choose by them: say when to use it, and which other tool there is for what
	// it doesn't do.
	Summary, More string
	// Counts is by which of the caller's rates it is counted; required but for a GET.
	Counts ubl.Rate
	// Creates says that a good answer is a 201. What it has made is at Location then, which is
	// a path below /api: names as in Path are those of the input, others members of the answer
	// (/counters/{counter_id}). Sensitive operations want people at a browser
	// to have signed in lately. Destroys is for one that takes something away.
	Creates, Sensitive, Destroys bool
	Location                     string
	// People says that it is for people alone: services are shown none of it, and are refused.
	People bool

	// Input and Output are structs whose fields have the tags json, and what the OpenAPI
	// document should say of them: pattern, minLength, maximum, doc and so on.
	Input, Output reflect.Type
	// Ask makes the question. The input is a pointer to one of that type.
	Ask func(req ubl.Request, input any) (ubl.Name, ubl.Command)
	// Part is of an operation that answers a list, which comes page by page then: see [Paged]. It
	// leaves of an answer's list the entries from one place to another, which are chosen by the
	// keys of all. Falling says that these fall, as where the newest comes first.
	Part    func(answer any, choose func(keys []string) (from, to int)) any
	Falling bool
}

// Paged has the list of an answer, an *O, come page by page. The list is in the order of its keys. A
// key is its entry's alone, so that the next page begins in the right place also where the entry at
// which the last one ended is gone. Cursor, limit and next_cursor are the transports' business.
func Paged[O, T any](o Operation, list func(*O) *[]T, key func(T) string) Operation {
	o.Part = func(answer any, choose func(keys []string) (from, to int)) any {
		part := *answer.(*O)
		entries := list(&part)
		keys := make([]string, len(*entries))
		for i, entry := range *entries {
			keys[i] = key(entry)
		}
		from, to := choose(keys)
		*entries = (*entries)[from:to]
		return &part
	}
	return o
}

// Of completes an operation with what it takes, what its actor answers (an O or a *O; nothing
// where O has no members), and the question that it is.
func Of[I, O any](o Operation, ask func(ubl.Request, I) (ubl.Name, ubl.Command)) Operation {
	o.Input, o.Output = reflect.TypeFor[I](), reflect.TypeFor[O]()
	o.Ask = func(req ubl.Request, input any) (ubl.Name, ubl.Command) { return ask(req, *input.(*I)) }
	return o
}
