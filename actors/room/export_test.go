package room

import (
	"context"

	"ubl"
	"ubl/actors"
)

// Open loads a Room for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, env actors.Env) (*Room, error) {
	return open(ctx, read, env)
}

// Snapshot is everything a Room knows.
type Snapshot struct {
	State     State
	Hot       []string
	KeysLow   int64
	KeysHigh  int64
	KeysKnown any
}

// Snapshot copies what the Room knows; only while nothing is in flight.
func (r *Room) Snapshot() Snapshot {
	s := Snapshot{State: r.state, KeysLow: r.keys.Low, KeysHigh: r.keys.High, KeysKnown: r.keys.Known()}
	for _, p := range r.hot {
		s.Hot = append(s.Hot, string(p.json))
	}
	return s
}
