package ubl

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
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
	// Forwarded says whose words of another room the message repeats, nil for its sender's own.
	Forwarded *Forwarded `json:"forwarded,omitempty"`
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
	if m.Forwarded != nil {
		dst = append(append(dst, `,"forwarded":`...), canonical(m.Forwarded)...)
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

// Forwarded says whose words a message repeats, and when they were written. Where that was it
// doesn't say: its readers may not know that there is such a room (see [Entry].Source).
type Forwarded struct {
	At       Time   `json:"at"`
	AuthorID UserID `json:"author_id"`
	// AuthorName is what an author was called whose words were imported.
	AuthorName string `json:"author_name,omitempty"`
	// Comment is how many characters of the text are the sender's own. The repeated words begin
	// behind them and an empty line.
	Comment int `json:"comment,omitempty"`
}

// behindComment is between a comment and what it is about.
const behindComment = "\n\n"

// Under is a text under a comment, and the record that says so.
func (f Forwarded) Under(comment, text string) (*Forwarded, string) {
	f.Comment = utf8.RuneCountInString(comment)
	switch {
	case comment == "":
		return &f, text
	case text == "":
		return &f, comment
	}
	return &f, comment + behindComment + text
}

// Words are what a message's text repeats, without the sender's comment.
func (f *Forwarded) Words(text string) string {
	if f == nil || f.Comment == 0 {
		return text
	}
	runes := []rune(text)
	return strings.TrimPrefix(string(runes[min(f.Comment, len(runes)):]), behindComment)
}

// In adds its commitment to an act: the ledger doesn't say who wrote elsewhere.
func (f *Forwarded) In(this Fields, salt Salt) Fields {
	if f == nil {
		return this
	}
	return append(this, Str("forwarded_hash", salt.Commit(canonical(f))))
}

// MessageRef names a message.
type MessageRef struct {
	MsgID  MessageID `json:"msg_id"`
	RoomID RoomID    `json:"room_id"`
}

// CopyMessage asks a room for what one of its messages says by now, to be forwarded. Who may
// read it, and not where messages disappear: a copy would stay. Answers *MessageCopy.
type CopyMessage struct {
	Who   Identity
	MsgID MessageID
}

// MessageCopy is what is repeated of a message, with the files that it carries still.
type MessageCopy struct {
	Forwarded
	Text        string
	Attachments []Attachment
}

// Forward is the message that a [SendMessage] repeats.
type Forward struct {
	MessageRef
	// Copy is what its room has told the sender. Nil where that refuses it by now, with Refused
	// and Why: a repetition under the same key is answered as at first, anything else so.
	Copy    *MessageCopy `json:",omitempty"`
	Refused Code         `json:",omitempty"`
	Why     string       `json:",omitempty"`
}

// Cost is 0: it reads.
func (CopyMessage) Cost() int { return 0 }

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
	// ListPins reads a page of the messages that are pinned, those with room_seq < Before, or all
	// for 0, newest first. Members. Answers *PinPage.
	ListPins struct {
		Who    Identity
		Before int64
		Limit  int
	}
)

// PinPage is a part of a room's pinned messages, each as entry.v2. NextCursor is the Before of the
// next page, nil at the end. A page may be short, or empty, before the end.
type PinPage struct {
	Entries    []json.RawMessage
	NextCursor *int64
}

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

// Cost is 0: it reads.
func (ListPins) Cost() int { return 0 }

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
	b = append(b, '"')
	if r.Direct != nil {
		b = append(b, `,"direct":{"members":[`...)
		for i, user := range r.Direct.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, string(user))
		}
		b = append(b, `]}`...)
	}
	b = append(b, `,"mode":"`...)
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

// Bounds of a search for messages.
const (
	MaxQueryClauses = 32 // words, phrases and filters of one query
	MaxFound        = 50 // messages on a page
	usualFound      = 20
)

// Sort is the order in which a search answers.
type Sort string

// The orders. The zero Sort is by relevance.
const (
	ByRelevance Sort = "relevance"
	ByNewest    Sort = "newest"
	ByOldest    Sort = "oldest"
)

// What a message may have, as has: asks for it.
const (
	HasFile     = "file"
	HasLink     = "link"
	HasReaction = "reaction"
)

// SearchMessages finds messages by what they say, of the rooms that the caller is in. The
// Tenant answers it, under a receipt that has a commitment to the query. Members of the
// tenant. Answers *MessageHits.
type SearchMessages struct {
	Request
	// Query is text of the language that [ParseQuery] reads.
	Query string
	// In and From narrow it further, as in: and from: do.
	In    []string
	From  []string
	Sort  Sort
	After string // the Next of the page before
	Limit int    // 20 unless it says; at most [MaxFound]
}

// Cost is one act.
func (SearchMessages) Cost() int { return writeCost }

// Page is how many messages are asked for.
func (c SearchMessages) Page() int {
	if c.Limit < 1 {
		return usualFound
	}
	return min(c.Limit, MaxFound)
}

// MessageHits is a page of what a search found. It doesn't say how many there are: who
// counts hits could learn of rooms by it.
type MessageHits struct {
	Hits []*MessageHit `json:"hits"`
	// Next continues with the next page; "" at the end.
	Next string `json:"-"`
	// Indexing is there while the index has messages to take in.
	Indexing *Indexing `json:"indexing,omitempty"`
	Receipt  Receipt   `json:"receipt"`
	// Salt is what the commitment to the query was made with. It is stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
}

// MessageHit is a message that a search found, as it reads now.
type MessageHit struct {
	AuthorID UserID    `json:"author_id"`
	Edited   bool      `json:"edited,omitempty"`
	EntryID  MessageID `json:"entry_id"`
	// Highlights are where words of the query stand in the snippet.
	Highlights []Highlight `json:"highlights"`
	Place      Place       `json:"place"`
	RoomName   string      `json:"room_name"`
	// Score orders hits by relevance, in thousandths; it means nothing by itself, and is 0
	// in another order.
	Score  int64 `json:"score,omitempty"`
	SentAt Time  `json:"sent_at"`
	// Snippet is the part of the text around the first match: plain text, never markup.
	Snippet string `json:"snippet"`
}

// Highlight is a part of a snippet, from its character Start to before End. A character is
// a code point.
type Highlight struct {
	End   int `json:"end"`
	Start int `json:"start"`
}

// Place is where to jump to: the message, and which entries around it are worth showing.
type Place struct {
	// From and To are the room_seq of the first and last of those entries.
	From    int64     `json:"from_seq"`
	RoomID  RoomID    `json:"room_id"`
	RoomSeq int64     `json:"room_seq"`
	Thread  MessageID `json:"thread,omitempty"`
	To      int64     `json:"to_seq"`
}

// MessageSearcher is the part of a [Searcher] that indexes the messages of all rooms of a
// group. Nothing is indexed while a search waits; a search that meets an index which is
// damaged, of another form or not there says that it isn't whole.
type MessageSearcher interface {
	// FindMessages looks a query up among the messages of some rooms, and of no others. What
	// it finds may have changed since it was indexed: see MatchMessage.
	FindMessages(ctx context.Context, of Group, q *MessageQuery, in []RoomID, sort Sort, after string, limit int) (*MessagesFound, error)
	// MatchMessage reports whether a text is found by the words of a query, and where.
	MatchMessage(q *MessageQuery, text string) (snippet string, at []Highlight, ok bool)
	// IndexMessages takes in what has changed in a room. It is kept once KeepMessages is called, or
	// a batch is full. A history that the index doesn't know has the index thrown away.
	IndexMessages(ctx context.Context, of Group, room RoomID, changes MessageChanges) error
	// Whole reports whether Refill was through since the index was made.
	Whole(ctx context.Context, of Group) (bool, error)
	// Refill has fill index each room once, in the background, unless that is being done, and
	// tell which part of the ledger the index has then. One that fails is done again when
	// Refill is called again.
	Refill(of Group, fill func(context.Context) (upTo int64, err error))
	// MessageCursor and KeepMessages are like Cursor and Keep of a [Searcher].
	MessageCursor(ctx context.Context, of Group) (int64, error)
	KeepMessages(ctx context.Context, of Group, seq int64) error
	// RestOfMessages is how long a group's index rests now, by the work since the rest before.
	RestOfMessages(of Group) time.Duration
	// Rebuild throws the index of a group away.
	Rebuild(ctx context.Context, of Group) error
}

// MessagesFound is what an index has for a query, in order. More says that there is more.
type MessagesFound struct {
	Matches []MessageMatch
	More    bool
}

// MessageMatch is a message found. After continues the search behind it.
type MessageMatch struct {
	RoomID RoomID
	Seq    int64
	Score  int64
	After  string
}

// RoomMark is how far a room's entries are in an index: those before From are no longer
// there, and Mark is the last one that was taken in.
type RoomMark struct {
	Mark
	From int64
}

// MessageChanges calls fn with what has changed in a room since a mark, in order, until fn
// fails. Where the room's history doesn't lead through the mark it calls nothing, and known
// is false.
type MessageChanges func(ctx context.Context, after RoomMark, fn func(MessageChange) error) (known bool, err error)

// MessageChange is an entry of a room, with the message that it is or changes as it reads
// now. Seq 0 is an entry that changes none.
type MessageChange struct {
	RoomMark       // behind the change
	Seq      int64 // of the message
	Gone     bool  // it isn't found any more
	AuthorID UserID
	SentAt   Time
	// Order is the place of its act in the ledger, which orders messages of all rooms.
	Order int64
	Text  string
	Files bool
	// Reaction is the room_seq of a reaction to it that came, or with ReactionGone went; 0
	// for none.
	Reaction     int64
	ReactionGone bool
}

// MessageQuery is a query as it was understood. Everything in it must hold.
type MessageQuery struct {
	Clauses []Clause
	From    []string // who wrote it: one of them
	In      []string // the room: one of them
	Has     []string // each of them
	// Since is the first moment that counts, and Until the first that no longer does; 0 for
	// no bound. Both are beginnings of a day, UTC.
	Since, Until Time
}

// Clause is words that must, or must not, occur: one, or several that follow each other.
type Clause struct {
	Text   string
	Not    bool
	Phrase bool // was in quotes, so it means these words and no others of their stems
	Prefix bool // the last word may be just the beginning of one
	Typed  bool // and that is because it may not be typed to its end yet
}

// ParseQuery reads the language of searches for messages:
//
//	word          must occur, in any form of it
//	"some words"  must follow each other, as they are
//	-word         must not occur; so with -"some words"
//	begin*        the beginning of a word
//	from:WHO      a user id, an address, or me
//	in:ROOM       a room's id or name; names with blanks in quotes
//	before:DAY after:DAY on:DAY    days are 2026-01-31, UTC
//	has:file has:link has:reaction
//
// The last word, where nothing stands behind it, may be the beginning of one.
func ParseQuery(text string) (*MessageQuery, error) {
	switch {
	case !utf8.ValidString(text):
		return nil, queryErrorf("the query is not valid UTF-8")
	case utf8.RuneCountInString(text) > MaxQueryChars:
		return nil, Errorf(CodeTooLarge, "the query is longer than %d characters", MaxQueryChars)
	}
	q := &MessageQuery{}
	for n, rest := 1, strings.TrimLeftFunc(text, unicode.IsSpace); rest != ""; n++ {
		if n > MaxQueryClauses {
			return nil, queryErrorf("the query has more than %d words, phrases and filters", MaxQueryClauses)
		}
		part, behind, err := nextPart(rest)
		if err == nil {
			err = q.take(part, behind == "")
		}
		if err != nil {
			return nil, err
		}
		rest = strings.TrimLeftFunc(behind, unicode.IsSpace)
	}
	return q, nil
}

// queryErrorf refuses a query. What is wrong is never repeated.
func queryErrorf(format string, args ...any) error {
	e := Errorf(CodeValidation, format, args...)
	e.Details = map[string]string{"query": e.Message}
	return e
}

// queryPart is one part of a query: -name:"value".
type queryPart struct {
	not, quoted bool
	name, value string
}

// filters are the names that mean something before a colon.
var filters = []string{"from", "in", "before", "after", "on", "has"}

func nextPart(s string) (p queryPart, rest string, err error) {
	if len(s) > 1 && s[0] == '-' && !unicode.IsSpace(rune(s[1])) {
		p.not, s = true, s[1:]
	}
	if name, value, ok := strings.Cut(s, ":"); ok && slices.Contains(filters, strings.ToLower(name)) {
		p.name, s = strings.ToLower(name), value
	}
	if strings.HasPrefix(s, `"`) {
		value, behind, closed := strings.Cut(s[1:], `"`)
		if !closed {
			return p, "", queryErrorf("a quote is opened and not closed")
		}
		p.quoted, p.value = true, value
		return p, behind, nil
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		end = len(s)
	}
	p.value = s[:end]
	return p, s[end:], nil
}

// take adds a part to the query. The last one is what is being typed.
func (q *MessageQuery) take(p queryPart, last bool) error {
	value := strings.TrimSpace(p.value)
	if p.name == "" {
		if value == "" {
			return nil
		}
		bare := strings.TrimRight(value, "*")
		prefix := bare != value && !p.quoted
		if p.quoted {
			bare = value
		}
		typed := last && !p.quoted && !p.not && !prefix
		q.Clauses = append(q.Clauses, Clause{Text: bare, Not: p.not, Phrase: p.quoted, Prefix: prefix || typed, Typed: typed})
		return nil
	}
	switch {
	case p.not:
		return queryErrorf("only words and phrases can be left out: -%s: is none", p.name)
	case value == "":
		return queryErrorf("%s: has nothing behind it", p.name)
	}
	switch p.name {
	case "from":
		q.From = append(q.From, value)
	case "in":
		q.In = append(q.In, value)
	case "has":
		value = strings.ToLower(value)
		if !slices.Contains([]string{HasFile, HasLink, HasReaction}, value) {
			return queryErrorf("has: is none of file, link and reaction")
		}
		q.Has = append(q.Has, value)
	default:
		return q.takeDay(p.name, value)
	}
	return nil
}

// takeDay narrows the time.
func (q *MessageQuery) takeDay(name, value string) error {
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1971 {
		return queryErrorf("%s: is not followed by a day such as 2026-01-31", name)
	}
	begins, ends := TimeOf(day), TimeOf(day.AddDate(0, 0, 1))
	if name == "after" || name == "on" {
		from := begins
		if name == "after" {
			from = ends
		}
		q.Since = max(q.Since, from)
	}
	if name == "before" || name == "on" {
		to := ends
		if name == "before" {
			to = begins
		}
		if q.Until == 0 || to < q.Until {
			q.Until = to
		}
	}
	return nil
}

// Within reports whether a moment is one that the query asks for.
func (q *MessageQuery) Within(t Time) bool {
	return t >= q.Since && (q.Until == 0 || t < q.Until)
}

// Empty reports whether the query asks for nothing in particular, or only leaves things out.
func (q *MessageQuery) Empty() bool {
	words := slices.ContainsFunc(q.Clauses, func(c Clause) bool { return !c.Not })
	return !words && len(q.From)+len(q.In)+len(q.Has) == 0 && q.Since == 0 && q.Until == 0
}

// linkStarts begin what has:link finds.
var linkStarts = []string{"http://", "https://"}

// HasLinks reports whether a text has the address of a page.
func HasLinks(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(linkStarts, func(s string) bool { return strings.Contains(lower, s) })
}

// HasAttachments reports whether a message or an entry, as it is stored, carries files.
func HasAttachments(stored json.RawMessage) bool {
	var m struct {
		Attachments []json.RawMessage `json:"attachments"`
	}
	return json.Unmarshal(stored, &m) == nil && len(m.Attachments) > 0
}
