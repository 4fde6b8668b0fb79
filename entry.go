package ubl

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"
)

// A room's timeline is a log of entries, numbered by room_seq: what was said, and what was
// done to it. The schema is ubl.entry.v2. A message of text is served as message.v1 too, and
// as nothing else to clients that know no entries: they see its number and skip the others,
// which is no gap.

// EntryType says what an entry is.
type EntryType string

// Types of entries.
const (
	EntryMessage    EntryType = "message"
	EntryEdit       EntryType = "edit"       // says a message anew
	EntryReaction   EntryType = "reaction"   // to a message, by a key that is mostly an emoji
	EntryRedaction  EntryType = "redaction"  // takes an entry's content away, for good
	EntryPin        EntryType = "pin"        // marks a message for all, or no longer
	EntryMembership EntryType = "membership" // who came, went, or has another role
	EntryProposal   EntryType = "proposal"   // what became of the terms of the room's Agreement
	EntryRoom       EntryType = "room"       // what the room is called and about, and its rules for messages
	EntryCall       EntryType = "call"       // a call began or ended
	EntryVote       EntryType = "vote"       // what somebody chooses in a poll; their newest counts
	EntryPollEnd    EntryType = "poll_end"   // ends a poll
	EntryAnswer     EntryType = "answer"     // answers a form; what it says is beside the form
)

// EntryTypes lists them all.
func EntryTypes() []EntryType {
	return []EntryType{
		EntryMessage, EntryEdit, EntryReaction, EntryRedaction, EntryPin, EntryMembership, EntryProposal, EntryRoom, EntryCall,
		EntryVote, EntryPollEnd, EntryAnswer,
	}
}

// Content types of bodies that the server itself reads. Clients may use others in messages
// and edits, such as ciphertext: the server keeps and serves their bytes, and reads nothing.
const (
	ContentText      = "application/vnd.ubl.text+json"      // {"text":…}, as message.v1 has it
	ContentSystem    = "application/vnd.ubl.system+json"    // {"text":…}, from the acts that cause it
	ContentReaction  = "application/vnd.ubl.reaction+json"  // {"key":…}
	ContentRedaction = "application/vnd.ubl.redaction+json" // {} or {"reason":…}
	ContentPin       = "application/vnd.ubl.pin+json"       // {"pinned":true} or false

	// From the acts that cause them, as entries of these types.
	ContentMembership = "application/vnd.ubl.membership+json" // {"changes":[…]}
	ContentProposal   = "application/vnd.ubl.proposal+json"   // {"agreement_id":…,"state":…,"terms_hash":…}
	ContentRoom       = "application/vnd.ubl.room+json"       // a [RoomBody]: what has changed
	ContentCall       = "application/vnd.ubl.call+json"       // {"call_id":…,"state":…}, and "seconds" of one that ended
)

// TypedBody is what an entry says: JSON, where the type says that it is, else bytes.
type TypedBody struct {
	Type  string          `json:"content_type"`
	JSON  json.RawMessage `json:"json,omitempty"`  // an object, canonical
	Bytes []byte          `json:"bytes,omitempty"` // base64 on the wire
}

// The bodies of the content types that the server reads, but for text, which is a [Body].
type (
	// ReactionBody is that of [ContentReaction].
	ReactionBody struct {
		Key string `json:"key"`
	}
	// RedactionBody is that of [ContentRedaction].
	RedactionBody struct {
		Reason string `json:"reason,omitempty"`
	}
	// PinBody is that of [ContentPin].
	PinBody struct {
		Pinned bool `json:"pinned"`
	}
	// MembershipBody is that of [ContentMembership]: all that one act changed.
	MembershipBody struct {
		Changes []MemberChange `json:"changes"`
	}
	// ProposalBody is that of [ContentProposal]. TermsHash is "" where the Agreement ended.
	ProposalBody struct {
		AgreementID AgreementID   `json:"agreement_id"`
		State       ProposalState `json:"state"`
		TermsHash   string        `json:"terms_hash,omitempty"`
	}
	// RoomBody is the body of [ContentRoom]. It has the room's settings that have changed, with their new values.
	RoomBody struct {
		RoomDescriptionPatch
		Retention *Retention `json:"retention,omitempty"`
	}
	// CallBody says that a call began or ended; its content type is [ContentCall].
	CallBody struct {
		CallID string `json:"call_id"`
		// Seconds is how long a call took that has ended.
		Seconds *int64    `json:"seconds,omitempty"`
		State   CallState `json:"state"`
	}
	// Retention is how long messages are kept: days and hours, 0 of both for ever.
	Retention struct {
		Days  int `json:"days"`
		Hours int `json:"hours"`
	}
)

// MemberChange is what became of one member. Role is the one that they have from then on, ""
// for who is gone.
type MemberChange struct {
	Change Changed `json:"change"`
	Role   Role    `json:"role,omitempty"`
	UserID UserID  `json:"user_id"`
}

// Changed says how a membership changed.
type Changed string

// Ways in which a membership changes.
const (
	MemberJoined  Changed = "joined"  // by themselves
	MemberAdded   Changed = "added"   // by the entry's author
	MemberLeft    Changed = "left"    // by themselves
	MemberRemoved Changed = "removed" // by the entry's author
	MemberRole    Changed = "role"    // has another role
)

// ProposalState says what became of proposed terms, or of the Agreement.
type ProposalState string

// States that a proposal entry tells of.
const (
	ProposalProposed  ProposalState = "proposed"  // others have to accept
	ProposalAccepted  ProposalState = "accepted"  // by the author, and others still have to
	ProposalInForce   ProposalState = "in_force"  // nobody has to any more
	ProposalWithdrawn ProposalState = "withdrawn" // taken away
	ProposalEnded     ProposalState = "ended"     // the Agreement itself
)

// CallState says what became of a call.
type CallState string

// States that a call entry tells of.
const (
	CallBegan CallState = "began"
	CallEnded CallState = "ended"
)

// CallContent is the body of an entry about a call.
func CallContent(b CallBody) TypedBody { return TypedBody{Type: ContentCall, JSON: canonical(b)} }

// TextContent is the body of a message of text.
func TextContent(text string) TypedBody { return Body{Text: text}.Content() }

// ReactionContent is the body of a reaction.
func ReactionContent(key string) TypedBody {
	return TypedBody{Type: ContentReaction, JSON: namedText("key", key)}
}

// RedactionContent is the body of a redaction, with its reason if there is one.
func RedactionContent(reason string) TypedBody {
	if reason == "" {
		return TypedBody{Type: ContentRedaction, JSON: []byte("{}")}
	}
	return TypedBody{Type: ContentRedaction, JSON: namedText("reason", reason)}
}

// PinContent is the body of a pin.
func PinContent(pinned bool) TypedBody {
	return TypedBody{Type: ContentPin, JSON: Fields{Bool("pinned", pinned)}.JSON()}
}

// MembershipContent is the body of a membership entry.
func MembershipContent(changes ...MemberChange) TypedBody {
	return TypedBody{Type: ContentMembership, JSON: canonical(MembershipBody{changes})}
}

// RoomContent is the body of an entry about the room: the members that have changed, as they are
// now.
func RoomContent(p RoomDescriptionPatch) TypedBody {
	return TypedBody{Type: ContentRoom, JSON: canonical(p)}
}

// RetentionContent is the body of an entry about the room that tells how long its messages are
// kept from then on.
func RetentionContent(p RoomPolicy) TypedBody {
	return TypedBody{Type: ContentRoom, JSON: canonical(RoomBody{Retention: &Retention{p.RetentionDays, p.RetentionHours}})}
}

// ProposalContent is the body of a proposal entry.
func ProposalContent(b ProposalBody) TypedBody {
	return TypedBody{Type: ContentProposal, JSON: canonical(b)}
}

// OwnContent reports whether a content type is the server's own: people post those of them
// that their type of entry has, and no others.
func OwnContent(kind string) bool {
	return slices.Contains([]string{
		ContentText, ContentSystem, ContentReaction, ContentRedaction, ContentPin, ContentMembership, ContentProposal, ContentRoom, ContentCall,
		ContentPoll, ContentVote, ContentPollEnd, ContentForm, ContentAnswer,
	}, kind)
}

// Read reads a body of one of those types, which has no other member.
func (c TypedBody) Read(kind string, into any) error {
	if c.Type != kind || c.JSON == nil || c.Bytes != nil {
		return Errorf(CodeValidation, "the body is not json of the content_type %s", kind)
	}
	canonical, err := Canonical(c.JSON)
	if err != nil {
		return Errorf(CodeValidation, "json is not in a form that can be hashed")
	}
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return Errorf(CodeValidation, "json doesn't have the form of its content_type")
	}
	return nil
}

// Hashed is what the ledger commits to: canonical JSON, or the bytes.
func (c TypedBody) Hashed() []byte {
	if c.JSON != nil {
		return c.JSON
	}
	return c.Bytes
}

// Text is what a body of [ContentText] or [ContentSystem] says; false for any other.
func (c TypedBody) Text() (string, bool) {
	var b Body
	if c.Type != ContentText && c.Type != ContentSystem || json.Unmarshal(c.JSON, &b) != nil {
		return "", false
	}
	return b.Text, true
}

// Bounds of typed bodies: the longest content type, and the levels of JSON, which every
// client must be able to parse inside the answers that it gets.
const (
	maxContentType = 128
	maxBodyNesting = 100
)

// Check refuses a body whose type is none, or whose content isn't what the type says, and
// answers it in canonical form. max is the most bytes.
func (c TypedBody) Check(max int) (TypedBody, error) {
	kind, params, err := mime.ParseMediaType(c.Type)
	switch {
	case err != nil || len(params) > 0 || kind != c.Type || !strings.Contains(kind, "/") || len(kind) > maxContentType:
		return c, Errorf(CodeValidation, "content_type is not a media type in lower case without parameters")
	case isJSON(kind) != (c.JSON != nil) || c.JSON != nil && c.Bytes != nil:
		return c, Errorf(CodeValidation, "a body has json where its content_type ends in +json, and bytes otherwise")
	}
	if c.JSON != nil {
		if c.JSON, err = Canonical(c.JSON); err != nil || c.JSON[0] != '{' {
			return c, Errorf(CodeValidation, "json is not an object in a form that can be hashed")
		}
		if checkTokens(c.JSON, maxBodyNesting) != nil {
			return c, Errorf(CodeValidation, "json is nested deeper than %d levels", maxBodyNesting)
		}
	}
	if n := len(c.Hashed()); n > max {
		return c, Errorf(CodeTooLarge, "the body is longer than %d bytes", max)
	}
	return c, nil
}

func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// EntryKind is the kind of entries of this form.
const EntryKind = "entry.v2"

// Entry is one entry of a room's timeline, as it is served.
type Entry struct {
	// Attachments are the files of a message, nil for none. Of an edit they are those that the
	// message keeps, nil for all.
	Attachments []Attachment `json:"attachments,omitzero"`
	AuthorID    UserID       `json:"author_id"`
	// Body is nil once the entry is redacted.
	Body *TypedBody `json:"body"`
	ID   MessageID  `json:"entry_id"`
	// Edited is what a message says now, where that isn't its body: the receipt and the salt prove
	// the body.
	Edited *Edited `json:"edited,omitempty"`
	// Form is what has become of a form.
	Form *FormState `json:"form,omitempty"`
	// Forwarded says whose words of another room a message repeats, nil for its author's own.
	Forwarded *Forwarded `json:"forwarded,omitempty"`
	// ImportedFrom says where an owner has imported the entry from, nil where it was made here.
	ImportedFrom *ImportedFrom `json:"imported_from,omitempty"`
	Kind         string        `json:"kind"`
	Pinned       bool          `json:"pinned,omitempty"`
	// Poll is what has become of a poll.
	Poll *PollState `json:"poll,omitempty"`
	// Reactions are to a message, the key that came first first.
	Reactions []Reactions `json:"reactions,omitempty"`
	Receipt   Receipt     `json:"receipt"`
	// Redacted says by whom and when the body was taken away, nil where it wasn't.
	Redacted *Redacted `json:"redacted,omitempty"`
	// Replies counts the answers in the thread that the message began.
	Replies *Replies   `json:"replies,omitempty"`
	ReplyTo *MessageID `json:"reply_to,omitempty"`
	RoomID  RoomID     `json:"room_id"`
	RoomSeq int64      `json:"room_seq"`
	// Salt is what the body's commitment in the ledger was made with: none for a body that is
	// older than commitments, for one that was redacted, for a vote in an anonymous poll, and for
	// an answer, whose own is in its [FormAnswer].
	Salt   Salt `json:"salt,omitzero"`
	SentAt Time `json:"sent_at"`
	// Source is the message that a forwarded one repeats. Only who reads the entry alone is told,
	// and may read that message too.
	Source *MessageRef `json:"source,omitempty"`
	// Target is what an edit, reaction, redaction, pin, vote, end of a poll or answer is about, and for what
	// became of a proposal the entry that told of it first.
	Target   *MessageID `json:"target,omitempty"`
	TenantID TenantID   `json:"tenant_id"`
	// Thread is the message that the thread began with that this message is in.
	Thread *MessageID `json:"thread,omitempty"`
	Type   EntryType  `json:"type"`
}

// Redacted is the redaction of an entry.
type Redacted struct {
	At      Time   `json:"at"`
	By      UserID `json:"by"`
	RoomSeq int64  `json:"room_seq"` // of the redaction
}

// Edited tells of the edits of a message that are still there.
type Edited struct {
	At   Time       `json:"at"`             // of the newest
	Body *TypedBody `json:"body,omitempty"` // of the newest; nil in message.v1, whose own body it is
	// RoomSeq is that of the newest, Versions are those of all, oldest first.
	RoomSeq  int64   `json:"room_seq"`
	Versions []int64 `json:"versions"`
}

// Reactions are those to a message by one key.
type Reactions struct {
	// By are who reacted first, at most [MaxReactors], and the reader where they reacted at all.
	By []Reactor `json:"by"`
	// Count is how many people reacted so, here or where it was imported from.
	Count int64 `json:"count"`
	// Imported are the names of those who reacted elsewhere, at most [MaxReactors]. They aren't in
	// By: whoever imported their reactions didn't react.
	Imported []string `json:"imported,omitempty"`
	Key      string   `json:"key"`
}

// Reactor is somebody who reacted, and the entry that a redaction takes back.
type Reactor struct {
	EntryID MessageID `json:"entry_id"`
	UserID  UserID    `json:"user_id"`
}

// MaxReactors is how many people are named for one key of a message's reactions.
const MaxReactors = 50

// Became is what has become of a message since it was sent: it is no part of what is stored of
// the message, but read with it.
type Became struct {
	Edited    *Edited
	Form      *FormState
	Pinned    bool
	Poll      *PollState
	Reactions []Reactions
	Replies   *Replies
}

// Replies are the answers in the thread that a message began; RoomSeq is that of the newest.
type Replies struct {
	Count   int64 `json:"count"`
	RoomSeq int64 `json:"room_seq"`
}

// With is the entry with what became of it.
func (e Entry) With(b Became) *Entry {
	e.Edited, e.Form, e.Pinned, e.Poll, e.Reactions, e.Replies = b.Edited, b.Form, b.Pinned, b.Poll, b.Reactions, b.Replies
	return &e
}

// With is the message as it is now: its body is what it says since it was edited.
func (m Message) With(b Became) (*Message, error) {
	if b.Edited != nil {
		edited := *b.Edited
		if edited.Body.Type == ContentText { // message.v1 has no other
			m.Body = Body{}
			if err := edited.Body.Read(ContentText, &m.Body); err != nil {
				return nil, err
			}
		}
		edited.Body, m.Edited = nil, &edited
	}
	m.Pinned, m.Reactions, m.Replies = b.Pinned, b.Reactions, b.Replies
	return &m, nil
}

// Encode writes the entry as canonical JSON.
func (e *Entry) Encode() json.RawMessage { return canonical(e) }

// Entry is the message as an entry, with its salt.
func (m *Message) Entry(salt Salt) *Entry {
	c := m.Body.Content()
	if m.Type == TypeSystem {
		c.Type = ContentSystem
	}
	files := m.Attachments
	if len(files) == 0 { // a message.v1 has an empty list
		files = nil
	}
	return &Entry{
		Attachments: files, AuthorID: m.SenderID, Body: &c, ID: m.MsgID, Forwarded: m.Forwarded, ImportedFrom: m.ImportedFrom, Kind: EntryKind, Receipt: m.Receipt, ReplyTo: m.ReplyTo,
		RoomID: m.RoomID, RoomSeq: m.RoomSeq, Salt: salt, SentAt: m.SentAt, TenantID: m.TenantID, Thread: m.Thread, Type: EntryMessage,
	}
}

// maxReactionRunes bounds the key of a reaction: an emoji of several code points, or a short
// name.
const maxReactionRunes = 32

// CheckReaction refuses the key of a reaction that is empty, long or can't be seen.
func CheckReaction(key string) error {
	if !utf8.ValidString(key) || !seen(key) || utf8.RuneCountInString(key) > maxReactionRunes || strings.ContainsAny(key, " \t\r\n") {
		return Errorf(CodeValidation, "the key of a reaction is not 1 to %d characters that can be seen, without blanks", maxReactionRunes)
	}
	return nil
}

// Commands about entries, of the Room family.
type (
	// PostEntry appends an entry that message.v1 can't say. Members; see the Room's table of
	// entries for who may do what. Answers *Posted.
	PostEntry struct {
		Request
		Type    EntryType
		Target  MessageID // "" for a message
		ReplyTo MessageID // "" for none
		Thread  MessageID // of a message: the one that began the thread, "" for none
		Body    TypedBody
		// Attachments are of a message, as of [SendMessage].
		Attachments []Attachment `json:",omitempty"`
		// Keeps are the files that an edit leaves to its message; nil for all of them.
		Keeps *KeptFiles `json:",omitempty"`
		// ImportedFrom says that the entry was made elsewhere first; nil for none. Owners that
		// have no mandate.
		ImportedFrom *ImportedFrom `json:",omitempty"`
	}
)

// Posted is the answer to a PostEntry: the entry as canonical JSON.
type Posted struct {
	Entry   json.RawMessage
	RoomSeq int64
}

// How far [ReadMessages] looks: where other entries are most of a timeline, a page may have
// fewer messages than were asked for.
const (
	lookPages = 5
	lookLimit = 100
)

// ReadMessages reads a page of a room's messages, oldest first, and leaves out entries that
// aren't any. next is the cursor of the page before, nil at the beginning. The command is
// without After.
func ReadMessages(ctx context.Context, a Asker, room Name, cmd ReadHistory) (list []json.RawMessage, next *int64, err error) {
	wanted := cmd.Limit
	for range lookPages {
		page, err := Ask[*HistoryPage](ctx, a, room, cmd)
		if err != nil {
			return nil, nil, err
		}
		next = page.NextCursor
		for i := len(page.Messages) - 1; i >= 0 && len(list) < wanted; i-- {
			if page.Messages[i] == nil {
				continue
			}
			list = append(list, page.Messages[i])
			if seq := page.FirstSeq + int64(i); i > 0 && len(list) == wanted {
				next = &seq
			}
		}
		if next == nil || len(list) == wanted {
			break
		}
		cmd.Before, cmd.Limit = *next, max(wanted-len(list), lookLimit)
	}
	slices.Reverse(list)
	return list, next, nil
}

// Cost is that of the body, twice over for the entry and its bookkeeping.
func (c PostEntry) Cost() int { return writeCost + 2*len(c.Body.Hashed()) + costOf(c.Attachments) }

// A poll is a message whose body is a question with options: people answer it, react to it, pin
// it and redact it like any other. Votes, and its end, are entries about it.

// Content types of polls.
const (
	ContentPoll    = "application/vnd.ubl.poll+json"     // {"question":…,"options":[…]}, of a message
	ContentVote    = "application/vnd.ubl.vote+json"     // {"choices":[…]}
	ContentPollEnd = "application/vnd.ubl.poll-end+json" // {"counts":[…],"voters":…}, which the room writes
)

// Bounds of polls.
const (
	MinPollOptions = 2
	MaxPollOptions = 10
	MaxPollText    = 300 // characters of a question, and of an option
	// MaxPollDays is how long a poll may be open that has an end.
	MaxPollDays = 366
	// MaxVoters is how many people may vote in one poll. The end of an anonymous one takes all of
	// their votes away in one commit.
	MaxVoters = 10_000
)

type (
	// PollBody is the body of a poll ([ContentPoll]).
	PollBody struct {
		// Anonymous keeps from everybody who chose what, and shows counts at the end alone.
		Anonymous bool `json:"anonymous,omitempty"`
		// EndsAt ends the poll by itself; 0 for never.
		EndsAt Time `json:"ends_at,omitzero"`
		// Multiple lets a vote choose several options.
		Multiple bool     `json:"multiple,omitempty"`
		Options  []string `json:"options"`
		Question string   `json:"question"`
		// Result is what came of a poll that was imported. Nobody votes in it any more.
		Result *PollResult `json:"result,omitempty"`
	}
	// PollResult says how many chose each option, and how many voted. It is the body of a poll's end
	// ([ContentPollEnd]).
	PollResult struct {
		Counts []int64 `json:"counts,omitempty"` // nil of an anonymous poll that was imported open
		Voters int64   `json:"voters"`
	}
	// VoteBody is the body of a vote ([ContentVote]). Choices are numbers of options, from 1 on; an empty list
	// takes the vote back. Nil in the entry of a vote in an anonymous poll, which doesn't tell.
	VoteBody struct {
		Choices []int `json:"choices,omitzero"`
	}
)

// PollContent is the body of a poll.
func PollContent(b PollBody) TypedBody { return TypedBody{Type: ContentPoll, JSON: canonical(b)} }

// VoteContent is the body of a vote.
func VoteContent(choices ...int) TypedBody {
	return TypedBody{Type: ContentVote, JSON: canonical(VoteBody{Choices: append([]int{}, choices...)})}
}

// SecretVoteContent is the body of a vote that doesn't tell its choices.
func SecretVoteContent() TypedBody {
	return TypedBody{Type: ContentVote, JSON: []byte("{}")}
}

// PollEndContent is the body of a poll's end. Who asks for it says nothing.
func PollEndContent(r *PollResult) TypedBody {
	if r == nil {
		return TypedBody{Type: ContentPollEnd, JSON: []byte("{}")}
	}
	return TypedBody{Type: ContentPollEnd, JSON: canonical(r)}
}

// Poll is the body of a message that is a poll; nil for any other.
func (c *TypedBody) Poll() *PollBody {
	var b PollBody
	if c == nil || c.Type != ContentPoll || json.Unmarshal(c.JSON, &b) != nil {
		return nil
	}
	return &b
}

// Text is the question with its options, a line each: what a search finds.
func (b *PollBody) Text() string {
	return strings.Join(append([]string{b.Question}, b.Options...), "\n")
}

// Check refuses a poll that nobody could vote in.
func (b *PollBody) Check() error {
	switch {
	case checkPollText(b.Question) != nil:
		return Errorf(CodeValidation, "question is not 1 to %d characters that can be seen", MaxPollText)
	case len(b.Options) < MinPollOptions || len(b.Options) > MaxPollOptions:
		return Errorf(CodeValidation, "options are not %d to %d", MinPollOptions, MaxPollOptions)
	}
	for i, o := range b.Options {
		if checkPollText(o) != nil || strings.ContainsAny(o, "\r\n") {
			return Errorf(CodeValidation, "an option is not a line of 1 to %d characters that can be seen", MaxPollText)
		}
		if slices.Contains(b.Options[:i], o) {
			return Errorf(CodeValidation, "two options are the same")
		}
	}
	if r := b.Result; r != nil {
		if !(r.Counts == nil && b.Anonymous) && len(r.Counts) != len(b.Options) || r.Voters < 0 || slices.ContainsFunc(r.Counts, func(n int64) bool { return n < 0 || n > r.Voters }) {
			return Errorf(CodeValidation, "result doesn't have a count for each option")
		}
	}
	return nil
}

func checkPollText(text string) error {
	if utf8.RuneCountInString(text) > MaxPollText {
		return Errorf(CodeValidation, "the text is too long")
	}
	return CheckText(text, MaxMessageBytes)
}

// CheckChoices refuses a vote that the poll doesn't take. Choices are in order, each once.
func (b *PollBody) CheckChoices(choices []int) error {
	switch {
	case len(choices) > 0 && (choices[0] < 1 || choices[len(choices)-1] > len(b.Options)):
		return Errorf(CodeValidation, "choices are not numbers of options, from 1 to %d", len(b.Options))
	case len(choices) > 1 && !b.Multiple:
		return Errorf(CodeValidation, "choices are several, and the poll takes one")
	}
	return nil
}

// PollState is what has become of a poll. It is absent until somebody votes, or the poll ends.
type PollState struct {
	// By are who chose each option, at most [MaxReactors] of each; absent where it is anonymous.
	By [][]UserID `json:"by,omitempty"`
	// Counts are how many chose each option; absent while an anonymous poll is open.
	Counts []int64 `json:"counts,omitempty"`
	// Ended says when and by whom the poll was ended; nil while it is open.
	Ended *PollEnded `json:"ended,omitempty"`
	// Mine are the reader's choices; absent for none, and once an anonymous poll has ended.
	Mine   []int `json:"mine,omitempty"`
	Voters int64 `json:"voters"`
}

// PollEnded is the end of a poll. Where its time has come, By is the platform.
type PollEnded struct {
	At      Time   `json:"at"`
	By      UserID `json:"by"`
	RoomSeq int64  `json:"room_seq"` // of the entry that ended it
}

// A form is a message whose body is a text with fields. The people whom it asks send their values
// with an entry about the form. The room keeps these values beside the form, not in the entry. So a
// newer answer can replace an older one, and redacting the form removes them all.

// Content types of forms.
const (
	ContentForm   = "application/vnd.ubl.form+json"   // {"fields":[…],"text":…}, of a message
	ContentAnswer = "application/vnd.ubl.answer+json" // {"values":{…}}, and {} as an entry is served
)

// Bounds of forms.
const (
	MaxFormFields  = 10
	MaxFormOptions = 20
	MaxFormText    = 2000 // characters of what a form says
	MaxFieldLabel  = 300  // characters of a label, of an option, and of a line that somebody writes
	MaxFieldText   = 4000 // characters of several lines that somebody writes
	MaxAnswerers   = 50   // people whom a form names
	MaxFormDays    = MaxPollDays
	// MaxAnswers is how many people may answer one form. A redaction takes all answers in one commit.
	MaxAnswers = 1000
)

// FieldType is what a field of a form asks for, and how it is shown.
type FieldType string

// Types of fields.
const (
	FieldButton  FieldType = "button"  // one of the options, each a button
	FieldLine    FieldType = "line"    // a line of text
	FieldText    FieldType = "text"    // several lines
	FieldNumber  FieldType = "number"  // a number
	FieldDate    FieldType = "date"    // a day, as 2026-01-31
	FieldYesNo   FieldType = "yes_no"  // true or false
	FieldOne     FieldType = "one"     // one of the options, chosen from a list
	FieldSeveral FieldType = "several" // a list of options, each once
)

type (
	// FormBody is the body of a form ([ContentForm]).
	FormBody struct {
		// Answerers are who may answer; nil for every member.
		Answerers []UserID `json:"answerers,omitempty"`
		// EndsAt is when answers come too late; 0 for never.
		EndsAt Time        `json:"ends_at,omitzero"`
		Fields []FormField `json:"fields"`
		// Once has the first answer of everybody stand; otherwise the newest does.
		Once bool `json:"once,omitempty"`
		// Private shows an answer to who asks and who answers alone.
		Private bool   `json:"private,omitempty"`
		Text    string `json:"text"`
	}
	// FormField is one thing that a form asks for.
	FormField struct {
		// From and Until are the first and the last date, "" for any.
		From  string `json:"from,omitempty"`
		Label string `json:"label"`
		// Max and Min bound a number, the characters of a text, or how many options are chosen.
		Max *float64 `json:"max,omitempty"`
		Min *float64 `json:"min,omitempty"`
		// Name is what the value is called in an answer.
		Name     string    `json:"name"`
		Options  []string  `json:"options,omitempty"`
		Required bool      `json:"required,omitempty"`
		Type     FieldType `json:"type"`
		Until    string    `json:"until,omitempty"`
	}
	// AnswerBody is the body of an answer ([ContentAnswer]), by the names of fields.
	AnswerBody struct {
		Values map[string]json.RawMessage `json:"values"`
	}
	// FormState is what has become of a form. It is absent until somebody answers.
	FormState struct {
		// Answered is how many have answered, and By who they are, the first [MaxReactors].
		Answered int64    `json:"answered"`
		By       []UserID `json:"by"`
		// Mine is the reader's answer, nil for none.
		Mine *FormAnswer `json:"mine,omitempty"`
	}
	// FormAnswer is somebody's newest answer. Values with Salt are what the act of its entry
	// commits to, as {"values":…}.
	FormAnswer struct {
		AuthorID UserID          `json:"author_id"`
		EntryID  MessageID       `json:"entry_id"`
		Receipt  Receipt         `json:"receipt"`
		RoomSeq  int64           `json:"room_seq"`
		Salt     Salt            `json:"salt"`
		SentAt   Time            `json:"sent_at"`
		Values   json.RawMessage `json:"values"`
	}
	// ReadAnswers reads a page of a form's answers, those whose entries have a room_seq > After,
	// oldest first: of a private form all for its author, and their own for anybody else. Members.
	// Answers *AnswerPage.
	ReadAnswers struct {
		Who   Identity
		Form  MessageID
		After int64
		Limit int
	}
	// AnswerPage is a part of a form's answers, and the form as entry.v2. NextCursor is the After of
	// the next page, nil at the end.
	AnswerPage struct {
		Form       json.RawMessage
		Answers    []FormAnswer
		NextCursor *int64
	}
)

// Cost is 0: it reads.
func (ReadAnswers) Cost() int { return 0 }

// FormContent is the body of a form.
func FormContent(b FormBody) TypedBody { return TypedBody{Type: ContentForm, JSON: canonical(b)} }

// AnswerContent is the body of an answer with values as JSON.
func AnswerContent(values json.RawMessage) TypedBody {
	return TypedBody{Type: ContentAnswer, JSON: append(append([]byte(`{"values":`), values...), '}')}
}

// KeptAnswerContent is the body of an answer as its entry is served.
func KeptAnswerContent() TypedBody { return TypedBody{Type: ContentAnswer, JSON: []byte("{}")} }

// Form is the body of a message that is a form; nil for any other.
func (c *TypedBody) Form() *FormBody {
	var b FormBody
	if c == nil || c.Type != ContentForm || json.Unmarshal(c.JSON, &b) != nil {
		return nil
	}
	return &b
}

// Words are what the form says with its labels and options, a line each: what a search finds.
func (b *FormBody) Words() string {
	lines := []string{b.Text}
	for i := range b.Fields {
		lines = append(append(lines, b.Fields[i].Label), b.Fields[i].Options...)
	}
	return strings.Join(lines, "\n")
}

// Mentions are whom a form asks by name.
func (b *FormBody) Mentions() []Mention {
	list := make([]Mention, len(b.Answerers))
	for i, user := range b.Answerers {
		list[i] = Mention(user)
	}
	return list
}
