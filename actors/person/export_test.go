package person

import (
	"context"
	"reflect"

	"ubl"
	"ubl/actors"
)

// SnapshotFields tells the types of a State and of its stored form, which is the same one.
func SnapshotFields() (state, stored reflect.Type) {
	return reflect.TypeFor[State](), reflect.TypeFor[State]()
}

// Changing is how many commands change something.
func Changing() int { return len(kind(true).Rules) }

// Opening opens persons who are reached by a pusher and a mailer.
func Opening(push ubl.Pusher, mail ubl.Mailer) func(context.Context, ubl.Reader, actors.Env) (*Person, error) {
	return func(ctx context.Context, read ubl.Reader, env actors.Env) (*Person, error) {
		return load(ctx, kind(mail != nil), read, push, mail, env)
	}
}

// Snapshot is all that a person knows.
func (x *Person) Snapshot() string { return string(x.State.encode()) }

// Look shows a test the state.
func (x *Person) Look(at func(any)) { at(x.State) }

// Restored is the state as its stored form has it.
func (x *Person) Restored() (string, error) {
	s, err := snapshots().Decode(x.State.encode())
	return string(s.encode()), err
}
