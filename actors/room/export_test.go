package room

import (
	"context"
	"reflect"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Open loads a Room for tests that compare it with a live one. It makes a snapshot every
// third event.
func Open(ctx context.Context, read ubl.Reader, env actors.Env) (*Room, error) {
	kind := kind()
	kind.Snapshot.Every, kind.Snapshot.Each, kind.Snapshot.Piece = 3, -1, 200
	return open(ctx, kind, read, env)
}

// Replay loads a Room from its events alone.
func Replay(ctx context.Context, read ubl.Reader, env actors.Env) (Snapshot, error) {
	kind := kind()
	kind.Snapshot = nil
	r, err := open(ctx, kind, read, env)
	if err != nil {
		return Snapshot{}, err
	}
	return r.Snapshot(), nil
}

// SnapshotFields tells the types of a State and of its stored form, and which fields of a
// State are read from messages instead.
func SnapshotFields() (state, stored reflect.Type, read []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[snapshot](), besides
}

// Changing is how many commands change a Room.
func Changing() int { return len(kind().Rules) }

// Snapshot is everything a Room knows.
type Snapshot struct {
	State     State
	Stored    string // as a snapshot has it
	Hot       []string
	KeysLow   int64
	KeysHigh  int64
	KeysKnown any
}

// Snapshot copies what the Room knows; only while nothing is in flight.
func (r *Room) Snapshot() Snapshot {
	s := Snapshot{State: r.State, KeysLow: r.Keys.Low, KeysHigh: r.Keys.High, KeysKnown: r.Keys.Known(), Stored: string(r.State.encode())}
	s.State.recent, s.State.Agreement = recent{}, agreement.Kept{} // which is in Stored
	for _, p := range r.State.recent.posts {
		s.Hot = append(s.Hot, string(p.stored))
	}
	return s
}
