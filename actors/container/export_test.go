package container

import (
	"context"
	"math"
	"reflect"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Open loads a Container that makes a snapshot every so many events.
func Open(ctx context.Context, read ubl.Reader, env actors.Env, every int) (*Container, error) {
	kind := kind()
	kind.Snapshot.Every, kind.Snapshot.Each = every, -1
	return open(ctx, kind, read, nil, env)
}

// Replay is the state after all events, as if there were no snapshot.
func (c *Container) Replay(ctx context.Context) (State, error) {
	var s State
	err := c.Events().Each(ctx, 1, math.MaxInt64, func(e event) error {
		s.apply(e)
		return nil
	})
	return s.plain(), err
}

// plain makes an empty list nil, as it is after a snapshot, and leaves out what follows from
// no event.
func (s State) plain() State {
	s.Agreement = agreement.Kept{Agreement: s.Agreement.Agreement}
	if len(s.Listed) == 0 {
		s.Listed = nil
	}
	if len(s.Filed) == 0 {
		s.Filed = nil
	}
	return s
}

// TakesIn reports whether a command is a transfer's arrival.
func TakesIn(cmd ubl.Command) bool {
	_, is := cmd.(takeIn)
	return is
}

// Arrival is that of credits from another wallet.
func Arrival(req ubl.Request, id ubl.TransferID, departed ubl.Time, amount int64) ubl.Command {
	return takeIn{
		Request: req, id: id, from: "k:elsewhere", departed: departed,
		physics: ubl.WalletKind().Physics, op: ubl.OpTransfer, amount: amount,
	}
}

// SnapshotFields tells the types of a State and of its stored form, and which fields of a
// State are read from documents instead.
func SnapshotFields() (state, stored reflect.Type, read []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[snapshot](), besides
}

// Changing is how many commands change a Container.
func Changing() int { return len(kind().Rules) }

// MaxPending is the most transfers under way.
const MaxPending = maxPending

// Snapshot is everything a Container knows.
type Snapshot struct {
	State             State
	KeysLow, KeysHigh int64
	KeysKnown         any
}

// Snapshot copies what the Container knows; only while nothing is in flight.
func (c *Container) Snapshot() Snapshot {
	return Snapshot{State: c.State.plain(), KeysLow: c.Keys.Low, KeysHigh: c.Keys.High, KeysKnown: c.Keys.Known()}
}

// Listed are the titles and contents of what the Container lists, by id.
func (c *Container) Listed(ctx context.Context) (map[ubl.DocumentID]string, error) {
	out := make(map[ubl.DocumentID]string)
	for _, id := range c.State.Listed {
		d, err := c.readDocument(ctx, id, c.State.Documents[id].Version)
		if err != nil {
			return nil, err
		}
		out[id] = d.Title + ": " + d.Content
	}
	return out, nil
}

// Told are the titles and contents that the Container's changes lead to, where they
// are read in two goes that part after an event.
func (c *Container) Told(ctx context.Context, parting int64) (map[ubl.DocumentID]string, error) {
	out := make(map[ubl.DocumentID]string)
	at, err := c.mark(ctx, parting)
	if err != nil {
		return nil, err
	}
	for _, part := range [][2]ubl.Mark{{{}, at}, {at, {N: math.MaxInt64}}} {
		_, err := c.tellChanges(ctx, part[0], math.MaxInt64, func(d ubl.DocumentChange) error {
			switch {
			case d.N > part[1].N:
			case d.Deleted:
				delete(out, d.DocumentID)
			default:
				out[d.DocumentID] = d.Title + ": " + d.Content
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
