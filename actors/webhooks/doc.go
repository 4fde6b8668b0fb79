// Package webhooks is the Webhooks family: one actor a tenant, which has other servers told of what
// happens in rooms, as Standard Webhooks says.
//
// # Data
//
// One actor holds all webhooks of a tenant, since their number is bounded by tenant, lists are of
// them all, and one follower of the ledger decides for each act which of them tell of it. A room
// can't hold them: a webhook may be of several. A person can't: owners see and end those of others.
//
// Its [State] is derived: events applied in order. It needs no founding. Stored, in the tenant's
// group, numbers as 8 bytes big-endian:
//
//	W tail|webhooks 0 n   event n (JSON)
//	X webhook             one that isn't paused (a version byte): without any, no ledger is read
//	e tail|webhooks       counter of events
//	i 3 tail|webhooks     how far it has followed the ledger ([actors.Follow])
//	i 4 tail|webhooks     snapshot of the State ([actors.Snapshots])
//	k                     idempotency keys ([actors.Keys])
//
// The ledger is read by all members of a tenant. So an act says which webhook it is about and no
// more; what a maker sets has a salted commitment besides, to the record that the act answers
// without its salt and secret. Secrets are stored sealed. Only two answers show one: that of the act
// which made it, and that of a rotation; so do retries of these under the same key.
//
// # The way of a delivery
//
//	messenger.send    an act that puts an entry into a room is durable; nobody waits for what follows
//	Decide            follows the ledger: each webhook that tells of such entries in that room intends
//	                  webhook.deliver, in one commit with the cursor, so once for each entry
//	Send              is the maker still a member, may they read the entry, and what does it say now?
//	                  Then it is signed and posted, behind the portal's guard of addresses
//	webhook.deliver   the effect, with what came of it
//
// The text is read when it is sent, as the maker. So nothing is told that was taken back, has
// expired, or is no longer the maker's to see.
//
// # Order
//
// Entries of a room are intended in order. Attempts are made at the same time, and what fails comes
// later: receivers sort by room_seq. The header webhook-id is the same at every attempt and when a
// maker sends a delivery again, so receivers drop what they have had: it is told at least once.
//
// # What fails
//
//   - Any answer but 2xx is a failure, as are no answer in 10 s and a redirect. It is tried again with
//     growing pauses, 17 times in about a day. Then the delivery has failed, and the maker may
//     send it again while it is among the newest 50.
//   - 410 pauses the webhook at once, three days in which every delivery failed do, and so do 1,000
//     that wait. The maker is reminded, at the message that couldn't be told.
//   - A maker who is no member any more, or may not have others told of a room any more: nothing is
//     sent, and the webhook is paused.
//   - What waits when a webhook is paused is not told later, nor is what happens meanwhile.
//   - A server that doesn't answer in time gets one post of a tenant at a time until it answers.
//   - A node that is gone between the post and its effect: it is posted again under its id.
package webhooks

import (
	"encoding/binary"

	"ubl"
	"ubl/actors"
)

// refEvent is the kind of idempotency keys.
const refEvent = 'W'

func eventKey(local string, n int64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{'W'}, local+"\x00"...), uint64(n))
}

func place(name ubl.Name) actors.Place {
	local := name.Local()
	return actors.Place{Key: func(n int64) []byte { return eventKey(local, n) }, Counter: []byte("e" + local), Ref: refEvent}
}

// activeVersion of the value of an active webhook's key.
const activeVersion = 1

func activeKey(id string) []byte { return append([]byte{'X'}, id...) }

// index is which webhooks tell, for [anyActive].
func index(_ *State, e event, _ *actors.Act) []actors.Record {
	w := e.Webhook
	if w == nil {
		return nil
	}
	r := actors.Record{Key: activeKey(w.WebhookID)}
	if w.Paused == nil && !e.Gone {
		r.Value = []byte{activeVersion}
	}
	return []actors.Record{r}
}

// anyActive reports whether a webhook tells, so that the ledger is to be read.
func anyActive(snap ubl.Snapshot) (found bool, err error) {
	err = snap.Ascend([]byte{'X'}, []byte{'X' + 1}, func(_, _ []byte) bool {
		found = true
		return false
	})
	return found, err
}

// runs are the actor's runs of keys.
func runs() []ubl.Numbers {
	return []ubl.Numbers{{Space: 'W', Counter: "e", Named: true, FromOne: true, Fixed: true}}
}

// counted is what of its records counts as stored: events.
func counted() []ubl.Content { return []ubl.Content{{Space: 'W'}} }
