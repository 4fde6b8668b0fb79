package webhooks

import (
	"context"

	"ubl"
	"ubl/actors"
)

// Changing is how many commands change a tenant's webhooks.
func Changing() int { return len(kind().Rules) }

// Opening opens webhooks with a way outside.
func Opening(sender Sender) func(context.Context, ubl.Reader, actors.Env) (*Webhooks, error) {
	return func(ctx context.Context, read ubl.Reader, env actors.Env) (*Webhooks, error) {
		return load(ctx, kind(), read, sender, env)
	}
}

// Snapshot is the state, as it is stored.
func (x *Webhooks) Snapshot() string { return string(x.State.encode()) }

// Look shows a test the state.
func (x *Webhooks) Look(at func(any)) { at(x.State) }

// Restored is the state as its stored form has it.
func (x *Webhooks) Restored() (string, error) {
	s, err := snapshots().Decode(x.State.encode())
	return string(s.encode()), err
}

// LocalName is a tenant's actor's.
const LocalName = localName
