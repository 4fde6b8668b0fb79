package ubl

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMessageBytes is the largest message text, in bytes of UTF-8. A tenant or
// a room may set a smaller limit, never a larger one.
const MaxMessageBytes = 8000

// Message types. Clients send text; system messages come from the acts that
// cause them.
const (
	TypeText   = "text"
	TypeSystem = "system"
)

// Body is what a message says.
type Body struct {
	// Mentions are whom it is for in particular, in order and each once. Where the text shows
	// a name, they say who is meant.
	Mentions []Mention `json:"mentions,omitempty"`
	Text     string    `json:"text"`
}

// Canonical is the body as it is hashed.
func (b Body) Canonical() []byte { return b.append(nil) }

func (b Body) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range b.Mentions {
		if i == 0 {
			dst = append(dst, `"mentions":[`...)
		}
		dst = appendString(dst, string(m))
		if i < len(b.Mentions)-1 {
			dst = append(dst, ',')
		} else {
			dst = append(dst, "],"...)
		}
	}
	dst = append(dst, `"text":`...)
	dst = appendString(dst, b.Text)
	return append(dst, '}')
}

// Content is the body as an entry has it.
func (b Body) Content() TypedBody { return TypedBody{Type: ContentText, JSON: b.Canonical()} }

// CheckBeside is Check for a message that carries files, which may say nothing.
func (b Body) CheckBeside(files int, max int) error {
	if files > 0 && b.Text == "" {
		return CheckMentions(b.Mentions)
	}
	return b.Check(max)
}

// Check refuses a body whose text is longer than max bytes or says nothing, and mentions that
// are too many or nobody's.
func (b Body) Check(max int) error {
	if err := CheckMentions(b.Mentions); err != nil {
		return err
	}
	return CheckText(b.Text, max)
}

// Mention is the id of somebody whom a message is for in particular, or [MentionRoom].
type Mention string

// MentionRoom is everybody in the room.
const MentionRoom Mention = "@room"

// MaxMentions is how many a message may have.
const MaxMentions = 50

// mentionCost is about what one adds to the cost of a message: an id in the message, and a
// note for who is meant.
const mentionCost = 200

// CheckMentions refuses mentions that are too many, or neither a person's id nor [MentionRoom].
func CheckMentions(list []Mention) error {
	if len(list) > MaxMentions {
		return Errorf(CodeValidation, "a message mentions %d people at most: %s is all of them", MaxMentions, MentionRoom)
	}
	for _, m := range list {
		if m != MentionRoom && !UserID(m).Valid() {
			return Errorf(CodeValidation, "a mention is neither the id of a person or an agent nor %s", MentionRoom)
		}
	}
	return nil
}

// Distinct is a list of mentions in order, each once.
func Distinct(list []Mention) []Mention {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// Message is an entry of a room's timeline.
type Message struct {
	MsgID    MessageID `json:"msg_id"`
	TenantID TenantID  `json:"tenant_id"`
	RoomID   RoomID    `json:"room_id"`
	RoomSeq  int64     `json:"room_seq"`
	SenderID UserID    `json:"sender_id"`
	SentAt   Time      `json:"sent_at"`
	Type     string    `json:"type"`
	Body     Body      `json:"body"`
	// Edited, Pinned, Reactions and Replies tell what became of the message, where a page of
	// history is asked for that; see [Entry].
	Edited    *Edited     `json:"edited,omitempty"`
	Pinned    bool        `json:"pinned,omitempty"`
	Reactions []Reactions `json:"reactions,omitempty"`
	Replies   *Replies    `json:"replies,omitempty"`
	// ImportedFrom says where an owner has imported the message from, nil where it was sent here.
	ImportedFrom *ImportedFrom `json:"imported_from,omitempty"`
	ReplyTo      *MessageID    `json:"reply_to"`
	// Attachments are the files that it carries, in order.
	Attachments []Attachment `json:"attachments"`
	Receipt     Receipt      `json:"receipt"`
	// Thread is the message that the thread began with that this one is in; nil for the
	// timeline's own messages.
	Thread *MessageID `json:"thread,omitempty"`
}

// AppendJSON writes the message as canonical JSON.
func (m *Message) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"attachments":`...)
	if len(m.Attachments) == 0 {
		dst = append(dst, "[]"...)
	} else {
		dst = append(dst, AttachmentsJSON(m.Attachments)...)
	}
	dst = append(dst, `,"body":`...)
	dst = m.Body.append(dst)
	if m.Edited != nil {
		dst = append(append(dst, `,"edited":`...), canonical(m.Edited)...)
	}
	if m.ImportedFrom != nil {
		dst = append(append(dst, `,"imported_from":`...), canonical(m.ImportedFrom)...)
	}
	dst = append(dst, `,"msg_id":"`...)
	dst = append(dst, m.MsgID...)
	dst = append(dst, '"')
	if m.Pinned {
		dst = append(dst, `,"pinned":true`...)
	}
	if len(m.Reactions) > 0 {
		dst = append(append(dst, `,"reactions":`...), canonical(m.Reactions)...)
	}
	dst = append(dst, `,"receipt":`...)
	dst = m.Receipt.append(dst)
	if m.Replies != nil {
		dst = append(append(dst, `,"replies":`...), canonical(m.Replies)...)
	}
	dst = append(dst, `,"reply_to":`...)
	if m.ReplyTo == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, string(*m.ReplyTo))
	}
	dst = append(dst, `,"room_id":"`...)
	dst = append(dst, m.RoomID...)
	dst = append(dst, `","room_seq":`...)
	dst = strconv.AppendInt(dst, m.RoomSeq, 10)
	dst = append(dst, `,"sender_id":"`...)
	dst = append(dst, m.SenderID...)
	dst = append(dst, `","sent_at":"`...)
	dst = m.SentAt.append(dst)
	dst = append(dst, `","tenant_id":"`...)
	dst = append(dst, m.TenantID...)
	if m.Thread != nil {
		dst = append(dst, `","thread":"`...)
		dst = append(dst, *m.Thread...)
	}
	dst = append(dst, `","type":"`...)
	dst = append(dst, m.Type...)
	return append(dst, `"}`...)
}

// CheckText refuses a text that is empty, not UTF-8, or longer than max bytes.
func CheckText(text string, max int) error {
	switch {
	case len(text) > max:
		return Errorf(CodeTooLarge, "the message text is longer than %d bytes of UTF-8", max)
	case !utf8.ValidString(text):
		return Errorf(CodeValidation, "the message text is not valid UTF-8")
	case !seen(text):
		return Errorf(CodeValidation, "the message text is empty, or has nothing that can be seen")
	}
	return nil
}

// seen reports whether a text has anything that can be seen.
func seen(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsSpace(r) && !invisible(r)
	})
}

// ReadState is how far somebody has read a room: the same on all their devices.
type ReadState struct {
	// ReadSeq is the room_seq up to which they have seen everything.
	ReadSeq int64 `json:"read_seq"`
	// Unread counts messages of others behind it that are still there. What the system says
	// doesn't count, nor what was there before they came, nor answers in threads.
	Unread int64 `json:"unread"`
	// Mentions counts messages behind it that are for them: that mention them or everybody,
	// or are in a thread that they take part in.
	Mentions int64 `json:"mentions"`
}

// ReadMark is how far a member has read.
type ReadMark struct {
	UserID  UserID `json:"user_id"`
	ReadSeq int64  `json:"read_seq"`
}

// Commands about reading, of the Room family. Reading leaves no receipts.
type (
	// MarkRead says that the caller has read up to Seq, on whichever device: 0 is nothing.
	// Members. Answers *ReadState.
	MarkRead struct {
		Request
		Seq int64
	}
	// ListReaders asks how far the members have read. Members. Answers []ReadMark by user id,
	// without those of whom nothing is known.
	ListReaders struct{ Who Identity }
	// ReadThread reads a page of a thread: answers after the message that began it, with
	// room_seq > After, oldest first. Members. Answers *ThreadPage.
	ReadThread struct {
		Who   Identity
		Root  MessageID
		After int64
		Limit int
	}
)

// ThreadPage is a part of a thread.
type ThreadPage struct {
	// Root is the message that began it, and Entries are answers, each as entry.v2.
	Root    json.RawMessage
	Entries []json.RawMessage
	// Replies counts all answers. NextCursor is the After of the next page, nil at the end.
	Replies    int64
	NextCursor *int64
}

// Cost is a mark's.
func (MarkRead) Cost() int { return mentionCost }

// Cost is 0: it reads.
func (ListReaders) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadThread) Cost() int { return 0 }

// ReadPayload is the payload of room.read.
func ReadPayload(r ReadMark) json.RawMessage { return canonical(r) }

// What rooms tell. The names are the seed's; the ones marked internal steer streams and are not
// shown to clients.
const (
	EventMessageCreated = "message.created"
	// EventEntryCreated tells of an entry that message.v1 can't say.
	EventEntryCreated = "entry.created"
	EventRoomCreated  = "room.created"
	EventMemberJoined = "room.member_joined"
	EventGap          = "room.gap"
	// EventRoomRead tells how far somebody has read; its payload is a [ReadMark]. Only they
	// hear of it.
	EventRoomRead = "room.read"
	// EventRoomLeft tells a person's stream of all rooms that they have left one. No actor
	// publishes it: streams make it where they notice.
	EventRoomLeft = "room.left"
	// EventMemberLeft (internal) ends the streams of the member; without a room, of who has
	// left the tenant.
	EventMemberLeft = "room.member_left"
)

// RoomCreatedPayload is the payload of room.created.
func RoomCreatedPayload(r RoomSummary) json.RawMessage {
	b := append([]byte(nil), `{"created_at":"`...)
	b = r.CreatedAt.append(b)
	b = append(b, `","mode":"`...)
	b = append(b, r.Mode...)
	b = append(b, `","name":`...)
	b = appendString(b, r.Name)
	b = append(b, `,"room_id":"`...)
	b = append(b, r.RoomID...)
	return append(b, `"}`...)
}

// MemberPayload is the payload of room.member_joined.
func MemberPayload(u UserID, role Role) json.RawMessage {
	return json.RawMessage(`{"role":"` + string(role) + `","user_id":"` + string(u) + `"}`)
}

// RoomLeftPayload is the payload of room.left: who is no longer in the room.
func RoomLeftPayload(u UserID) json.RawMessage {
	return json.RawMessage(`{"user_id":"` + string(u) + `"}`)
}

// GapPayload is the payload of room.gap: what was asked for and what is kept.
func GapPayload(fromSeq, availableFrom int64) json.RawMessage {
	b := append([]byte(nil), `{"available_from":`...)
	b = strconv.AppendInt(b, availableFrom, 10)
	b = append(b, `,"from_seq":`...)
	b = strconv.AppendInt(b, fromSeq, 10)
	return append(b, '}')
}
