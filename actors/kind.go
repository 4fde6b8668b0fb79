package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"ubl"
	"ubl/offer"
)

// Kind is a family of actors whose state follows from their events: data and pure
// functions. What touches the world is in [Hooks]; [Entity] does everything else.
// Name, Version, Spaces, Place, Apply, Under and Pointers are required.
type Kind[S any, E Event] struct {
	// Name says what an actor of the family is, in errors of the log.
	Name string
	// Version of the form in which events are stored.
	Version int
	// Encode writes an event as JSON; nil for [json.Marshal].
	Encode func(E) []byte
	// Spaces are the bytes that begin the family's keys, each its own alone: none of
	// [KernelSpaces]. A turn that writes under another one panics.
	Spaces string
	// Place tells where an actor's events are stored.
	Place func(ubl.Name) Place
	// Unknown is the refusal where there is no event; nil where an actor may have none.
	Unknown func() error
	// Apply is the only way in which events change the state.
	Apply func(*S, E)
	// Hash is that of the Agreement which an event has changed, given the state after it, ""
	// where it has changed none; nil for a family that keeps no Agreement.
	Hash func(*S, E) string
	// Under names the record that authorises what somebody does, for plans that name none.
	Under func(*S, ubl.Identity) ubl.AgreementID
	// Record is the hash of such a record as it is now, for the acts that name it; "" where
	// the state has none of that name, nil for a family that keeps none. Of others' the request
	// brings the hash ([ubl.Request].Under).
	Record func(*S, ubl.AgreementID) string
	// Newest is the version of what a [ubl.Conditional] command changes, as it is now; nil for a
	// family that has no such commands.
	Newest func(*S, ubl.Command) string
	// Stands refuses a proposed act whose author has no standing under the Agreement that it
	// names, and counts nothing; nil for a family that leaves that to its rules alone.
	Stands func(*S, Proposal) error
	// Counts counts a proposed act against the limits that Stands has held it against. It is called
	// once the seat has allowed the act; nil where nothing is counted.
	Counts func(*S, Proposal)
	// Pointers are those of acts that bring none of their own.
	Pointers func(*S) ubl.Fields
	// Index is what an event changes in other records, given the state after it; nil
	// for nothing. [Act.Sealed] puts the receipt into one.
	Index func(*S, E, *Act) []Record
	// Tell is what is published of an event, with Kind, UserID and Payload; nil for
	// nothing.
	Tell func(*S, E) []ubl.Event
	// Told are the effects and events of which streams tell, and who hears of each: everyone in the
	// tenant, the members of a room, or one person.
	Told []ubl.Told
	// Rules are the commands that change the state.
	Rules []Rule[S, E]
	// Guests says that people of other tenants ask, too: who asks from another tenant is
	// another author then than under the same id from a third.
	Guests bool

	// Items tells where an actor's items are, and Take is the only way in which one
	// changes the state; nil where there are none.
	Items func(ubl.Name) Place
	Take  func(*S, Item)

	// Wake decides what an alarm leads to, with the name of its act; a nil plan is
	// nothing, where its reason is gone. Its author is the platform, which the family's terms
	// don't know: it asks no permits. Where Wake is nil, [Hooks].Errand does it: a family has
	// one of them for all of its alarms, and an actor of one with both isn't loaded.
	Wake func(s *S, key string, m Moment) (ubl.Did, *Plan[E], error)
	// Ended decides what the outcome of an [Outbound] leads to that the outbox has ended: the
	// plan of its effect, with the name of the act. Required of a family that intends any.
	Ended func(*S, Sent, Moment) (ubl.Did, *Plan[E], error)
	// WakePasses says that the events of Wake and Ended pass.
	WakePasses bool
	// Follow has one actor of the tenant follow its ledger; nil for none. Decide is what an
	// entry leads to, with the name of its act; a nil plan is nothing. Where Decide is nil,
	// [Hooks].Deliver has its effect.
	Follow *Follow
	Decide func(s *S, e Entry, m Moment) (ubl.Did, *Plan[E], error)
	// Adopt arms what a version before alarms waited for in another way, and changes the
	// records of that way. It is asked of the actors that [Family].Unarmed names.
	Adopt func(*S, Moment) ([]Alarm, []Record)

	// Empty is the state before the first event; nil for the zero one.
	Empty func(ubl.Name) S
	// Snapshot says how the state is stored behind some events; nil for a family whose
	// actors have few.
	Snapshot *Snapshots[S]
	// Earlier takes over what versions before snapshots stored of the state, where there is no
	// snapshot, and tells how many events it has, 0 for nothing; nil for a family of which there
	// is nothing.
	Earlier func(context.Context, ubl.Reader, ubl.Name, *S) (int64, error)
	// Beside reads what passing events have left in records, and what the state has of
	// items, once the stored events are applied; nil for nothing.
	Beside func(context.Context, ubl.Reader, ubl.Name, *S) error
}

func (k *Kind[S, E]) told() []ubl.Told { return k.Told }
func (k *Kind[S, E]) spaces() string   { return k.Spaces }
func (k *Kind[S, E]) snapshots() bool  { return k.Snapshot != nil }

// own are records of the family's. It panics where one isn't: it may be another's.
func (k *Kind[S, E]) own(records ...Record) []Record {
	for _, r := range records {
		if len(r.Key) == 0 || r.Key[0] != ubl.BlobRefSpace && strings.IndexByte(k.Spaces, r.Key[0]) < 0 {
			panic(fmt.Sprintf("actors: a %s writes under %q, which is none of its Spaces %q", k.Name, r.Key[:min(1, len(r.Key))], k.Spaces))
		}
	}
	return records
}

// Place is where one actor's events or items are: the key of each by its number from 1
// on, and the counter that goes with them. Ref is the kind of a [Ref] to one, Passed that
// of a key whose event passed.
type Place struct {
	Key     func(n int64) []byte
	Counter []byte
	Ref     byte
	Passed  byte
}

// Stamp is what every event begins with. Families embed it, and leave it to the
// Entity to fill in. Receipt is stored last: the ledger puts it behind all else. N is
// 0 for an event that passes.
type Stamp struct {
	Version int         `json:"v"`
	N       int64       `json:"n"`
	Did     ubl.Did     `json:"did"`
	At      ubl.Time    `json:"at"`
	By      ubl.UserID  `json:"by"`
	Hash    string      `json:"agreement_hash,omitempty"` // after the event, of the Agreement that it changed
	Receipt ubl.Receipt `json:"receipt,omitzero"`

	sealed *ubl.Receipt // that of the act, while the event is new
}

// Sealed is where the act's receipt is, for a state that keeps it. The ledger fills it
// in: read it behind the gate. An event without an act has an empty one.
func (s Stamp) Sealed() *ubl.Receipt {
	if s.sealed != nil {
		return s.sealed
	}
	return &s.Receipt
}

// Change is the event as a step in the history of an Agreement, about a member where it
// is about one.
func (s Stamp) Change(m *ubl.Member) ubl.Change {
	c := ubl.Change{N: s.N, Did: s.Did, At: s.At, By: s.By, Hash: s.Hash, Receipt: s.Receipt}
	if m != nil {
		c.UserID, c.Role = m.UserID, m.Role
	}
	return c
}

// FormatVersion implements [Versioned].
func (s Stamp) FormatVersion() int { return s.Version }

func (s Stamp) stamped() Stamp  { return s }
func (s *Stamp) stamp(as Stamp) { *s = as }

// Event is a family's stored event (JSON): a struct that embeds [Stamp].
type Event interface {
	Versioned
	stamped() Stamp
}

// ReceiptOf is the receipt of a stored event.
func ReceiptOf[E Event](e E) ubl.Receipt { return e.stamped().Receipt }

// Item is one of a second numbered log that an actor has beside its events. An act makes
// it, too. Items aren't replayed, so that there may be millions: the family reads what it
// needs of them, and removes the oldest.
type Item interface {
	// Number is one more than that of the newest item.
	Number() int64
	// Seal is the stored form, with the act's receipt. The ledger calls it once.
	Seal(ubl.Receipt) []byte
	// Told is what is published once the item is durable, as of [Kind].Tell.
	Told() ubl.Event
}

// stamp fills in what an event begins with.
func stamp[E Event](e *E, s Stamp) { any(e).(interface{ stamp(Stamp) }).stamp(s) }

// Plan is what a decision leads to: an act, the event that it makes, and what goes
// with them in one commit. Of the act, Did, Request and At are not the decision's, nor
// its Agreement and Pointers where the family's hold.
//
// Its event is stored, or it passes: then only the newest of its like counts, it changes
// the state, and what is left of it is in Records and the [Kind]'s Index. Only a plan
// makes an event, so there is none without an act; but for [Unreceipted].
type Plan[E Event] struct {
	Act
	Event E
	// Item is what the act makes instead of an event; nil for an event.
	Item Item
	// Beside is the item that the act makes besides its event; nil for none. The act's key
	// leads to the event.
	Beside Item
	// First goes on record before the act, as what it tells of; nil for nothing. The command
	// is named for First then, and the act brings its own Did.
	First *Act
	// Also is carried out behind the plan, as what follows from it. It brings its Did.
	Also *Plan[E]
	// Founding is the append of another actor's first event, as of [Kind.Found], which this
	// commit makes: its first act is the plan's, too. The event says so here. Nil for none.
	Founding *Append
	// Records are what neither the event nor the state has, as a text.
	Records []Record
	// Alarms are set and cleared.
	Alarms []Alarm
	// Intends is what is to be done outside, which the act puts on record as intended; nil for
	// nothing. Ends is the key of one whose effect the act is; "" for none.
	Intends *Outbound
	Ends    string
	// Ref is what the key of a plan whose event passes leads to; zero for nothing to look up.
	Ref Ref
	// Frees says that the plan takes power or data away: see [Rule.Frees].
	Frees bool
	// Answer makes the answer of what the decision has in memory; it must equal that of
	// a retry. Where nil, [Hooks].Outcome answers for the event. It runs behind the gate,
	// and may not touch the state.
	Answer func(ubl.Receipt) any
}

// Unreceipted is a passing event without an act: what it changes has no receipt.
// DESIGN.md ("One family kernel") lists who makes one, and why.
type Unreceipted[E Event] struct {
	Event E
}

// Moment is what a decision knows besides the state and its command.
type Moment struct {
	Now    ubl.Time
	Random io.Reader
	// Acts are those that families bring along. Not to be changed.
	Acts []offer.Act
}

// Asked is a command with a request, as all are that change something.
type Asked interface {
	ubl.Command
	Asked() ubl.Request
}

// Rule is one line of a family's table: a command and the way of deciding it.
type Rule[S any, E Event] struct {
	read  func(ubl.Command) (wish[S, E], bool)
	frees bool
}

// Frees says of a rule that its acts make room, or take people, power or credentials away,
// or sign people in who do so: each is as often as there is something to take, and a tenant
// that is full may do it. Where only some of a rule's acts do, their [Plan] says so.
func (r Rule[S, E]) Frees() Rule[S, E] {
	r.frees = true
	return r
}

// wish is a command as the table reads it.
type wish[S any, E Event] struct {
	did    ubl.Did
	req    ubl.Request
	told   []string // what tells it from another one under the same key
	decide func(*S, Moment) (*Plan[E], error)
	now    func(*S) func() (any, error) // of a command whose events pass
	// matches refuses a command whose caller knows another version; nil for any other.
	matches func(*S) error
	frees   bool
}

// matches refuses a [ubl.Conditional] command where what it changes has another version than
// the caller knows. Decisions come first: who may not change it learns nothing of the version.
func (k *Kind[S, E]) matches(cmd ubl.Command) func(*S) error {
	c, ok := cmd.(ubl.Conditional)
	if !ok || len(c.Expected()) == 0 {
		return nil
	}
	return func(s *S) error {
		if k.Newest != nil && slices.Contains(c.Expected(), k.Newest(s, cmd)) {
			return nil
		}
		return ubl.Errorf(ubl.CodePrecondition, "it has changed since it was read: read it again, and decide by what it is now")
	}
}

// On is the rule of a command whose acts are all called the same. Content tells one
// command from another under the same idempotency key; nil where there is nothing to
// tell. Keys outlive the program: the content of a command stays as it is. Decide is
// pure: it changes nothing, and returns a plan or a refusal.
func On[C Asked, S any, E Event](did ubl.Did, content func(C) []string, decide func(*S, C, Moment) (*Plan[E], error)) Rule[S, E] {
	return OnNamed(func(C) ubl.Did { return did }, content, decide)
}

// OnNamed is On for a command that says itself what its act is called.
func OnNamed[C Asked, S any, E Event](did func(C) ubl.Did, content func(C) []string, decide func(*S, C, Moment) (*Plan[E], error)) Rule[S, E] {
	return Rule[S, E]{read: func(cmd ubl.Command) (w wish[S, E], ok bool) {
		if _, ok := cmd.(C); !ok { // before c is, which escapes
			return w, false
		}
		c := cmd.(C)
		w.did, w.req = did(c), c.Asked()
		if content != nil {
			w.told = content(c)
		}
		w.decide = func(s *S, m Moment) (*Plan[E], error) { return decide(s, c, m) }
		return w, true
	}}
}

// OnPassing is On for a command whose events pass. Decide may return no plan where
// nothing is to be done. Now gives the answer, to a retry too: what the state says by
// then. It is called in the mailbox, and what it returns is as [Plan].Answer.
func OnPassing[C Asked, S any, E Event](did ubl.Did, content func(C) []string, decide func(*S, C, Moment) (*Plan[E], error), now func(*S, C) func() (any, error)) Rule[S, E] {
	on := On(did, content, decide)
	return Rule[S, E]{read: func(cmd ubl.Command) (w wish[S, E], ok bool) {
		if w, ok = on.read(cmd); ok {
			w.now = func(s *S) func() (any, error) { return now(s, cmd.(C)) }
		}
		return w, ok
	}}
}

// Sealed is a record of an object (JSON) that gets the act's receipt as its last
// member, "receipt".
func (a *Act) Sealed(key, object []byte) Record {
	return Record{Key: key, Seal: func() []byte {
		if a.receipt == nil {
			a.receipt = encode(a.Receipt)
		}
		b := make([]byte, 0, len(object)+len(`,"receipt":`)+len(a.receipt))
		b = append(b, object[:len(object)-1]...)
		if len(object) > len(`{}`) {
			b = append(b, ',')
		}
		b = append(append(b, `"receipt":`...), a.receipt...)
		return append(b, '}')
	}}
}

// encode cannot fail: stored forms hold only strings, numbers and times.
func encode(stored any) []byte {
	b, err := json.Marshal(stored)
	if err != nil {
		panic(fmt.Sprintf("actors: couldn't encode a record: %v", err))
	}
	return b
}
