// Package person is the Person family: what one person wants to hear of in a tenant, where it
// reaches them, and what waits for them. It is theirs alone: owners of the tenant can't read it,
// and no service has one.
//
// # Data
//
// A Person owns its [State], which is derived: events applied in order. It needs no founding:
// without an event it is empty. Stored, in the tenant's group, numbers as 8 bytes big-endian:
//
//	Y person 0 n    event n (JSON)
//	Z user          what the person wants, while a device of theirs is reached, or mails tell of news ([reading.Listener])
//	J user 0 room   something waits in the room for the person ([reading.WaitsKey])
//	e person        counter of events
//	i 4 person      snapshot of the State ([actors.Snapshots])
//	k               idempotency keys ([actors.Keys])
//
// The ledger is read by all members of a tenant. So an act says whose it is and no more. What the
// person did has a commitment besides: to the record that the act answers, as canonical JSON without
// its salt, which stands there, too. What follows from messages, alarms and pushes answers nobody,
// and has none.
//
// # The way of a notification
//
//	messenger.send   a message is durable; nobody waits for what follows
//	room.Notifying   follows the ledger. Of those who listen (Z) it finds the members of the room
//	                 who haven't read the message and whom [ubl.Preferences.Decide] gives it to
//	ubl.Notify       the Person decides again and puts it on record: person.notify. What waits in
//	                 the room is one more. Where nothing holds it back, person.push is intended for
//	                 each device, unless one is open for the room
//	Send             reads what is the newest by then, unless it was read, and hands it to the
//	                 device's push service
//	person.push      the effect. If more came in the meantime, another push is intended
//
// A time of quiet holds it back: an alarm releases what waits when it ends. A reminder is an
// alarm, too; it rings whatever is quiet, since the person asked for it.
//
// # The way of a scheduled message
//
//	person.scheduled.add   the text, a time and perhaps a rule ([ubl.Scheduled]); an alarm
//	wake                   person.scheduled.send is intended. The message is Sending: nobody changes it
//	post                   asks the Tenant whether the author is there and may send, and the Room to
//	                       take it as theirs, under the key of the intent
//	person.scheduled.send  the effect: the next time of its rule, nothing more, or why it wasn't sent
//
// # The way of a mail
//
//	person.notify   something waits; the alarm "mail" is where mailDue says, which follows from the state
//	wake            person.mail is intended, unless one is under way
//	sendMail        reads what is still unread, as the person, and hands it to the mail server under
//	                the key of the intent (letter.go)
//	person.mail     the effect: rooms that were told of, or an address that was refused
//
// Reading leaves no receipt, so the ledger doesn't tell of it. The Room looks at J when somebody
// marks it read, and asks the Person where something waits ([ubl.SeenRoom]): person.seen, and a
// push that closes the notification on each device that shows one.
//
// # What fails
//
//   - A message is handed on at least once, under a key made of its room and number: it counts once.
//   - A push that nobody knows the end of is made again. Its topic has the push service replace
//     the one before, and its tag the browser.
//   - A push service that is slow or gone keeps a place of the outbox for 10 s at most, and one
//     service may have few of a node's places (package push). What fails is tried again for a day.
//   - Where a service says that a subscription has ended, the device is removed, with a receipt.
//   - A mail whose answer was lost goes out again under its Message-ID. What may pass is tried for a
//     day, an address that was refused once a day while something new waits.
//   - A message that the Room has taken and the Person doesn't know of is sent again under its key,
//     and the Room answers with the first. What the Tenant or the Room refuses stays in the list,
//     with the reason; what may pass is tried for a day.
//   - A person who has left a room or the tenant is told nothing of it: a push reads the message
//     as that person, when it is made.
package person

import (
	"encoding/binary"
	"strings"

	"ubl"
	"ubl/actors"
)

// refEvent is the kind of idempotency keys.
const refEvent = 'Y'

func eventKey(local string, n int64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte{'Y'}, local+"\x00"...), uint64(n))
}

func place(name ubl.Name) actors.Place {
	local := name.Local()
	return actors.Place{Key: func(n int64) []byte { return eventKey(local, n) }, Counter: []byte("e" + local), Ref: refEvent}
}

// userOf is whose actor has a name.
func userOf(name ubl.Name) ubl.UserID {
	return ubl.UserID("u:" + strings.TrimPrefix(name.Local(), ubl.PersonPrefix))
}

// runs are a person's runs of keys.
func runs() []ubl.Numbers {
	return []ubl.Numbers{{Space: 'Y', Counter: "e", Named: true, FromOne: true, Fixed: true}}
}

// counted is what of a person's records counts as stored: events.
func counted() []ubl.Content { return []ubl.Content{{Space: 'Y'}} }
