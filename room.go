package ubl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ModeInternal is the only room mode of this version: the server sees the text.
const ModeInternal = "internal"

// Join rules of a room.
const (
	// JoinInvite: an owner adds members.
	JoinInvite = "invite"
	// JoinTenant: every member of the tenant may join by themselves.
	JoinTenant = "tenant"
)

// RoomPolicy is what a room's owners decide for it.
type RoomPolicy struct {
	// MaxMessageBytes is 1 to [MaxMessageBytes].
	MaxMessageBytes int `json:"max_message_bytes"`
	// RetentionDays and RetentionHours, 0 to [MaxRetentionHours], are together how long messages
	// are kept; 0 of both is for ever. See Keeps.
	RetentionDays  int `json:"retention_days"`
	RetentionHours int `json:"retention_hours,omitempty"`
	// Join is [JoinInvite] or [JoinTenant].
	Join string `json:"join"`
	// Posting says who writes messages: [PostingEveryone], which is stored as "",
	// [PostingModerators] or [PostingThreads].
	Posting string `json:"posting,omitempty"`
}

// Keeps is how long messages are kept; 0 is for ever.
func (p RoomPolicy) Keeps() time.Duration {
	return time.Duration(p.RetentionDays*24+p.RetentionHours) * time.Hour
}

// Who writes messages into a room. Everybody in it reacts, and edits what they wrote, under
// each of them.
const (
	// PostingEveryone lets all members write.
	PostingEveryone = "everyone"
	// PostingModerators lets owners and moderators write: the room is for announcements.
	PostingModerators = "moderators"
	// PostingThreads is PostingModerators, and all members answer in threads.
	PostingThreads = "threads"
)

// MayPost refuses a message of a role, which is in a thread or isn't.
func (p RoomPolicy) MayPost(role Role, inThread bool) error {
	switch {
	case p.Posting == "", role == RoleOwner, role == RoleModerator:
		return nil
	case p.Posting == PostingThreads && inThread:
		return nil
	case p.Posting == PostingThreads:
		return Errorf(CodeForbidden, "only owners and moderators begin conversations in this room: answer in a thread")
	}
	return Errorf(CodeForbidden, "only owners and moderators write in this room")
}

// RoomPolicyPatch changes the members that are set. RetentionDays alone takes the hours away, so
// that 0 days are for ever to who knows of no hours.
type RoomPolicyPatch struct {
	MaxMessageBytes *int    `json:"max_message_bytes,omitempty"`
	RetentionDays   *int    `json:"retention_days,omitempty"`
	RetentionHours  *int    `json:"retention_hours,omitempty"`
	Join            *string `json:"join,omitempty"`
	Posting         *string `json:"posting,omitempty"`
}

// String tells one patch from another.
func (p RoomPolicyPatch) String() string {
	return patchText("max_message_bytes", p.MaxMessageBytes) + patchText("retention_days", p.RetentionDays) + patchText("join", p.Join) + patchText("posting", p.Posting) + patchText("retention_hours", p.RetentionHours)
}

func patchText[T any](name string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("%s=%v;", name, *value)
}

// Apply returns p with the patch's members, or what is wrong with one.
func (p RoomPolicy) Apply(patch RoomPolicyPatch) (RoomPolicy, error) {
	if v := patch.MaxMessageBytes; v != nil {
		if *v < 1 || *v > MaxMessageBytes {
			return p, Errorf(CodeValidation, "max_message_bytes is not between 1 and %d", MaxMessageBytes)
		}
		p.MaxMessageBytes = *v
	}
	if v := patch.RetentionDays; v != nil {
		if *v < 0 || *v > MaxRetentionDays {
			return p, Errorf(CodeValidation, "retention_days is not between 0 and %d", MaxRetentionDays)
		}
		p.RetentionDays, p.RetentionHours = *v, 0
	}
	if v := patch.RetentionHours; v != nil {
		if *v < 0 || *v > MaxRetentionHours {
			return p, Errorf(CodeValidation, "retention_hours is not between 0 and %d", MaxRetentionHours)
		}
		p.RetentionHours = *v
	}
	if v := patch.Join; v != nil {
		if *v != JoinInvite && *v != JoinTenant {
			return p, Errorf(CodeValidation, "join is neither %q nor %q", JoinInvite, JoinTenant)
		}
		p.Join = *v
	}
	if v := patch.Posting; v != nil {
		switch *v {
		case PostingEveryone:
			p.Posting = ""
		case PostingModerators, PostingThreads:
			p.Posting = *v
		default:
			return p, Errorf(CodeValidation, "posting is none of %q, %q and %q", PostingEveryone, PostingModerators, PostingThreads)
		}
	}
	return p, nil
}

// Bounds of how long messages are kept: a hundred years, and the hours of less than a day.
const (
	MaxRetentionDays  = 36500
	MaxRetentionHours = 23
)

// RoomSummary is an entry of a tenant's directory.
type RoomSummary struct {
	RoomID    RoomID `json:"room_id"`
	Name      string `json:"name"`
	Mode      string `json:"mode"`
	CreatedAt Time   `json:"created_at"`
	// Status, in answers, is [AgreementEnded] for a room whose Agreement has ended: it can be
	// read, and nothing more. It is "" for any other, and never stored.
	Status string `json:"status,omitempty"`
	// Topic is one line about what the room is for, "" for none.
	Topic string `json:"topic,omitempty"`
	// Direct says whose direct messages the room has; nil for any other room. Such a room has
	// no name of its own: people see it under those of the others.
	Direct *Direct `json:"direct,omitempty"`
}

// Room is a room's configuration.
type Room struct {
	RoomSummary
	TenantID TenantID   `json:"tenant_id"`
	Policy   RoomPolicy `json:"policy"`
	// Description says more than the topic, in CommonMark; "" for none.
	Description string `json:"description,omitempty"`
	// Physics are its Agreement's, fixed when it was founded. Nil from a node of a version before.
	Physics       *Physics `json:"physics,omitempty"`
	Heir          UserID   `json:"heir,omitempty"` // see [Agreement.NamedHeir]
	LastSeq       int64    `json:"last_seq"`
	AvailableFrom int64    `json:"available_from"`
	// AsOf is the receipt of the newest act on the configuration that this shows, where
	// the past was asked for. LastSeq is then that of the moment; where retention has taken
	// the messages of then away, it is that of the act.
	AsOf *Receipt `json:"as_of,omitempty"`
}

// TenantDefaults apply to rooms made after they were set.
type TenantDefaults struct {
	RoomMode        string `json:"room_mode"`
	RetentionDays   int    `json:"retention_days"`
	MaxMessageBytes int    `json:"max_message_bytes"`
}

// TenantDefaultsPatch changes the members that are set.
type TenantDefaultsPatch struct {
	RetentionDays   *int `json:"retention_days,omitempty"`
	MaxMessageBytes *int `json:"max_message_bytes,omitempty"`
}

// String tells one patch from another.
func (p TenantDefaultsPatch) String() string {
	return patchText("max_message_bytes", p.MaxMessageBytes) + patchText("retention_days", p.RetentionDays)
}

// Apply returns d with the patch's members, or what is wrong with one.
func (d TenantDefaults) Apply(patch TenantDefaultsPatch) (TenantDefaults, error) {
	p := RoomPolicy{MaxMessageBytes: d.MaxMessageBytes, RetentionDays: d.RetentionDays}
	p, err := p.Apply(RoomPolicyPatch{MaxMessageBytes: patch.MaxMessageBytes, RetentionDays: patch.RetentionDays})
	d.MaxMessageBytes, d.RetentionDays = p.MaxMessageBytes, p.RetentionDays
	return d, err
}

// Tenant types.
const (
	TenantPlatform = "platform" // tenant 0
	TenantCustomer = "customer"
)

// Tenant is a tenant's record.
type Tenant struct {
	TenantID  TenantID       `json:"tenant_id"`
	Type      string         `json:"type"`
	CreatedAt Time           `json:"created_at"`
	Defaults  TenantDefaults `json:"defaults"`
}

// ServiceToken is a credential for an agent or a program, as it is listed. Its
// secret is shown once, when it is made, and stored hashed.
type ServiceToken struct {
	ClientID  string `json:"client_id"`
	Name      string `json:"name"`
	UserID    UserID `json:"user_id"`
	CreatedAt Time   `json:"created_at"`
	CreatedBy UserID `json:"created_by"`
	// KeptBy is the person who answers for the service: who made it or renewed it last, or
	// keeps the service that did. Lists name who that is now. "" for one from before that
	// was kept, which its maker keeps.
	KeptBy UserID `json:"kept_by,omitempty"`
	// EndsWith, in lists, are the people whose leaving the tenant ends the service: its keeper
	// and who drew its secret. Of a token that ended so it is who left.
	EndsWith []UserID `json:"ends_with,omitempty"`
	// ExpiresAt is nil only for one from before tokens had to expire, until the
	// tenant gives it an end, soon after the upgrade.
	ExpiresAt *Time `json:"expires_at"`
	RevokedAt *Time `json:"revoked_at"`
	// Mandate bounds what the service may do; nil for one that is a full member.
	Mandate *Mandate `json:"mandate,omitempty"`
	// Client is the OAuth client that the agent was connected by, "" for a token that was made
	// as one; Resource is what its access tokens are for.
	Client   string `json:"client,omitempty"`
	Resource string `json:"resource,omitempty"`
	// Salt opens the mandate_hash of the newest act that set Mandate, ClientSalt the client_hash of
	// the act that connected the agent. Both are zero where those hashes have no salt, as in acts of
	// versions before. Who is told the mandate and the client is told them.
	Salt       Salt `json:"salt,omitzero"`
	ClientSalt Salt `json:"client_salt,omitzero"`
}

// Keeper is who answers for the service.
func (t *ServiceToken) Keeper() UserID { return cmp.Or(t.KeptBy, t.CreatedBy) }

const (
	// ServiceTokenTTL is how long a service token holds unless its maker says.
	ServiceTokenTTL = 90 * 24 * time.Hour
	// MaxServiceTokenTTL is the longest that it may hold, and a token that "ubl token" makes.
	MaxServiceTokenTTL = 366 * 24 * time.Hour
	// MaxRenewalGrace is how long the secret before a new one may go on.
	MaxRenewalGrace = 7 * 24 * time.Hour
)

// Receipt proves an act: its place in the ledger and the head after it. The
// receipt of a message is that of its action atom.
type Receipt struct {
	Shard    string `json:"ledger_shard"`
	Seq      int64  `json:"seq"`
	CID      string `json:"cid"`
	HeadHash string `json:"head_hash"`
	Time     Time   `json:"time"`
}

func (r *Receipt) append(dst []byte) []byte {
	dst = append(dst, `{"cid":"`...)
	dst = append(dst, r.CID...)
	dst = append(dst, `","head_hash":"`...)
	dst = append(dst, r.HeadHash...)
	dst = append(dst, `","ledger_shard":`...)
	dst = appendString(dst, r.Shard)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, r.Seq, 10)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.append(dst)
	return append(dst, `"}`...)
}

// Fingerprint tells one command's content from another's under the same
// idempotency key. Parts are length-prefixed, so that they cannot run together.
func Fingerprint(parts ...string) [16]byte {
	size := 0
	for _, p := range parts {
		size += len(p) + 8
	}
	b := make([]byte, 0, size)
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(b, ':')
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:])
}

// Commands of the Room family. Who may send each stands with it; the Room
// refuses everyone else with not_a_member or forbidden.
type (
	// SendMessage appends a text message. Members. Answers *Sent.
	SendMessage struct {
		Request
		Text     string // may be empty where there are Attachments
		Mentions []Mention
		ReplyTo  MessageID // "" for none
		Thread   MessageID // the message that began the thread, "" for none
		// Attachments are without their ids. Only who has brought their contents asks, or who may
		// read them elsewhere.
		Attachments []Attachment `json:",omitempty"`
		// Forward has the message repeat another one, with the files of that and none besides. Text
		// is what its sender says of it, "" for nothing. Nil for none. Only who has asked for the
		// copy as the sender asks.
		Forward *Forward `json:",omitempty"`
	}
	// Announce appends a text message of the platform and, where Did is set,
	// records the act that it tells of. The platform only. Answers *Sent.
	Announce struct {
		Request
		Did  Did
		This Fields
		Text string
	}
	// ReadHistory reads entries with room_seq < Before (0: from the newest),
	// or, where After is set, those with room_seq > *After. Both oldest first.
	// With Entries set, all of them come as entries. With Now set, messages tell what became of
	// them; without, they are as they were told when they were new. With Sources set, entries
	// that were forwarded tell where from, if the reader may read that. With Own set, which takes
	// the place of all three, the page has nothing but entries that the reader wrote, without
	// what they imported and words of others that they forwarded, and doesn't say how far the room is. Members; with Own
	// set also people who have left or were removed, unless the room is sealed. Answers *HistoryPage.
	ReadHistory struct {
		Who     Identity
		Before  int64
		After   *int64
		Limit   int
		Entries bool
		Now     bool
		Sources bool `json:",omitempty"`
		Own     bool `json:",omitempty"`
	}
	// RoomHead asks how far a room is, for streams. Answers Head.
	RoomHead struct{}
	// GetRoom reads the configuration, as it is or was. Members. Answers *Room.
	GetRoom struct {
		Who  Identity
		AsOf AsOf
	}
	// GetAgreement reads an Agreement with its history: the one that governs the
	// actor, or the one named where the actor holds others too, as a Tenant
	// does its ToolAccess records. Members of it. Answers *AgreementView. Rooms,
	// Tenants and Containers answer it.
	GetAgreement struct {
		Who       Identity
		Agreement AgreementID // "" for the actor's own
		// Brief leaves the history out, which takes reading all events.
		Brief bool
		// After is the number of a step: the history goes on with those after it. Limit is
		// how many steps at most, 0 for all of them.
		After int64
		Limit int
		// AsOf asks for the Agreement as it was, and its history up to then.
		AsOf AsOf
	}
	// EndAgreement ends an Agreement for good. Its owners. Answers *AgreementView.
	// Rooms, Tenants and Containers answer it.
	EndAgreement struct {
		Request
		Expects
		Agreement AgreementID // "" for the actor's own
	}
	// AddMember adds a member of the tenant, whom the caller has looked up.
	// Owners. Answers *Member.
	AddMember struct {
		Request
		Member Member
	}
	// JoinRoom adds the caller where the room's rule lets them. Answers *Member.
	JoinRoom struct{ Request }
	// Welcome adds a new member of the tenant, once and whatever the rule; one
	// who left stays away. Only the Tenant sends it. Answers *Member or nil.
	Welcome struct {
		Request
		Role Role
	}
	// SetMember changes a member's role. Owners. Answers *Member.
	SetMember struct {
		Request
		UserID UserID
		Role   Role
	}
	// RemoveMember removes a member. Owners; anyone themselves, which is leaving;
	// the Tenant, with Expel set, when it shuts a member out. Heir is then whom the
	// Tenant names to own what would be left without anybody, and Named whom an owner of
	// the place had named, if they are in the tenant still. Answers *Member as it was.
	RemoveMember struct {
		Request
		UserID UserID
		Expel  bool
		Heir   *Member
		Named  *Member
	}
	// SetHeir names who owns a room or container once its last owner is gone; the empty
	// user id takes the name back. The asker has found Heir in the tenant. Owners that
	// are people. Answers *Member with the user id alone.
	SetHeir struct {
		Request
		Expects
		Agreement AgreementID
		Heir      Member
	}
	// SetRoomPolicy changes the policy. Owners. Answers *Room.
	SetRoomPolicy struct {
		Request
		Expects
		Patch RoomPolicyPatch
	}
	// DescribeRoom says what a room is called and about. Owners and moderators. Answers *Room.
	DescribeRoom struct {
		Request
		Patch RoomDescriptionPatch
	}
	// GetRoomCard reads what the directory shows of a room. Members, and who may join. Answers
	// *RoomCard.
	GetRoomCard struct{ Who Identity }
	// Sweep has a Room apply retention now. The platform only. Answers Head.
	Sweep struct{ Request }
)

// Sent is the answer to a send: the message as canonical JSON, and what its commitment in
// the ledger was made with.
type Sent struct {
	Message json.RawMessage
	Salt    Salt
	RoomSeq int64
}

// HistoryPage is part of a room's timeline, oldest first.
type HistoryPage struct {
	// Messages are the entries from FirstSeq to LastSeq as message.v1 has them, nil for those
	// that it can't say. These, or all that were asked for as entries, are in Entries as
	// entry.v2, at the same place; Entries is nil where none is.
	Messages, Entries []json.RawMessage
	// FirstSeq and LastSeq are the room_seq of the first and last entry here,
	// 0 where there is none.
	FirstSeq, LastSeq int64
	// NextCursor reads the page before this one; nil at the beginning.
	NextCursor *int64
	Head       Head
}

// KeptFrom is the oldest entry left after the cursor of a page. What the page
// holds counts for more than a head that may have been read later.
func (p *HistoryPage) KeptFrom() int64 {
	if p.FirstSeq > 0 {
		return p.FirstSeq
	}
	return p.Head.AvailableFrom
}

// Head is how far a room is.
type Head struct {
	LastSeq       int64 // of the newest entry, 0 for none
	AvailableFrom int64 // of the oldest entry that retention keeps
	// Messages counts those among the entries up to LastSeq, whether they are kept or not. The
	// difference of two heads is how many came in between. 0 where it isn't known: a node of
	// an older release doesn't say.
	Messages int64
}

// Cost is that of the text, twice over for the message and its bookkeeping, of whom it mentions
// and of what it repeats.
func (c SendMessage) Cost() int {
	n := writeCost + 2*len(c.Text) + len(c.Mentions)*mentionCost + costOf(c.Files())
	if c.Forward != nil && c.Forward.Copy != nil {
		n += 2 * len(c.Forward.Copy.Text)
	}
	return n
}

// Files are those that the message is to carry.
func (c SendMessage) Files() []Attachment {
	if c.Forward != nil && c.Forward.Copy != nil {
		return c.Forward.Copy.Attachments
	}
	return c.Attachments
}

// Cost is that of the text and the act.
func (c Announce) Cost() int { return 2*writeCost + 2*len(c.Text) }

// Cost is 0: it reads.
func (ReadHistory) Cost() int { return 0 }

// Cost is 0: it reads.
func (RoomHead) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetRoom) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetAgreement) Cost() int { return 0 }

// Cost is one act.
func (EndAgreement) Cost() int { return writeCost }

// Cost is that of an act and its system message.
func (AddMember) Cost() int { return 2 * writeCost }

// Cost is that of an act and its system message.
func (JoinRoom) Cost() int { return 2 * writeCost }

// Cost is 0: nearly every Welcome only reads.
func (Welcome) Cost() int { return 0 }

// Cost is one act.
func (SetMember) Cost() int { return writeCost }

// Cost is one act.
func (SetHeir) Cost() int { return writeCost }

// Cost is one act.
func (RemoveMember) Cost() int { return writeCost }

// Cost is that of an act and its entry.
func (SetRoomPolicy) Cost() int { return 2 * writeCost }

// Cost is that of a page of deletions.
func (Sweep) Cost() int { return 16 * writeCost }

// Bounds of what people say about a room.
const (
	MaxTopicChars       = 250
	MaxDescriptionBytes = 2048
)

// RoomDescriptionPatch changes the members that are set. An empty topic or description is none.
type RoomDescriptionPatch struct {
	Name        *string `json:"name,omitempty"`
	Topic       *string `json:"topic,omitempty"`
	Description *string `json:"description,omitempty"`
}

// Empty reports whether the patch changes nothing.
func (p RoomDescriptionPatch) Empty() bool { return p == RoomDescriptionPatch{} }

// Content tells one patch from another.
func (p RoomDescriptionPatch) Content() []string {
	return []string{patchText("name", p.Name), patchText("topic", p.Topic), patchText("description", p.Description)}
}

// Tidied is the patch as it is kept, or what is wrong with one of its members.
func (p RoomDescriptionPatch) Tidied() (RoomDescriptionPatch, error) {
	for _, text := range []**string{&p.Name, &p.Topic, &p.Description} {
		if *text != nil {
			*text = new(strings.TrimSpace(**text))
		}
	}
	switch {
	case p.Empty():
		return p, Errorf(CodeValidation, "none of name, topic and description is given")
	case p.Name != nil && CheckName(*p.Name) != nil:
		return p, CheckName(*p.Name)
	case p.Topic != nil && !oneLine(*p.Topic):
		return p, Errorf(CodeValidation, "topic is not one line of at most %d characters", MaxTopicChars)
	case p.Description != nil && len(*p.Description) > MaxDescriptionBytes:
		return p, Errorf(CodeTooLarge, "description is longer than %d bytes of UTF-8", MaxDescriptionBytes)
	case p.Description != nil && *p.Description != "" && unreadableText(*p.Description):
		return p, Errorf(CodeValidation, "description is no plain text, or has nothing that can be seen")
	}
	return p, nil
}

func oneLine(text string) bool {
	return text == "" || !unreadableText(text) && !strings.ContainsFunc(text, unicode.IsControl) && utf8.RuneCountInString(text) <= MaxTopicChars
}

// unreadableText reports whether a text has bytes or control characters that nobody reads, or
// nothing else.
func unreadableText(text string) bool {
	return !utf8.ValidString(text) || !seen(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && unicode.IsControl(c) })
}

// RoomCard is what the directory shows of a room, beside its entry.
type RoomCard struct {
	Members int `json:"members"`
	// ActiveAt is when the newest entry was made, 0 for none that is kept.
	ActiveAt Time `json:"active_at,omitzero"`
}

// MaxDirect is how many people direct messages are between at most.
const MaxDirect = 8

// Direct is between whom the messages of a room are. The set never changes: another one has
// another room.
type Direct struct {
	Members []UserID `json:"members"` // sorted
}

// Others are whom somebody's direct messages are with: themselves, where they are alone.
func (d *Direct) Others(me UserID) (others []UserID) {
	for _, user := range d.Members {
		if user != me || len(d.Members) == 1 {
			others = append(others, user)
		}
	}
	return others
}

// String is between whom they are, "nobody" for none.
func (d *Direct) String() string {
	if d == nil {
		return "nobody"
	}
	return fmt.Sprint(d.Members)
}

// DirectRoom is the room of the direct messages between some people: "r:dm-" and the first 40
// hex digits of the SHA-256 of their sorted ids, each followed by a line feed. So whoever of them
// asks, and however often, it is the same.
func DirectRoom(members []UserID) (RoomID, *Direct) {
	sorted := slices.Compact(slices.Sorted(slices.Values(members)))
	h := sha256.New()
	for _, m := range sorted {
		h.Write([]byte(m + "\n"))
	}
	return RoomID(directPrefix + hex.EncodeToString(h.Sum(nil))[:40]), &Direct{sorted}
}

const directPrefix = "r:dm-"

// IsDirect reports whether the id is one that direct messages may have.
func (id RoomID) IsDirect() bool {
	digits, ok := strings.CutPrefix(string(id), directPrefix)
	if !ok || len(digits) != 40 {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// Cost is that of an act and its entry.
func (c DescribeRoom) Cost() int {
	n := 3 * writeCost
	for _, text := range []*string{c.Patch.Name, c.Patch.Topic, c.Patch.Description} {
		if text != nil {
			n += 2 * len(*text)
		}
	}
	return n
}

// Cost is 0: it reads.
func (GetRoomCard) Cost() int { return 0 }

// TypingFor is how long somebody counts as writing after they said so last.
const TypingFor = 5 * time.Second

// EventRoomTyping tells that a member is writing in a room; its payload is a [Typing].
const EventRoomTyping = "room.typing"

// Typing is that a member is writing in a room until then. A time that isn't after that of
// the event says that they have stopped.
type Typing struct {
	UserID UserID `json:"user_id"`
	Until  Time   `json:"until"`
}

// SetTyping says that the caller is writing in the room just now, or has stopped. It is told
// and not kept: no entry, no receipt, no record. Members who may write. Answers *Typing.
type SetTyping struct {
	Who    Identity
	Typing bool
}

// Cost is 0: it writes nothing.
func (SetTyping) Cost() int { return 0 }

// TypingPayload is the payload of room.typing.
func TypingPayload(t Typing) json.RawMessage { return canonical(t) }

// Bounds of calls. A call is voice and video between browsers, which reach each other by what the
// room passes on between them and keeps nowhere.
const (
	// MaxInCall is how many browsers are in a call: each sends its picture to every other one.
	MaxInCall = 4
	// CallLease is how long a browser counts as in a call after it said so last.
	CallLease = 30 * time.Second
	// MaxSignal is in bytes. MaxSignals is how many one command brings, and how many wait for a
	// browser.
	MaxSignal, MaxSignals = 16 << 10, 100
	// SignalsFor and SignalsIn bound how many signals one browser sends: so many in so long.
	SignalsFor, SignalsIn = 300, 10 * time.Second
)

// EventRoomCall tells who is in the room's call just now; its payload is an [InCall].
const EventRoomCall = "room.call"

type (
	// RoomCall is a call that is going on in a room. CallID is the room_seq of the entry that tells
	// of its begin.
	RoomCall struct {
		BeganAt Time   `json:"began_at"`
		BeganBy UserID `json:"began_by"`
		CallID  string `json:"call_id"`
	}
	// Caller is a browser in a call, by a name of its own.
	Caller struct {
		Session string `json:"session"`
		UserID  UserID `json:"user_id"`
	}
	// InCall is who is in a call, in the order in which they came. Signals wait for those in News.
	InCall struct {
		CallID string   `json:"call_id"`
		News   []string `json:"news"`
		People []Caller `json:"people"`
	}
	// Signal is what one browser in a call says to another one so that they reach each other. N
	// numbers what waits for a receiver, from 1 on; that of one to be sent is 0.
	Signal struct {
		Data string `json:"data"`
		From string `json:"from,omitempty"`
		N    int64  `json:"n,omitempty"`
		To   string `json:"to,omitempty"`
	}
	// CallNews is who is in a call, and what waits for the browser that asks.
	CallNews struct {
		InCall
		Signals []Signal
	}

	// BeginRoomCall begins a call in a room, or answers the one that is going on. Members who may
	// write. Answers *RoomCall.
	BeginRoomCall struct {
		Request
	}
	// BeInRoomCall says that a browser is in a call, or leaves it, and passes signals on. What waits
	// for it is answered until a later command says by After that it has come. It is told and not
	// kept: no entry, no receipt, no record. Members who may write. Answers *CallNews.
	BeInRoomCall struct {
		Who     Identity
		CallID  string
		Session string
		After   int64
		Leaves  bool
		Signals []Signal
	}
	// EndRoomCall ends a call: any member while nobody is in it, owners and moderators at any time.
	// The platform is answered until when somebody is still in it, who is then left there. Answers
	// *CallEnd.
	EndRoomCall struct {
		Request
		CallID string
	}
	// CallEnd is how a call ended. Until is when somebody leaves it at the earliest, of one that
	// goes on.
	CallEnd struct {
		CallID string `json:"call_id"`
		Until  Time   `json:"until,omitzero"`
	}
)

// Cost is an act and its entry.
func (BeginRoomCall) Cost() int { return 2 * writeCost }

// Cost is 0: it writes nothing.
func (BeInRoomCall) Cost() int { return 0 }

// Cost is an act and its entry.
func (EndRoomCall) Cost() int { return 2 * writeCost }

// InCallPayload is the payload of room.call.
func InCallPayload(c InCall) json.RawMessage { return canonical(c) }

// ValidCaller reports whether s may name a browser in a call: 8 to 40 of [A-Za-z0-9_.-].
func ValidCaller(s string) bool {
	return len(s) >= 8 && len(s) <= 40 && ValidToolName(s)
}

// Passing reports whether a publication tells of a moment and not of a commit. Who misses it
// misses nothing that lasts.
func (p *Publication) Passing() bool { return p.Last == 0 && len(p.Events) > 0 }
