package room

import (
	"cmp"
	"encoding/binary"
	"encoding/json"

	"ubl"
	"ubl/actors/reading"
)

// An entry is stored under m in one of these forms. The first byte tells which; the oldest
// form begins with the brace of its JSON.
const (
	formMessage  = '{' // a message.v1 from before salts
	formSalted   = 2   // 16 bytes of salt, and a message.v1
	formEntry    = 3   // an entry.v2
	formRedacted = 4   // an entry.v2 without its body and salt, in the place of what it was
	// formForwarded is 16 bytes of salt, how long the next is (2 bytes), the [ubl.MessageRef] of
	// what is repeated, and a message.v1.
	formForwarded = 5
)

const saltSize = len(ubl.Salt{})

// stored is an entry as it is stored.
type stored []byte

// storeMessage is the form of a message, whose salt goes before it. The message that it repeats,
// nil for none, is kept beside it, and isn't served with it.
func storeMessage(salt ubl.Salt, source *ubl.MessageRef, m *ubl.Message, size int) stored {
	v := append(make(stored, 0, 1+saltSize+size), formSalted)
	v = append(v, salt[:]...)
	if source != nil {
		v[0] = formForwarded
		ref, _ := json.Marshal(source) // two strings
		v = append(binary.BigEndian.AppendUint16(v, uint16(len(ref))), ref...)
	}
	return m.AppendJSON(v)
}

// forwarded takes the form of a message apart that repeats another one; nil for any other form.
func (v stored) forwarded() (source, message json.RawMessage) {
	const head = 1 + saltSize + 2
	if len(v) < head || v[0] != formForwarded {
		return nil, nil
	}
	n := int(binary.BigEndian.Uint16(v[head-2:]))
	if len(v) <= head+n {
		return nil, nil
	}
	return json.RawMessage(v[head : head+n]), json.RawMessage(v[head+n:])
}

func storeEntry(form byte, e *ubl.Entry) stored {
	data := e.Encode()
	return append(append(make(stored, 0, 1+len(data)), form), data...)
}

// message is the entry as message.v1 has it, nil where that can't say it.
func (v stored) message() json.RawMessage {
	switch {
	case len(v) > 0 && v[0] == formMessage:
		return json.RawMessage(v)
	case len(v) > 1+saltSize && v[0] == formSalted:
		return json.RawMessage(v[1+saltSize:])
	}
	_, message := v.forwarded()
	return message
}

// salt is that of a message, which has it beside itself.
func (v stored) salt() (s ubl.Salt) {
	if v[0] == formSalted || v[0] == formForwarded {
		copy(s[:], v[1:])
	}
	return s
}

// known reports whether this program knows the form.
func (v stored) known() bool {
	return v.message() != nil || len(v) > 1 && (v[0] == formEntry || v[0] == formRedacted)
}

func (v stored) redacted() bool { return len(v) > 0 && v[0] == formRedacted }

// json is the object that the form has, of whatever kind.
func (v stored) json() json.RawMessage {
	if m := v.message(); m != nil || len(v) == 0 {
		return m
	}
	return json.RawMessage(v[1:])
}

// entry is the entry.v2.
func (v stored) entry() (*ubl.Entry, error) {
	if message := v.message(); message != nil {
		var m ubl.Message
		if err := json.Unmarshal(message, &m); err != nil {
			return nil, err
		}
		return m.Entry(v.salt()), nil
	}
	var e ubl.Entry
	return &e, json.Unmarshal(v.json(), &e)
}

// encoded is the entry.v2 as it is served.
func (v stored) encoded() (json.RawMessage, error) {
	if v.message() == nil {
		return v.json(), nil
	}
	e, err := v.entry()
	if err != nil {
		return nil, err
	}
	return e.Encode(), nil
}

// brief is what a room reads of any of its entries, whichever object the form has.
type brief struct {
	Seq    int64         `json:"room_seq"`
	Msg    ubl.MessageID `json:"msg_id"`
	Entry  ubl.MessageID `json:"entry_id"`
	Sender ubl.UserID    `json:"sender_id"`
	Author ubl.UserID    `json:"author_id"`
	Type   string        `json:"type"`
	Thread ubl.MessageID `json:"thread"`
	Target ubl.MessageID `json:"target"`
	At     ubl.Time      `json:"sent_at"`
	// Body and Files tell how long what was said is, about.
	Body  json.RawMessage `json:"body"`
	Files json.RawMessage `json:"attachments"`
	// Forwarded is there for a message that repeats another one.
	Forwarded json.RawMessage `json:"forwarded"`
	// Imported is there for an entry that was made elsewhere first.
	Imported json.RawMessage `json:"imported_from"`
}

func (b brief) id() ubl.MessageID  { return cmp.Or(b.Entry, b.Msg) }
func (b brief) author() ubl.UserID { return cmp.Or(b.Author, b.Sender) }

// kind is the type of the entry; "system" for a message that only acts cause.
func (b brief) kind() ubl.EntryType {
	if b.Type == ubl.TypeText {
		return ubl.EntryMessage
	}
	return ubl.EntryType(b.Type)
}

// message is the body of a message, without a content type where it is a text in the first form; nil
// for anything else.
func (b brief) message() *ubl.TypedBody {
	var body ubl.TypedBody
	if !b.said() || json.Unmarshal(b.Body, &body) != nil {
		return nil
	}
	return &body
}

// said tells a message that people or programs sent from everything else.
func (b brief) said() bool { return b.kind() == ubl.EntryMessage }

// indexes are the keys of records that lead to the entry, or tell of it.
func (b brief) indexes(room ubl.RoomID, redacted bool) (keys [][]byte) {
	if !b.said() || b.Thread != "" || redacted {
		keys = append(keys, reading.QuietKey(room, b.Seq))
	}
	if root, ok := b.Thread.Seq(); ok {
		keys = append(keys, threadKey(room, root, b.Seq))
	}
	if target, ok := b.Target.Seq(); ok && isAbout(b.kind()) {
		keys = append(keys, aboutKey(room, target, b.Seq))
	}
	switch target, _ := b.Target.Seq(); b.kind() { // the poll or form itself is older, and gone
	case ubl.EntryVote:
		keys = append(keys, voteKey(room, target, b.author()))
	case ubl.EntryPollEnd:
		keys = append(keys, voteKey(room, target, ""))
	case ubl.EntryAnswer:
		keys = append(keys, answererKey(room, target, b.author()))
	}
	return keys
}

// post is the entry in memory.
func (b brief) post(v stored) *post {
	return &post{seq: b.Seq, id: b.id(), author: b.author(), thread: b.Thread, said: b.said(), bytes: postBytes(b.Body) + filesBytes(b.Files), stored: v}
}

func (v stored) brief() (b brief, err error) {
	if !v.known() {
		return b, ubl.Damaged("an entry is stored in a form that this program doesn't know")
	}
	return b, json.Unmarshal(v.json(), &b)
}

// answer is what the author of the entry is answered: a message as message.v1 has it, any
// other as entry.v2.
func (v stored) answer(seq int64) any {
	if m := v.message(); m != nil {
		return &ubl.Sent{Message: m, Salt: v.salt(), RoomSeq: seq}
	}
	return &ubl.Posted{Entry: v.json(), RoomSeq: seq}
}
