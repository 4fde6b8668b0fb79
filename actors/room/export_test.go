package room

import (
	"context"
	"io"
	"reflect"

	"ubl"
	"ubl/actors"
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

// FoundAs founds a room with physics of its own.
func FoundAs(req ubl.Request, tenant ubl.TenantID, summary ubl.RoomSummary, policy ubl.RoomPolicy, physics ubl.Physics, random io.Reader) (*actors.Append, error) {
	return found(req, tenant, summary, policy, physics, random)
}

// Changing is how many commands change a Room.
func Changing() int { return len(kind().Rules) }

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
	s := Snapshot{State: r.State, KeysLow: r.Keys.Low, KeysHigh: r.Keys.High, KeysKnown: r.Keys.Known()}
	s.State.recent = recent{}
	for _, p := range r.State.recent.posts {
		s.Hot = append(s.Hot, string(p.stored))
	}
	return s
}
