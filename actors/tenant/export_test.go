package tenant

import (
	"context"
	"reflect"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// EventPage is the most events of one view.
const EventPage = actors.EventPage

// Open loads a Tenant for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, found Places, kinds []ubl.Kind, env actors.Env) (*Tenant, error) {
	with := makers{found, kinds, nil}
	return open(ctx, with.kind(), with, read, env)
}

// Snapshot is everything a Tenant knows.
type Snapshot struct {
	State     State
	KeysKnown any
}

// Snapshot copies what the Tenant knows; only while nothing is in flight.
func (x *Tenant) Snapshot() Snapshot {
	s := Snapshot{State: x.State, KeysKnown: x.Keys.Known()}
	s.State.License = agreement.Kept{Agreement: s.State.License.Agreement} // whether it was shared is not known
	s.State.checkpoints, s.State.meters = checkpointing{}, meters{}
	return s
}

// ManyCheckpoints has a Tenant make one all the time, in small pieces.
func (x *Tenant) ManyCheckpoints() {
	x.Checkpoints(3, 0)
	x.State.checkpoints.piece = 200
}

// Checkpoints changes how many events there are between two checkpoints, at least and for each
// thing that the state has.
func (x *Tenant) Checkpoints(every, each int) {
	x.State.checkpoints.every, x.State.checkpoints.each = every, each
}

// ForgetClaims makes a Tenant as one of a release before there were claims.
func (x *Tenant) ForgetClaims() { x.State.Claims, x.State.Holders = nil, nil }

// Saved is the last event that the newest checkpoint knows.
func (x *Tenant) Saved() int64 { return x.State.checkpoints.saved.Events }

// Replay loads a Tenant from its events alone.
func Replay(ctx context.Context, read ubl.Reader, env actors.Env) (Snapshot, error) {
	kind := makers{}.kind()
	kind.Restore = nil
	x, err := open(ctx, kind, makers{}, read, env)
	if err != nil {
		return Snapshot{}, err
	}
	return x.Snapshot(), nil
}

// Changing is how many commands are in the family's table.
func Changing() int { return len(makers{}.kind().Rules) }

// HeadKey and PieceKey are where a checkpoint is.
func HeadKey() []byte           { return headKey() }
func PieceKey(turn byte) []byte { return pieceKey(turn, 0) }

// CheckpointFields are those of a State and of its checkpoint, and those that follow
// from others.
func CheckpointFields() (state, stored reflect.Type, follow []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[checkpoint](), derived
}
