package envelope

import (
	"context"
	"encoding/json"
)

// Act is an operation as a tool that programs and models can use. The API makes
// one of each of its operations.
type Act struct {
	// Name is the tool's, in the dotted form of [ubl.Did]: room.create.
	Name string
	// Title is a short name for people, Description what the tool does.
	Title, Description string
	// Input and Output are JSON Schemas (draft 2020-12) of objects, without
	// references. Input allows no other members than it names.
	Input, Output json.RawMessage
	// ReadOnly acts change nothing but the record of the look itself. Destructive
	// ones replace or take away what was there. Idempotent ones lead to the same
	// state when they are repeated.
	ReadOnly, Destructive, Idempotent bool
	// People acts are for people alone: services aren't shown them, and Do refuses them.
	People bool
	// Do runs the act for the caller in ctx, under the request in ctx, and answers
	// what REST answers. It validates args by itself. Errors are [ubl.Error]; the
	// places in their details are those of arguments, as body.text.
	Do func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
	// Stream is Do for an act whose answer comes piece by piece: it calls piece
	// with each text, in order, before it returns the whole. Nil for other acts.
	Stream func(ctx context.Context, args json.RawMessage, piece func(text string)) (json.RawMessage, error)
	// Show is Do for an act that shows something beside what it says: item is one of MCP's content, as
	// a picture, nil for none. Nil for other acts.
	Show func(ctx context.Context, args json.RawMessage) (answer, item json.RawMessage, err error)
	// Foreign says whose words an answer of Do holds that aren't ours, "" for nobody's,
	// and whether what it tells of failed. Several ids have ", " between them. Nil for
	// acts whose answers hold no words of other servers.
	Foreign func(answer json.RawMessage) (server string, failed bool)
}

// Wrote is [Act.Foreign] for any act.
func (a Act) Wrote(answer json.RawMessage) (server string, failed bool) {
	if a.Foreign == nil {
		return "", false
	}
	return a.Foreign(answer)
}
