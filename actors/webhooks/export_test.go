package webhooks

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

// Changing is how many commands change a tenant's webhooks.
func Changing() int { return len(kind().Rules) }

// Watched are webhooks that a test looks at in their mailbox: their follower writes at any time.
type Watched struct{ *Webhooks }

// Watch opens webhooks with a way outside.
func Watch(sender Sender) func(context.Context, ubl.Reader, actors.Env) (*Watched, error) {
	return func(ctx context.Context, read ubl.Reader, env actors.Env) (*Watched, error) {
		x, err := load(ctx, kind(), read, sender, env)
		return &Watched{x}, err
	}
}

// Peek answers what At does with the webhooks.
type Peek struct{ At func(*Webhooks) any }

// Cost implements [ubl.Command].
func (Peek) Cost() int { return 0 }

// Receive implements [actors.Actor].
func (w *Watched) Receive(t *actors.Turn, cmd ubl.Command) {
	if c, ok := cmd.(Peek); ok {
		t.Reply(c.At(w.Webhooks))
		return
	}
	w.Webhooks.Receive(t, cmd)
}

// Snapshot is the state, as it is stored.
func (x *Webhooks) Snapshot() string { return string(x.State.encode()) }

// Look shows a test the state.
func (x *Webhooks) Look(at func(any)) { at(x.State) }

// Restored is the state as its stored form has it.
func (x *Webhooks) Restored() string {
	s, err := snapshots().Decode(x.State.encode())
	if err != nil {
		return err.Error()
	}
	return string(s.encode())
}

// LocalName is a tenant's actor's.
const LocalName = localName
