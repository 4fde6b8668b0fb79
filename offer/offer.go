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

	// Input and Output are structs whose fields have the tags json, and what the OpenAPI
	// document should say of them: pattern, minLength, maximum, doc and so on.
	Input, Output reflect.Type
	// Ask makes the question. The input is a pointer to one of that type.
	Ask func(req ubl.Request, input any) (ubl.Name, ubl.Command)
}

// Of completes an operation with what it takes, what its actor answers (an O or a *O; nothing
// where O has no members), and the question that it is.
func Of[I, O any](o Operation, ask func(ubl.Request, I) (ubl.Name, ubl.Command)) Operation {
	o.Input, o.Output = reflect.TypeFor[I](), reflect.TypeFor[O]()
	o.Ask = func(req ubl.Request, input any) (ubl.Name, ubl.Command) { return ask(req, *input.(*I)) }
	return o
}
