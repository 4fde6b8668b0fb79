package actors

import (
	"context"
	"io"
	"log/slog"
	"time"

	"ubl"
	"ubl/panics"
	"ubl/turns"
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

// Family is a kind of actor, registered in cmd/ubl.
type Family struct {
	// Name is for logs and metrics.
	Name string
	// Owns reports whether the family answers for a [ubl.Name]'s local part.
	Owns func(local string) bool
	// Open loads the actor from what is stored, or fails with not_found.
	Open func(ctx context.Context, env Env) (Actor, error)
	// Unarmed names the actors of a group, by the local parts of their names, for which a
	// version before alarms left something to wait for ([Kind.Adopt]). It is asked when a
	// node begins to lead, in a view of the store, and must be quick; nil where there are
	// none.
	Unarmed func(ubl.Snapshot) ([]string, error)
	// Follow has an actor of the family in each group follow its ledger; nil for none.
	Follow *Follow
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

	replays *turns.Turns // of states of the past that are made; nil for no bound
}
