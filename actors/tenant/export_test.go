package tenant

import (
	"context"
	"encoding/json"
	"math"
	"reflect"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// EventPage is the most events of one view.
const EventPage = actors.EventPage

// Open loads a Tenant for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, found Places, kinds []ubl.Kind, env actors.Env) (*Tenant, error) {
	return OpenEvery(ctx, read, found, kinds, env, Saving{})
}

// Saving says when there are snapshots, as of [actors.Snapshots].
type Saving struct{ Every, Each, Piece, Keep int }

// OpenEvery loads a Tenant that makes snapshots at other times.
func OpenEvery(ctx context.Context, read ubl.Reader, found Places, kinds []ubl.Kind, env actors.Env, saving Saving) (*Tenant, error) {
	with := makers{found, kinds, nil}
	kind := with.kind()
	kind.Snapshot.Every, kind.Snapshot.Each, kind.Snapshot.Piece, kind.Snapshot.Keep = saving.Every, saving.Each, saving.Piece, saving.Keep
	return open(ctx, kind, with, read, env)
}

// Snapshot is everything a Tenant knows.
type Snapshot struct {
	State     State
	Stored    string // as a snapshot has it
	KeysKnown any
}

// Snapshot copies what the Tenant knows; only while nothing is in flight.
func (x *Tenant) Snapshot() Snapshot {
	s := Snapshot{State: x.State, KeysKnown: x.Keys.Known()}
	s.Stored, s.State.License, s.State.Tools, s.State.Kinds, s.State.Services = string(x.State.encode()), agreement.Kept{}, nil, nil, nil // which are in Stored
	s.State.meters = agreement.Meters{}
	return s
}

// ForgetClaims makes a Tenant as one of a release before there were claims.
func (x *Tenant) ForgetClaims() { x.State.Claims, x.State.Holders = nil, nil }

// Replay loads a Tenant from its events alone.
func Replay(ctx context.Context, read ubl.Reader, env actors.Env) (Snapshot, error) {
	kind := makers{}.kind()
	kind.Snapshot = nil
	x, err := open(ctx, kind, makers{}, read, env)
	if err != nil {
		return Snapshot{}, err
	}
	return x.Snapshot(), nil
}

// AsItWas is the Tenant as it was, as a snapshot has it, and the number of its newest event.
func (x *Tenant) AsItWas(ctx context.Context, at ubl.AsOf) (string, int64, error) {
	s, newest, err := x.Then(ctx, at)
	if err != nil {
		return "", 0, err
	}
	return string(s.encode()), newest.N, nil
}

// Moment is that of an event.
func (x *Tenant) Moment(ctx context.Context, n int64) (ubl.Receipt, error) {
	page, err := x.Events().Page(ctx, n, 1)
	if err != nil {
		return ubl.Receipt{}, err
	}
	return page[0].Receipt, nil
}

// Forgetful is the same Tenant without a snapshot that it keeps.
func (x *Tenant) Forgetful(ctx context.Context, env actors.Env) (*Tenant, error) {
	kind := makers{}.kind()
	kind.Snapshot = nil
	return open(ctx, kind, makers{}, x.Read, env)
}

// EachStep tells of each event that is a step of some record's history, whether its stored form
// says that it may be.
func (x *Tenant) EachStep(ctx context.Context, fn func(did ubl.Did, maybe bool)) error {
	return x.Events().Each(ctx, 1, math.MaxInt64, func(e event) error {
		if e.Access != nil || e.licenses() || e.Service != nil || len(e.Ended) > 0 {
			stored, err := json.Marshal(e)
			if err != nil {
				return err
			}
			fn(e.Did, mayBeStep(stored))
		}
		return nil
	})
}

// KeptKey begins the keys of the snapshots that a Tenant keeps.
func KeptKey() []byte { return append(HeadKey(), 0, 2) }

// Changing is how many commands are in the family's table.
func Changing() int { return len(makers{}.kind().Rules) }

// HeadKey and PieceKey are where a snapshot is.
func HeadKey() []byte           { return []byte{'s'} }
func PieceKey(turn byte) []byte { return []byte{'s', 0, turn, 0, 0, 0, 0} }

// SnapshotFields tells the types of a State and of its stored form, and which fields of a
// State follow from others.
func SnapshotFields() (state, stored reflect.Type, follow []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[snapshot](), derived
}

// Unarmed says where the alarm is missing for what earlier versions left.
var (
	Unarmed  = unarmed
	EventKey = eventKey
)
