package ubl

import (
	"context"
	"strings"
)

// Name addresses an actor: tenant_id · tenant|room_id · tenant|ledger|0.
type Name string

// DefaultShard is the one ledger shard of a tenant in this version.
const DefaultShard = "0"

// TenantName addresses a Tenant actor.
func TenantName(t TenantID) Name { return Name(t) }

// RoomName addresses a Room actor.
func RoomName(t TenantID, r RoomID) Name { return Name(string(t) + "|" + string(r)) }

// LedgerName addresses a LedgerShard actor.
func LedgerName(t TenantID) Name { return Name(string(t) + "|ledger|" + DefaultShard) }

// Group is the tenant and ledger shard that the actor belongs to.
func (n Name) Group() Group {
	tenant, _, _ := strings.Cut(string(n), "|")
	return Group{Tenant: TenantID(tenant), Shard: DefaultShard}
}

// Local is the name without its tenant: "" for a Tenant, "r:general" for a
// Room, "ledger|0" for a LedgerShard.
func (n Name) Local() string {
	_, local, _ := strings.Cut(string(n), "|")
	return local
}

// Group is the unit that lives and commits together: a tenant's actors with
// one ledger shard.
type Group struct {
	Tenant TenantID
	Shard  string
}

func (g Group) String() string { return string(g.Tenant) + "|" + g.Shard }

// Ledger addresses the group's LedgerShard.
func (g Group) Ledger() Name { return Name(string(g.Tenant) + "|ledger|" + g.Shard) }

// Command is something an actor answers. Commands are plain data, so that a
// node can forward them.
type Command interface {
	// Cost is how many bytes the command may add to storage, for admission;
	// 0 for one that only reads.
	Cost() int
}

// Asker finds an actor by name and asks it. The answer is final: whatever it
// says is durable. Errors are [Error]; overloaded means that nothing was done,
// unavailable that the outcome may be unknown and the same key settles it.
// Safe for concurrent use.
type Asker interface {
	Ask(ctx context.Context, to Name, cmd Command) (any, error)
}

// Visitor is an Asker that lets a caller into their tenant and asks what they
// came for in one go: on a node that has to ask another, that is one way instead
// of two.
type Visitor interface {
	Asker
	// Visit asks the caller's Tenant to let them in and, if it does, the named
	// actor of the same tenant. entered is nil where the Tenant refused, or it
	// isn't known whether it did.
	Visit(ctx context.Context, in Enter, to Name, cmd Command) (entered *Entered, answer any, err error)
}

// Ask asks and casts the answer.
func Ask[R any](ctx context.Context, a Asker, to Name, cmd Command) (R, error) {
	var none R
	answer, err := a.Ask(ctx, to, cmd)
	if err != nil {
		return none, err
	}
	r, ok := answer.(R)
	if !ok {
		return none, Errorf(CodeInternal, "the actor answered with another type")
	}
	return r, nil
}

// Request is what every command of a caller carries.
type Request struct {
	Who Identity
	// ID is the request id; it goes into trace.request_id.
	ID string
	// Parent is the id of the request that this one is made for, as an agent's tools
	// are for its question; "" for none. It goes into trace.parent.
	Parent string
	// Session is what the caller calls the run that this is part of, as an agent at work
	// does; "" for none. It goes into action.session.
	Session string
	// Key is the idempotency key; never empty for a command that changes state.
	Key string
}

// Asked is the request of the command that it is part of.
func (r Request) Asked() Request { return r }

// JoinCost is what a command whose Cost is 0 reserves where it turns out to add
// someone: an act, its system message, and a tenant's beginning where it is one.
const JoinCost = 16 * writeCost

// writeCost covers the atoms and bookkeeping of one act, without its content.
const writeCost = 2048
