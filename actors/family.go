package actors

import (
	"context"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"ubl"
	"ubl/offer"
	"ubl/panics"
)

// Actor is one family's implementation behind a name. The runtime calls
// Receive for one command at a time.
type Actor interface {
	// Receive decides one command. It must answer the turn exactly once and must
	// not block on the network or on other actors.
	Receive(t *Turn, cmd ubl.Command)
}

// Releaser is an Actor that holds something outside memory, which it gives back
// when it leaves for idleness.
type Releaser interface{ Release() }

// Family is a kind of actor, listed in actors/families.
type Family struct {
	// Name is for logs and metrics.
	Name string
	// Kind is that of its actors; nil where they have none.
	Kind Described
	// Owns reports whether the family answers for a [ubl.Name]'s local part.
	Owns func(local string) bool
	// Unplaced says that its actors are none of the places that an agent's mandate names: they
	// heed the mandate by themselves.
	Unplaced bool
	// Open loads the actor from what is stored, or fails with not_found.
	Open func(ctx context.Context, env Env) (Actor, error)
	// Unarmed names the actors of a group, by the local parts of their names, for which a
	// version before alarms left something to wait for ([Kind.Adopt]). It is asked when a
	// node begins to lead, in a view of the store, and must be quick; nil where there are
	// none.
	Unarmed func(ubl.Snapshot) ([]string, error)
	// Leased names in the same way the actors that have an [Outbound] with a Lease. It is asked
	// by a node alone when it starts, see [Runtime.LedAlone]; nil where there are none.
	Leased func(ubl.Snapshot) ([]string, error)
	// Follow has an actor of the family in each group follow its ledger; nil for none.
	Follow *Follow

	// Commands are those that another node may send to actors of the family, as zero
	// values, and Answers every type that they are answered with. Families may share some.
	Commands []ubl.Command
	Answers  []any
	// Offers are the operations that people and programs find over REST and MCP.
	Offers []offer.Operation
	// Acts are those that the family names itself, with their forms: the published schemas have
	// them. Those that others name, too, stand in [ubl.Dids] and in the files of schemas.
	Acts []offer.Act
	// Numbers are the runs of keys without a hole among the family's records, Content what
	// of these counts as stored by the tenant.
	Numbers []ubl.Numbers
	Content []ubl.Content
}

// Described is a [Kind] of whatever state and events.
type Described interface {
	told() []ubl.Told
	spaces() string
	snapshots() bool
}

// KernelSpaces are the bytes that begin keys of the store (a, h), the ledger (f) and the kernel:
// references to blobs (B), counters of items and of events (c, e), alarms, cursors and snapshots
// (i), idempotency keys (k). No family has one of them.
const KernelSpaces = "aBcefhik"

// Spaces are the bytes that begin a family's keys.
func (f Family) Spaces() string {
	if f.Kind == nil {
		return ""
	}
	return f.Kind.spaces()
}

// Snapshots reports whether its actors are loaded from a snapshot and the events after it.
func (f Family) Snapshots() bool { return f.Kind != nil && f.Kind.snapshots() }

// Commands lists what nodes may send to one another: the commands of all families, and the
// kernel's own.
func Commands(families []Family) []ubl.Command {
	return union([]ubl.Command{ubl.Redrive{}, ubl.Discard{}}, families, func(f Family) []ubl.Command { return f.Commands })
}

// Answers lists what nodes answer one another. A command that has nothing to say answers nil.
func Answers(families []Family) []any {
	return union([]any{nil}, families, func(f Family) []any { return f.Answers })
}

// union adds what each family lists, one value of each type.
func union[T any](all []T, families []Family, of func(Family) []T) []T {
	for _, f := range families {
		for _, v := range of(f) {
			if !slices.ContainsFunc(all, func(have T) bool { return reflect.TypeOf(have) == reflect.TypeOf(v) }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// Offers lists what families offer over REST and MCP by themselves.
func Offers(families []Family) (all []offer.Operation) {
	for _, f := range families {
		all = append(all, f.Offers...)
	}
	return all
}

// Acts lists the acts that families bring along.
func Acts(families []Family) (all []offer.Act) {
	for _, f := range families {
		all = append(all, f.Acts...)
	}
	return all
}

// Named are the names of acts.
func Named(acts []offer.Act) []ubl.Did {
	dids := make([]ubl.Did, len(acts))
	for i, a := range acts {
		dids[i] = a.Did
	}
	return dids
}

// Told lists the effects of which streams tell.
func Told(families []Family) (all []ubl.Told) {
	for _, f := range families {
		if f.Kind != nil {
			all = append(all, f.Kind.told()...)
		}
	}
	return all
}

// Content lists what counts as stored of any family's records.
func Content(families []Family) (all []ubl.Content) {
	for _, f := range families {
		all = append(all, f.Content...)
	}
	return all
}

// Numbers lists the runs of keys of all families.
func Numbers(families []Family) (all []ubl.Numbers) {
	for _, f := range families {
		all = append(all, f.Numbers...)
	}
	return all
}

// Env is what an actor knows of the world around it.
type Env struct {
	Name   ubl.Name
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Ask asks other actors. Never from inside Receive: use [Turn.Later].
	Ask ubl.Asker
	// Panics starts what the actor does beside its mailbox.
	Panics *panics.Catcher
	// Usage is what the tenant stores.
	Usage *Usage
	// Acts are those that families bring along, for what others decide about them. Not to be changed.
	Acts []offer.Act

	replays replays // of states of the past that are made
	sends   *sends
}
