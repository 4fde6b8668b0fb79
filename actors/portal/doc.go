// Package portal is the Portal family: what a tenant does outside. It knows the
// external servers of tools, pins what they said their tools are, and puts every
// call to one of them, or to a model, on record before it is made and after.
//
// # Data
//
// A Portal owns its [State], which is derived: stored events applied in order, and then
// the records that events have left which passed. A tenant has one Portal, which needs
// no founding: without anything stored it is empty. Stored, in the tenant's group, numbers as 8 bytes
// big-endian, everything but rows and keys as JSON with a version:
//
//	p 0 n              event n: servers, definitions that were approved, the budget
//	p s server         the server's secret, sealed
//	p y server         what the newest sync said of the server
//	p g server 0 user  a user's own credentials for the server, sealed
//	p d                tokens used on the newest day with any
//	b server 0 tool    tool by the server's own name: pinned and held definition
//	l 0 n              row n of the log: a version byte, then canonical JSON
//	q 0 n              call n while it is open, of a version before the outbox
//	i 4 portal         snapshot of the State ([actors.Snapshots])
//	e portal           counter of events
//	c portal           counter of rows
//	k portal 0 n       idempotency keys ([actors.Keys])
//
// Secrets are sealed by the nodes before they come here and leave as they came;
// they are in no event, no atom and no list, so that forgetting one is deleting
// its record. A server's URL is no secret here: members see it, and events keep it;
// only the ledger, which is exported, has it as a hash.
//
// What owners decide is stored as an event. A sync, a user's signing in and each step of
// a call pass ([actors.Plan]): they happen again and again, and only the newest counts.
//
// A Portal is loaded from the newest snapshot and the events after it. The snapshot has the budget, and
// of each server the number of the event that it is as of. All else is kept beside.
//
// # The way of one call
//
//	BeginCall   refused: a denied action and a row of status denied
//	            else: an intended action, a row of status intended, an [actors.Outbound]
//	            whose lease the node has until the call's deadline
//	the node    makes the call, once the answer tells that all this is durable
//	EndCall     the effect, which closes the intended action; the row is written
//	            again, and what a model used counts for the day
//	the outbox  the same with outcome error, when the lease ends: the node that had it
//	            is gone. A call is made once, so the outbox attempts none. A node alone that
//	            starts ends the leases of the run before it
//	CloseCalls  the same for calls of versions before the outbox, by their alarms call:n
//
// A call has the number of its row. Only who began it ends it, and only once:
// ending it again answers what the first time led to, so the number serves as the
// key of ending. Beginning has a key like every act, and an attempt
// ([ubl.BeginCall]): the key has the call made once, the attempt tells the node that
// didn't hear its answer from a caller who asks again. A refusal keeps no key, since
// a caller over the budget tries again with the same, but its attempt, so that one is
// on record once.
//
// # Asking servers
//
// Each server that is asked by itself has an alarm, ask:server. It is set by the acts that add
// the server, change where it is, and record what it said ([ubl.Server.NextAsk]), and cleared by
// those that disable or remove it. When it is due, an errand has the portal of the node that leads
// ask the server ([ubl.Syncer]) and send RecordSync. If that node dies before RecordSync is
// durable the next leader asks again; after it the alarm is at its next time. Where too many servers
// are being asked the errand is overloaded, and tried again within a minute.
//
// # The log
//
// A row about a call to the outside is written in the batch of the call's atoms and
// names their receipt. One about a tool of our own, or about a refusal of the Tenant,
// comes later ([ubl.LogCalls]) in a batch without atoms ([actors.Unreceipted]): the one
// exception from the rule that nothing is written without a receipt. What such a call changed has a
// receipt already, from the actor that decided it; only how long it took, and that
// something was read, is nowhere else. The newest 100,000 rows are kept.
//
// # What fails
//
// A failed commit ends the group, and the Portal is loaded from what is stored.
// There a call either is, with its key, or never began; its effect follows by
// EndCall or by the outbox, and never twice.
package portal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
)

// local is the Portal's name within its tenant.
const local = "portal"

// Reference kinds of idempotency keys.
const (
	refEvent = 'p' // N is the event's
	refRow   = 'l' // N is the row's
	refDone  = 'd' // the act left nothing to look up
)

// place is where a portal's events are.
func place(ubl.Name) actors.Place {
	return actors.Place{Key: eventKey, Counter: eventCounter(), Ref: refEvent, Passed: refDone}
}

func eventKey(n int64) []byte { return numbered('p', n) }
func rowKey(n int64) []byte   { return numbered('l', n) }
func openKey(n int64) []byte  { return numbered('q', n) }

// numbered is a key of an ordered space; n < 0 is the space's end.
func numbered(space byte, n int64) []byte {
	if n < 0 {
		return []byte{space, 1}
	}
	return binary.BigEndian.AppendUint64([]byte{space, 0}, uint64(n))
}

func secretKey(server string) []byte { return append([]byte("ps"), server...) }
func syncKey(server string) []byte   { return append([]byte("py"), server...) }

func grantKey(server string, user ubl.UserID) []byte {
	return append(append(append([]byte("pg"), server...), 0), user...)
}

func toolKey(server, upstream string) []byte {
	return append(append(append([]byte{'b'}, server...), 0), upstream...)
}

func usageKey() []byte     { return []byte("pd") }
func eventCounter() []byte { return append([]byte{'e'}, local...) }
func rowCounter() []byte   { return append([]byte{'c'}, local...) }

// encode is a stored form as JSON. Definitions stay as they were hashed: the
// usual encoder would escape what is canonical as it is.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // strings, numbers, times, and JSON that was checked
		panic(fmt.Sprintf("portal: couldn't encode a record: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// runs are a portal's runs of keys. Rows of the log change when their call
// ends.
func runs() []ubl.Numbers {
	return []ubl.Numbers{
		{Space: 'p', Counter: "e" + local, FromOne: true, Fixed: true},
		{Space: 'l', Counter: "c" + local},
	}
}

// counted is what of a portal's records counts as stored: its events. All else is bounded
// by itself.
func counted() []ubl.Content {
	return []ubl.Content{{Space: 'p', Counts: func(key []byte) bool { return len(key) == len(eventKey(0)) && key[1] == 0 }}}
}
