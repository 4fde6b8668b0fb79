// Package room is the Room family, the ordering authority: it decides who may
// write into a room and which room_seq a message gets.
//
// # Data
//
// A Room owns its [State], which is derived: events applied in order, and the
// newest messages. Stored, in the tenant's group, numbers as 8 bytes big-endian:
//
//	g room 0 n      event n: founding, membership, policy, trimming, ending (JSON)
//	e room          counter of events
//	m room 0 seq    entry (stored.go has its forms)
//	v room 0 a n    entry n is an edit of, a reaction to or a pin of entry a (became.go)
//	T room 0 a n    entry n is an answer in the thread that entry a began
//	V room 0 n user what user chose in the poll that entry n is; without a user, how it ended (poll.go)
//	O room 0 n user which answer of user's to the form that entry n is stands (form.go)
//	P room 0 n a    what entry a answers to that form, with the salt of its commitment
//	A room 0 n      the files that message n carries (files.go)
//	A room          how many bytes those of all messages are
//	B blob 0 room 0 n
//	                message n carries a file with that content ([ubl.BlobRef])
//	R, Q            how far members have read, and what is no news to them ([reading])
//	c room          counter of entries, which is room_seq
//	z room          how many of them aren't messages: it is absent while all are, so that a
//	                message costs no more
//	i 4 room        snapshot of the State ([actors.Snapshots])
//	k               idempotency keys ([actors.Keys])
//	D room          what the room is called and about since somebody changed it ([agreement.TitleIndex])
//	E room          the room's Agreement has ended ([agreement.EndedIndex])
//	u, j            indexes for the Tenant's lists of rooms ([agreement.MemberIndex],
//	                [agreement.JoinableIndex])
//	w               what versions before alarms knew of retention by ([retentionIndex])
//
// # The way of one change
//
// The kernel of package actors carries a room's changes: family.go is its table. Here are
// the state, what events and messages change in it, and the decisions.
//
// # The way of one message
//
// A message is an [actors.Item]: numbered, not replayed. Room.send sees that the sender
// is a member and what the message replies to; then the kernel finds the key, and
// decideSend plans the messenger.send act and the message with the next room_seq. The
// ledger seals it with its receipt. The next message does not wait for it. A greeting is
// the second plan of a join ([actors.Plan].Also), and so has the same commit.
//
// # Other entries
//
// An edit, a reaction, a redaction and a pin are entries about another one, and may be of
// types that the server doesn't read (entry.go has the table). A redaction puts forms without content
// in the place of its target and of the target's edits, in its own commit: nobody is served them
// any more, and without the salt the ledger's commitments lead nowhere. Streams forget what
// they had of the room ([ubl.Event].Redacts).
//
// Who comes and goes, and what becomes of the room's terms, is an entry too. The plan of the
// act has it beside its event (beside.go), which notes its number: an event from before has
// none, and makes none when it is replayed.
//
// # Polls
//
// A poll is a message of a type of body that the server reads: threads, reactions, pins, unread
// counts and redactions know it as a message. A vote is an entry, and V has the newest of each
// member. A reader of messages is told how many chose what, who, where the poll isn't anonymous,
// and the reader's own choices. The author and moderators end a poll; an alarm does, as the
// platform, where it has an end. Votes come too late from that time on, even while the alarm is.
// The entry of the end has the counts, and the ledger its commitment to them.
//
// Of an anonymous poll nobody is told who chose what: entries of its votes have no choices and no
// salt, and counts are told at the end, which takes the votes away. The ledger tells who voted
// and when, and has a commitment that nobody can open any more.
//
// # Forms
//
// A form is a message of such a type, too, with fields that have rules (ubl.FormBody). An answer is an
// entry about it, which the decision holds against those rules. The entry says who answers and when:
// what is in P alone, for all members, or for the form's author and who has answered where the form is
// private. An answer takes the place of the older one of the same person, whose content goes; where
// the form takes one of each, it is refused. From its end on a form takes none, without an act: the
// end is in its body. Its redaction takes all answers.
//
// # Calls
//
// A call is begun and ended by acts with entries, and the state has the one that is going on
// (call.go). Who is in it, and what one browser says to another one, is in memory alone (incall.go)
// and told without a commit. An alarm ends a call in which nobody is any more.
//
// # Files
//
// A message may carry files, whose contents are blobs before it is sent. The act has one commitment
// to all of them, with the salt of the message: no atom tells a name, a type or a hash. The record
// under A is what the room still has of them, and what looks at files reads; in the same commit
// keys refer to their blobs. Such a record goes, with its references, when the message is redacted
// or too old; an edit may leave fewer files, and rewrites it. Then they are read no more, and a
// collection removes contents that nobody else refers to. The bytes count for the
// tenant's quota and for the room's.
//
// # Forwarding
//
// A send may repeat a message of another room (forward.go). Its stored form has where that was,
// beside the message, which is told to who may read it there.
//
// # Threads, mentions and reading
//
// A message may be in the thread of another one, which began it, and may mention people. Marks
// say how far each member has read and which entries are for them: those that mention them or
// everybody, and answers in threads that they take part in. A message writes the mark of its
// author and of those it is for; [ubl.MarkRead] writes the caller's, without a receipt, and
// tells their other devices. What isn't news has a record of its own, so that what is unread
// is the difference of two numbers. All of it goes with what retention removes.
//
// Who is writing just now is in memory alone (typing.go), and told without a commit.
//
// # Physics
//
// A room is a container of messages: its Agreement says how they move, and
// [ubl.Agreement.May] rules as for any other. Sending, and joining with its
// system message, write; retention deletes. Who may is decided by the Agreement's terms
// (terms.go), of which the policy's join rule is a part; leaving and being removed are always
// possible. Retention alone also acts under an
// Agreement that has ended: the room still keeps messages no longer than it promised.
//
// # Sealing
//
// When the Tenant shuts out the last person of a private room, the room is sealed: in
// one commit (decideRemove) its entries go, services among them, SealedAt is set, and
// Hidden becomes the last room_seq. From then on nobody has an entry, so nobody reads,
// joins, adds or sends; messages stay stored and receipted, and are never served again,
// for [State.head] begins behind Hidden. The room opens by [agreement.Inherit] alone, when
// an owner of the tenant names an heir (agreement.heir), or in the same commit, where an
// owner of the room had named one before (agreement.heir.set). Either heir begins with an
// empty timeline. Retention goes on; an ended Agreement can't be opened any more.
// Containers do the same with documents; their Hidden is a time.
//
// # Retention
//
// An alarm wakes the room when its oldest message is too old. The commit that makes a
// message the oldest sets it (the first one, and each removal), and so does the one that
// changes the policy. A removal is an act, so a room removes at most once an hour: a
// message stays up to an hour too long, as with the sweeps of earlier versions. Where messages
// are kept for less than a day, both are a minute. With a message go its files, what is found
// by it, and what notifications, previews and webhooks would have read of it: they read the room
// when they tell. An edit has its own time. A change of how long messages are kept is an entry.
//
// # What fails
//
// A refusal changes nothing. A failed commit ends the group; the Room is loaded
// from what is stored, where the message either is, with its key, or is not.
//
// Events are numbered from 1 on, messages from available_from on, without a hole.
// A hole is damage, wherever it is met, and an error that names the number.
package room

import (
	"ubl"
	"ubl/actors/reading"
)

// Reference kinds of idempotency keys.
const (
	refEvent   = 'g'
	refMessage = 'm'
)

func eventKey(r ubl.RoomID, n int64) []byte   { return reading.Numbered('g', r, n) }
func messageKey(r ubl.RoomID, n int64) []byte { return reading.EntryKey(r, n) }

func eventCounter(r ubl.RoomID) []byte   { return append([]byte{'e'}, r...) }
func messageCounter(r ubl.RoomID) []byte { return reading.Counter(r) }

// runs are a room's runs of keys.
func runs() []ubl.Numbers {
	return []ubl.Numbers{
		{Space: 'g', Counter: "e", Named: true, FromOne: true, Fixed: true},
		{Space: 'm', Counter: "c", Named: true, Fixed: true, Rewritten: formRedacted},
	}
}

// counted is what of a room's records counts as stored: its messages, their files, answers to forms, and events.
func counted() []ubl.Content {
	return []ubl.Content{{Space: 'm'}, {Space: 'g'}, {Space: 'A', Counts: isFilesKey, Weighs: weighFiles}, {Space: 'P'}}
}
