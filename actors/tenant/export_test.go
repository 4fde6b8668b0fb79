package tenant

import (
	"context"

	"ubl"
	"ubl/actors"
)

// EventPage is the most events of one view.
const EventPage = actors.EventPage

// Open loads a Tenant for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, found Founders, kinds []ubl.Kind, env actors.Env) (*Tenant, error) {
	return open(ctx, read, found, kinds, env)
}

// Snapshot is everything a Tenant knows.
type Snapshot struct {
	State     State
	KeysKnown any
}

// Snapshot copies what the Tenant knows; only while nothing is in flight.
func (x *Tenant) Snapshot() Snapshot {
	s := Snapshot{State: x.state, KeysKnown: x.keys.Known()}
	s.State.License = actors.Agreement{Agreement: s.State.License.Agreement} // whether it was shared is not known
	return s
}
