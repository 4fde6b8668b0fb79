package tenant

import (
	"context"
	"math"
	"reflect"

	"ubl"
	"ubl/actors"
)

// EventPage is the most events of one view.
const EventPage = actors.EventPage

// Open loads a Tenant for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, found Founders, kinds []ubl.Kind, env actors.Env) (*Tenant, error) {
	return open(ctx, read, found, kinds, nil, env)
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

// ManyCheckpoints has a Tenant make one all the time, in small pieces.
func (x *Tenant) ManyCheckpoints() { x.checkpoints = checkpointing{every: 3, piece: 200} }

// Checkpoints changes how many events there are between two checkpoints, at least and for each
// thing that the state has.
func (x *Tenant) Checkpoints(every, each int) {
	x.checkpoints = usualCheckpoints
	x.checkpoints.every, x.checkpoints.each = every, each
}

// ForgetClaims makes a Tenant as one of a release before there were claims.
func (x *Tenant) ForgetClaims() { x.state.Claims, x.state.Holders = nil, nil }

// Saved is the last event that the newest checkpoint knows.
func (x *Tenant) Saved() int64 { return x.saved.Events }

// Replay loads a Tenant from its events alone.
func Replay(ctx context.Context, read ubl.Reader, env actors.Env) (Snapshot, error) {
	x := &Tenant{env: env, read: read, group: env.Name.Group()}
	x.id = x.group.Tenant
	err := x.eachEvent(ctx, math.MaxInt64, x.state.apply)
	if err == nil {
		x.keys, err = actors.LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err != nil {
		return Snapshot{}, err
	}
	return x.Snapshot(), nil
}

// HeadKey and PieceKey are where a checkpoint is.
func HeadKey() []byte           { return headKey() }
func PieceKey(turn byte) []byte { return pieceKey(turn, 0) }

// CheckpointFields are those of a State and of its checkpoint, and those that follow
// from others.
func CheckpointFields() (state, stored reflect.Type, follow []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[checkpoint](), derived
}
