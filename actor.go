// Package ubl is the domain of the Universal Business Ledger: what its actors
// say to each other and what anyone can check afterwards.
//
// It holds ids and their patterns, identities, rooms, messages, Agreements,
// the two kinds of ledger atom (action and effect), canonical JSON and hashes,
// the one table of error codes, the commands that actors answer, and the few
// interfaces that two or more packages share ([Store], [Asker], [Feed]).
//
// It knows no network, no disk and no actor runtime: storage, actors, cluster
// and transport import it, it imports none of them.
package ubl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Actors are named, asked, and heard.

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
	// Under are the records by which others have let the caller do this, as they read them: the act
	// that names one has its hash, where its own actor doesn't keep it. Nodes fill it in.
	Under []RecordHash `json:",omitempty"`
}

// RecordHash is the hash of an Agreement's record, as somebody has decided by it.
type RecordHash struct {
	Agreement AgreementID
	Hash      string
}

// Based is a command that is asked under more records. It is the command itself where it has no
// [Request], or only reads.
func Based(cmd Command, on []RecordHash) Command {
	if len(on) == 0 || cmd.Cost() == 0 {
		return cmd
	}
	v := reflect.ValueOf(cmd)
	index := requestOf(v.Type())
	if index == nil {
		return cmd
	}
	based := reflect.New(v.Type()).Elem()
	based.Set(v)
	req := based.FieldByIndex(index).Addr().Interface().(*Request)
	under := slices.Clone(on) // the newest word counts
	for _, r := range req.Under {
		if !slices.ContainsFunc(on, func(o RecordHash) bool { return o.Agreement == r.Agreement }) {
			under = append(under, r)
		}
	}
	req.Under = under
	return based.Interface().(Command)
}

// requests are where the types of commands have their [Request]: to find out takes longer than all else.
var requests sync.Map

// requestOf is where a type of commands has its [Request], nil for nowhere.
func requestOf(t reflect.Type) []int {
	if index, ok := requests.Load(t); ok {
		return index.([]int)
	}
	var index []int
	if t.Kind() == reflect.Struct {
		if field, ok := t.FieldByName("Request"); ok && field.Type == reflect.TypeFor[Request]() {
			index = field.Index
		}
	}
	requests.Store(t, index)
	return index
}

// Asked is the request of the command that it is part of.
func (r Request) Asked() Request { return r }

// Expects is the part of a command that is carried out only where what it changes is still
// as the caller knows it. IfMatch are the versions of which it must have one, as of
// [VersionOf], an Agreement's hash or a document's number; none for any. Else the refusal is
// precondition_failed, and the key stays free.
type Expects struct {
	IfMatch []string `json:",omitempty"`
}

// Expected are the versions of which what the command changes must have one.
func (e Expects) Expected() []string { return e.IfMatch }

// Conditional is a command that embeds [Expects].
type Conditional interface{ Expected() []string }

// VersionOf names a version of a setting, by its content: two that are the same have the same.
func VersionOf(setting any) string {
	data, err := json.Marshal(setting)
	if err != nil {
		panic(fmt.Sprintf("couldn't encode a setting: %v", err)) // they hold only strings and numbers
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// JoinCost is what a command whose Cost is 0 reserves where it turns out to add
// someone: an act, its system message, and a tenant's beginning where it is one.
const JoinCost = 16 * writeCost

// writeCost covers the atoms and bookkeeping of one act, without its content.
const writeCost = 2048

// Event is something that happened, after it became durable. What each family tells stands with
// its commands.
type Event struct {
	Kind     string
	TenantID TenantID
	// RoomID is the room whose members hear of it, "" where everyone in the tenant does.
	RoomID RoomID
	TS     Time
	// RoomSeq is the entry's for message.created and entry.created, 0 for events without an id.
	RoomSeq int64
	// Redacts says that what was told before may hold what is redacted now: whoever keeps
	// events for streams forgets them, and reads the rooms anew.
	Redacts bool
	// LedgerSeq is that of the act's last atom.
	LedgerSeq int64
	// UserID is whom a membership event is about; for token.revoked it is empty.
	UserID UserID
	// TokenID is the jti or client id of token.revoked.
	TokenID string
	// Payload is the canonical JSON of the payload, but the bare message for
	// message.created, and the bare entry for entry.created.
	Payload json.RawMessage
}

// Place is the actor whose listeners hear of the event besides those of the ledger, "" for none.
func (e *Event) Place() Name {
	if e.RoomID == "" {
		return ""
	}
	return RoomName(e.TenantID, e.RoomID)
}

// AppendData writes the envelope: ubl.sse.effect_event.v1 of an effect that is told as it is, of
// all else that clients are shown in a room ubl.sse.room_event.v1.
func (e *Event) AppendData(dst []byte) []byte {
	dst = append(dst, `{"event":"`...)
	dst = append(dst, e.Kind...)
	dst = append(dst, `","payload":`...)
	switch e.Kind {
	case EventMessageCreated:
		dst = append(append(append(dst, `{"message":`...), e.Payload...), '}')
	case EventEntryCreated:
		dst = append(append(append(dst, `{"entry":`...), e.Payload...), '}')
	default:
		dst = append(dst, e.Payload...)
	}
	if e.RoomID != "" {
		dst = append(dst, `,"room_id":"`...)
		dst = append(dst, e.RoomID...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"tenant_id":"`...)
	dst = append(dst, e.TenantID...)
	dst = append(dst, `","ts":"`...)
	dst = e.TS.append(dst)
	return append(dst, `"}`...)
}

// Told says of an effect who hears of it, live and again after a pause. By default the event is
// called like the effect's op, and its payload is the effect as the ledger has it.
type Told struct {
	// Op is empty for events that are told only as they happen: whoever was away reads the room anew.
	Op string
	// In is the effect's member with the id of the room whose members hear of it; "" where
	// everyone in the tenant does.
	In string
	// Entry is the effect's member with the number of an entry of that room, which history has;
	// "" for none.
	Entry string
	// Kinds are the events by which the actor itself tells of it; none where the effect is told
	// as it is.
	Kinds []string
	// Payload makes the payload of the first of Kinds, for an event that is no entry of a room: it
	// follows from how the room is listed when somebody is told.
	Payload func(RoomSummary) json.RawMessage
	// Own: only the person that the event is about hears of it.
	Own bool
}

// Itself reports whether the actor that the effect is about tells of it by itself.
func (t Told) Itself() bool { return len(t.Kinds) > 0 }

// Publication is what one commit tells the world. An empty one tells a listener
// that the way to the actor was made anew and something may have been missed.
type Publication struct {
	// First and Last are the seqs of the commit's atoms: a listener of a whole
	// ledger sees every commit and so notices a missed one.
	First, Last int64
	Events      []Event
}

// Feed tells what actors publish, to listeners on any node. Delivery is in
// order but not certain (a leader may die between commit and publication):
// listeners that must miss nothing compare with the durable head.
type Feed interface {
	// Subscribe calls sink with each publication of the named actor from now on,
	// until it is cancelled; a call under way may still end after that. A Room publishes its own events; a LedgerShard every
	// commit of its tenant. Where kinds are given, commits without an event of one of
	// them are left out, and needn't travel between nodes; the others come whole, and a
	// node of an older version sends all. sink must not block.
	Subscribe(to Name, sink func(Publication), kinds ...string) (cancel func())
}
