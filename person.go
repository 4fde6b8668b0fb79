package ubl

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Each person has an actor of their own in a tenant, which nobody else reads: what they want to
// hear of, where it reaches them, and what waits for them. DESIGN.md ("Reaching people") has the way.

// PersonName addresses a Person actor.
func PersonName(t TenantID, u UserID) Name {
	return Name(string(t) + "|" + PersonPrefix + strings.TrimPrefix(string(u), "u:"))
}

// PersonPrefix begins the local names of Person actors.
const PersonPrefix = "p:"

// EventPersonChanged tells a person's own devices that something of theirs has changed: they
// read it again. Its payload is {"what":…}, one of the words below.
const EventPersonChanged = "person.changed"

// What has changed of a person's.
const (
	PersonPreferences = "preferences"
	PersonDevices     = "devices"
	PersonReminders   = "reminders"
	PersonWaiting     = "waiting"
	PersonScheduled   = "scheduled"
)

// Limits of what a person keeps.
const (
	MaxPreferredRooms = 5000
	MaxSections       = 50
	MaxSectionBytes   = 100
	MaxKeywords       = 50
	MaxKeywordBytes   = 60
	MaxDevices        = 10
	MaxReminders      = 200
	MaxReminderNote   = 500
	// MaxRemindAhead is how far ahead a reminder, a mute and a do-not-disturb may end.
	MaxRemindAhead = 366 * 24 * time.Hour
)

// NotifyLevel is which messages of a room reach somebody.
type NotifyLevel string

// Levels. Where somebody has set none it follows from the room: all in direct ones, else mentions.
const (
	NotifyAll      NotifyLevel = "all"
	NotifyMentions NotifyLevel = "mentions" // those that are for them: see [News]
	NotifyNothing  NotifyLevel = "nothing"
)

// RoomPreference is what somebody wants of a room, and where they list it.
type RoomPreference struct {
	RoomID RoomID `json:"room_id"`
	// Level is "" where it follows from the kind of room.
	Level NotifyLevel `json:"level,omitempty"`
	// MutedUntil is when the room is heard again, 0 where it isn't muted.
	MutedUntil Time `json:"muted_until,omitzero"`
	Favourite  bool `json:"favourite,omitempty"`
	// Section is the one of their list in which it stands, "" for none.
	Section string `json:"section,omitempty"`
	// Salt opens the commitment of the act that set it. Only its answer has it.
	Salt Salt `json:"salt,omitzero"`
}

// RoomPreferencePatch changes the members that are set.
type RoomPreferencePatch struct {
	Level *NotifyLevel `json:"level,omitempty"` // "" goes back to what follows from the room
	// MuteSeconds mutes from now on for so long; 0 ends it.
	MuteSeconds *int64  `json:"mute_s,omitempty"`
	Favourite   *bool   `json:"favourite,omitempty"`
	Section     *string `json:"section,omitempty"`
}

// QuietHours are a time of day at which nothing reaches a person, by the clock of a zone.
// Where To isn't behind From they end the next day.
type QuietHours struct {
	From string `json:"from"` // 22:00
	To   string `json:"to"`   // 07:00
	Zone string `json:"zone"` // Europe/Berlin
	// Days are those on which they begin, mon to sun; empty is every day.
	Days []string `json:"days,omitempty"`
}

// MailLevel is which unread messages a person is told of by mail.
type MailLevel string

// Levels of mails.
const (
	MailOff MailLevel = "off"
	// MailMentions is of what is for them (see [News]), while no device of theirs is reached.
	MailMentions MailLevel = "mentions"
	// MailAlways is that with devices, too.
	MailAlways MailLevel = "always"
	// MailDaily is of everything unread, once a day.
	MailDaily MailLevel = "daily"
)

// Languages are those that mails are written in.
var Languages = []string{"en", "de", "es", "ar"}

// Mails is what mails tell of. Nobody is mailed who hasn't chosen it, or whose app hasn't told
// their language: who has never been here since there are mails expects none.
func (p *Preferences) Mails() MailLevel {
	switch {
	case p.Mail != "":
		return p.Mail
	case p.Language != "":
		return MailMentions
	}
	return MailOff
}

// PreviewNone has notifications tell nothing but that there is something.
const PreviewNone = "none"

// Preferences are what a person wants to hear of.
type Preferences struct {
	Rooms    []RoomPreference `json:"rooms,omitempty"`    // by room id
	Sections []string         `json:"sections,omitempty"` // of their list, in their order
	Keywords []string         `json:"keywords,omitempty"` // words that make a message one for them
	Quiet    *QuietHours      `json:"quiet,omitempty"`
	// DisturbAt is when they may be disturbed again, 0 for now.
	DisturbAt Time `json:"disturb_at,omitzero"`
	// Preview is [PreviewNone] or "", which shows who wrote where, and how it begins.
	Preview string `json:"preview,omitempty"`
	// Mail is what mails tell of; "" is where nobody has chosen: see [Preferences.Mails].
	Mail MailLevel `json:"mail,omitempty"`
	// MailText has mails tell how each message begins.
	MailText bool `json:"mail_text,omitempty"`
	// Language is that of mails, one of [Languages]; "" is one that nobody has told.
	Language string `json:"language,omitempty"`
	// Salt opens the commitment of the act that set them. Only its answer has it.
	Salt Salt `json:"salt,omitzero"`
}

// WordList is a list to put in the place of another one: an empty list takes all away.
type WordList struct {
	Words []string `json:"words"`
}

// PreferencesPatch changes the members that are set.
type PreferencesPatch struct {
	Sections *WordList   `json:"sections,omitempty"`
	Keywords *WordList   `json:"keywords,omitempty"`
	Quiet    *QuietHours `json:"quiet,omitempty"` // without From there are none
	// DoNotDisturbSeconds begins now; 0 ends it.
	DoNotDisturbSeconds *int64     `json:"do_not_disturb_s,omitempty"`
	Preview             *string    `json:"preview,omitempty"`
	Mail                *MailLevel `json:"mail,omitempty"`
	MailText            *bool      `json:"mail_text,omitempty"`
	Language            *string    `json:"language,omitempty"`
}

// Subscription is where a browser is reached, as its push service said: RFC 8030 and 8291.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// Device is a browser that a person is reached by. Its id follows from the endpoint.
type Device struct {
	DeviceID string `json:"device_id"`
	Name     string `json:"name"`
	AddedAt  Time   `json:"added_at"`
	// Subscription is nobody's to see: lists leave it out.
	Subscription *Subscription `json:"subscription,omitempty"`
	// Salt opens the commitment of the act that added it; in an answer, that of the act answered.
	Salt Salt `json:"salt,omitzero"`
}

// Reminder is about a message, at a time.
type Reminder struct {
	ReminderID string    `json:"reminder_id"`
	RoomID     RoomID    `json:"room_id"`
	MsgID      MessageID `json:"msg_id"`
	At         Time      `json:"at"`
	Note       string    `json:"note,omitempty"`
	// Due says that the time has come; it stays until it is removed.
	Due bool `json:"due,omitempty"`
	// Salt opens the commitment of the act that added it; in an answer, that of the act answered.
	Salt Salt `json:"salt,omitzero"`
}

// Waiting is what came in a room for somebody that they haven't read.
type Waiting struct {
	RoomID   RoomID `json:"room_id"`
	Count    int64  `json:"count"`
	FirstSeq int64  `json:"first_seq"`
	LastSeq  int64  `json:"last_seq"`
	// Held says that a time of quiet holds it back.
	Held bool `json:"held,omitempty"`
}

// Person is what a person keeps, as they see it.
type Person struct {
	UserID      UserID      `json:"user_id"`
	Preferences Preferences `json:"preferences"`
	Devices     []Device    `json:"devices"`
	Reminders   []Reminder  `json:"reminders"`
	Waiting     []Waiting   `json:"waiting"`
	// QuietUntil is when a time of quiet ends that holds things back now, 0 for none.
	QuietUntil Time `json:"quiet_until,omitzero"`
	// Mail is how mails reach them; nil where the server sends none.
	Mail *PersonMail `json:"mail,omitempty"`
}

// PersonMail is how mails reach a person.
type PersonMail struct {
	// Address is the one that they have proven, "" while there is none: no mail goes out then.
	Address string `json:"address,omitempty"`
	// Failed is why the newest mail couldn't be delivered, until their address is another one or
	// they choose again what mails tell of.
	Failed *MailFailure `json:"failed,omitempty"`
}

// MailFailure is an address that a mail server has refused for good.
type MailFailure struct {
	Address string `json:"address"`
	Message string `json:"message"`
	At      Time   `json:"at"`
}

// PushKey is the public half of a person's key, by which push services know who sends.
type PushKey struct {
	Key string `json:"key"`
}

// Commands of the Person family. The person alone, who is no service, sends them, where
// nothing else is said.
type (
	// GetPerson reads all of it. Answers *Person.
	GetPerson struct{ Who Identity }
	// SetPreferences changes what isn't about one room. Answers *Preferences.
	SetPreferences struct {
		Request
		Patch PreferencesPatch
	}
	// SetRoomPreference changes what is wanted of a room. Answers *RoomPreference.
	SetRoomPreference struct {
		Request
		RoomID RoomID
		Patch  RoomPreferencePatch
	}
	// MakePushKey makes the person's key at the first use, and is told it afterwards.
	// Answers *PushKey.
	MakePushKey struct{ Request }
	// AddDevice has a browser reached, or reached under new keys. Answers *Device.
	AddDevice struct {
		Request
		Name         string
		Subscription Subscription
	}
	// RemoveDevice ends that. Answers *Device.
	RemoveDevice struct {
		Request
		DeviceID string
	}
	// AddReminder reminds of a message. Answers *Reminder.
	AddReminder struct {
		Request
		RoomID RoomID
		MsgID  MessageID
		At     Time
		Note   string
	}
	// RemoveReminder ends one, whether it was due or not. Answers *Reminder.
	RemoveReminder struct {
		Request
		ReminderID string
	}
	// Notify hands on a message of a room that the person is in, as the ledger has it. The
	// platform only. Answers nil.
	Notify struct {
		Request
		News News
	}
	// SeenRoom says that the person has read a room up to Seq, wherever. They themselves, and the
	// platform. Answers nil.
	SeenRoom struct {
		Request
		RoomID RoomID
		Seq    int64
	}
	// StopMail ends mails, by the link that each has. The platform only, which has checked it.
	// Answers nil.
	StopMail struct{ Request }
	// ExportOwn puts on record that the person takes their own data home, before any of it is read.
	// Answers *OwnExport.
	ExportOwn struct{ Request }
)

// OwnExport is the act by which somebody takes their own data home.
type OwnExport struct{ Receipt Receipt }

// Cost is 0: it reads.
func (GetPerson) Cost() int { return 0 }

// Cost is one act.
func (ExportOwn) Cost() int { return writeCost }

// Cost is one act with all preferences.
func (SetPreferences) Cost() int { return 4 * writeCost }

// Cost is one act with all preferences.
func (SetRoomPreference) Cost() int { return 4 * writeCost }

// Cost is one act.
func (MakePushKey) Cost() int { return writeCost }

// Cost is one act.
func (AddDevice) Cost() int { return 2 * writeCost }

// Cost is one act.
func (RemoveDevice) Cost() int { return writeCost }

// Cost is one act.
func (AddReminder) Cost() int { return writeCost }

// Cost is one act.
func (RemoveReminder) Cost() int { return writeCost }

// Cost is an act, and one for each device.
func (Notify) Cost() int { return 2 * writeCost }

// Cost is 0: nearly every one only looks.
func (SeenRoom) Cost() int { return 0 }

// Cost is one act with all preferences.
func (StopMail) Cost() int { return 4 * writeCost }

// Mailer hands mails to a mail server. Safe for concurrent use.
type Mailer interface {
	// Mail hands one over. Forbidden says that the server refuses it for good; unavailable and
	// overloaded that it may be tried again: then nobody knows whether the server has it.
	Mail(ctx context.Context, m UnreadMail) error
}

// UnreadMail tells somebody what they haven't read. Names and texts are as people wrote them.
type UnreadMail struct {
	// ID is the same at every attempt, and no other mail's.
	ID string
	To string
	// Of is whose Person it is about.
	Of       Name
	Language string
	// Due is when it should have left.
	Due   Time
	Rooms []UnreadRoom
	// More is how many other rooms have something unread.
	More int
}

// UnreadRoom is a room with something unread.
type UnreadRoom struct {
	RoomID RoomID
	Name   string
	Count  int64
	// Authors are who wrote the newest messages, each once. Lines are how these begin, oldest
	// first, for a person who wants to see it.
	Authors []string
	Lines   []UnreadLine
}

// UnreadLine is how a message begins.
type UnreadLine struct{ Author, Text string }

// Pusher reaches browsers by their push services. Safe for concurrent use.
type Pusher interface {
	// NewKey makes a pair of keys. The private half is sealed for the person whose name is of.
	NewKey(of Name) (public string, sealed []byte, err error)
	// Check refuses a subscription that can't be pushed to.
	Check(Subscription) error
	// Push hands a payload to a push service, encrypted for the browser. NotFound says that the
	// subscription has ended; unavailable, overloaded and rate_limited that it may be tried again.
	Push(ctx context.Context, of Name, public string, sealed []byte, to Subscription, p Push) error
}

// Push is what is pushed.
type Push struct {
	Payload []byte
	// Topic stands for what a newer one replaces at the push service, "" for nothing.
	Topic string
	// TTL is how long the service keeps it for a browser that is away.
	TTL time.Duration
	// Urgent says that it may wake a device.
	Urgent bool
}

// Room is the preference about a room, and whether there is one.
func (p *Preferences) Room(id RoomID) (RoomPreference, bool) {
	i, found := p.find(id)
	if !found {
		return RoomPreference{RoomID: id}, false
	}
	return p.Rooms[i], true
}

func (p *Preferences) find(id RoomID) (int, bool) {
	return slices.BinarySearchFunc(p.Rooms, id, func(r RoomPreference, id RoomID) int { return strings.Compare(string(r.RoomID), string(id)) })
}

// With are the preferences with another one about a room. One that says nothing is left out.
func (p Preferences) With(r RoomPreference) Preferences {
	p.Rooms = slices.Clone(p.Rooms)
	i, found := p.find(r.RoomID)
	switch empty := r == (RoomPreference{RoomID: r.RoomID}); {
	case found && empty:
		p.Rooms = slices.Delete(p.Rooms, i, i+1)
	case found:
		p.Rooms[i] = r
	case !empty:
		p.Rooms = slices.Insert(p.Rooms, i, r)
	}
	return p
}

// Apply is the preference with a patch's members, or what is wrong with one.
func (r RoomPreference) Apply(patch RoomPreferencePatch, sections []string, now Time) (RoomPreference, error) {
	if l := patch.Level; l != nil {
		if *l != "" && *l != NotifyAll && *l != NotifyMentions && *l != NotifyNothing {
			return r, wrong("level", "is all, mentions, nothing, or empty for what follows from the room")
		}
		r.Level = *l
	}
	if s := patch.MuteSeconds; s != nil {
		until, err := endsAfter("mute_s", *s, now)
		if err != nil {
			return r, err
		}
		r.MutedUntil = until
	}
	if patch.Favourite != nil {
		r.Favourite = *patch.Favourite
	}
	if s := patch.Section; s != nil {
		if *s != "" && !slices.Contains(sections, *s) {
			return r, wrong("section", "is none of your sections: add it to them first")
		}
		r.Section = *s
	}
	return r, nil
}

// endsAfter is when so many seconds are over, 0 for none.
func endsAfter(field string, seconds int64, now Time) (Time, error) {
	switch {
	case seconds < 0 || seconds > int64(MaxRemindAhead/time.Second):
		return 0, wrong(field, "is a number of seconds up to a year, or 0")
	case seconds == 0:
		return 0, nil
	}
	return now.Add(time.Duration(seconds) * time.Second), nil
}

// Apply is the preferences with a patch's members, or what is wrong with one. Rooms of a section
// that is gone stand in none.
func (p Preferences) Apply(patch PreferencesPatch, now Time) (Preferences, error) {
	if s := patch.Sections; s != nil {
		if err := checkWords("sections", s.Words, MaxSections, MaxSectionBytes); err != nil {
			return p, err
		}
		p.Sections, p.Rooms = slices.Clone(s.Words), slices.Clone(p.Rooms)
		for i := range p.Rooms {
			if !slices.Contains(s.Words, p.Rooms[i].Section) {
				p.Rooms[i].Section = ""
			}
		}
		p.Rooms = slices.DeleteFunc(p.Rooms, func(r RoomPreference) bool { return r == (RoomPreference{RoomID: r.RoomID}) })
	}
	if k := patch.Keywords; k != nil {
		if err := checkWords("keywords", k.Words, MaxKeywords, MaxKeywordBytes); err != nil {
			return p, err
		}
		p.Keywords = slices.Clone(k.Words)
	}
	if q := patch.Quiet; q != nil {
		p.Quiet = nil
		if q.From != "" {
			if err := q.check(); err != nil {
				return p, err
			}
			p.Quiet = q
		}
	}
	if s := patch.DoNotDisturbSeconds; s != nil {
		until, err := endsAfter("do_not_disturb_s", *s, now)
		if err != nil {
			return p, err
		}
		p.DisturbAt = until
	}
	if s := patch.Preview; s != nil {
		if *s != "" && *s != PreviewNone {
			return p, wrong("preview", "is none, or empty for who wrote where, and how it begins")
		}
		p.Preview = *s
	}
	return p.applyMail(patch)
}

func (p Preferences) applyMail(patch PreferencesPatch) (Preferences, error) {
	if m := patch.Mail; m != nil {
		switch *m {
		case "", MailOff, MailMentions, MailAlways, MailDaily:
			p.Mail = *m
		default:
			return p, wrong("mail", "is off, mentions, always, daily, or empty for what is usual")
		}
	}
	if patch.MailText != nil {
		p.MailText = *patch.MailText
	}
	if l := patch.Language; l != nil {
		if *l != "" && !slices.Contains(Languages, *l) {
			return p, wrong("language", "is one of "+strings.Join(Languages, ", ")+", or empty")
		}
		p.Language = *l
	}
	return p, nil
}

// checkWords refuses a list that is too long, or has one twice or one that says nothing.
func checkWords(field string, list []string, most, bytes int) error {
	if len(list) > most {
		return wrong(field, "are too many")
	}
	for i, w := range list {
		if len(w) > bytes || !utf8.ValidString(w) || strings.TrimSpace(w) != w || !seen(w) || strings.ContainsAny(w, "\r\n\t") {
			return wrong(field, "has one that is empty, too long, or not a line of text")
		}
		if slices.Contains(list[:i], w) {
			return wrong(field, "has one twice")
		}
	}
	return nil
}

// String tells one patch from another.
func (p PreferencesPatch) String() string { return patchJSON(p) }

// String tells one patch from another.
func (p RoomPreferencePatch) String() string { return patchJSON(p) }

// patchJSON can't fail: patches hold texts and numbers.
func patchJSON(p any) string {
	b, _ := json.Marshal(p)
	return string(b)
}

// wrong refuses a field of what somebody set.
func wrong(field, what string) *Error {
	err := Errorf(CodeValidation, "%s %s", field, what)
	err.Details = map[string]string{field: what}
	return err
}

// News is a message as it may be for somebody, who didn't write it.
type News struct {
	RoomID RoomID
	Seq    int64
	MsgID  MessageID
	Author UserID
	Text   string // "" where the server doesn't read what was said
	// Direct says that the room is a conversation of a few people; Mentioned that the message
	// mentions them or everybody; Thread that it answers in a thread that they take part in.
	Direct, Mentioned, Thread bool
}

// Verdict is whether a message reaches somebody.
type Verdict struct {
	// For says that it counts for them.
	For bool
	// Until is when it reaches them, where a time of quiet holds it back; 0 for at once.
	Until Time
}

// Decide says whether a message reaches a person who wants this, as far as they haven't read it.
// It is the one place where that is decided: who has notifications made asks it first, to spare
// the person's actor what isn't for them, and the actor asks it again.
func (p *Preferences) Decide(n News, now Time) Verdict {
	room, _ := p.Room(n.RoomID)
	level := room.Level
	if level == "" {
		level = NotifyMentions
		if n.Direct {
			level = NotifyAll
		}
	}
	switch {
	case level == NotifyNothing, room.MutedUntil > now:
		return Verdict{}
	case level == NotifyMentions && !n.Mentioned && !n.Thread && !p.hasKeyword(n.Text):
		return Verdict{}
	}
	return Verdict{For: true, Until: p.QuietUntil(now)}
}

// hasKeyword looks for a keyword as a word of its own, in letters of whatever case.
func (p *Preferences) hasKeyword(text string) bool {
	if len(p.Keywords) == 0 || text == "" {
		return false
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(p.Keywords, func(word string) bool {
		word = strings.ToLower(word)
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				return false
			}
			from, to := at+i, at+i+len(word)
			if !endsInWord(text[:from]) && !beginsInWord(text[to:]) {
				return true
			}
			at = from + 1
		}
	})
}

func endsInWord(s string) bool {
	r := []rune(s[max(0, len(s)-4):])
	return len(r) > 0 && isWord(r[len(r)-1])
}

func beginsInWord(s string) bool {
	for _, r := range s {
		return isWord(r)
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// quietRounds bounds how often one time of quiet leads into the next.
const quietRounds = 20

// QuietUntil is when nothing holds messages back any more, 0 where nothing does now. Quiet hours
// may begin before a do-not-disturb ends, and the other way round.
func (p *Preferences) QuietUntil(now Time) Time {
	until := now
	for range quietRounds {
		next := max(until, p.DisturbAt)
		if p.Quiet != nil {
			next = max(next, p.Quiet.until(next))
		}
		if next == until {
			break
		}
		until = next
	}
	if until == now {
		return 0
	}
	return until
}

// Days by which quiet hours are told.
var days = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// check refuses hours that can't be understood.
func (q *QuietHours) check() error {
	_, _, fromOK := clock(q.From)
	_, _, toOK := clock(q.To)
	switch {
	case !fromOK:
		return wrong("quiet.from", "is a time of day such as 22:00")
	case !toOK || q.From == q.To:
		return wrong("quiet.to", "is another time of day, such as 07:00")
	case q.Zone == "" || q.Zone == "Local" || len(q.Zone) > 64:
		return wrong("quiet.zone", "is a time zone such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(q.Zone); err != nil {
		return wrong("quiet.zone", "is no time zone that is known here")
	}
	for i, day := range q.Days {
		if !slices.Contains(days[:], day) || slices.Contains(q.Days[:i], day) {
			return wrong("quiet.days", "are of mon, tue, wed, thu, fri, sat, sun, each once")
		}
	}
	return nil
}

// clock reads a time of day.
func clock(s string) (hour, minute int, ok bool) {
	t, err := time.Parse("15:04", s)
	return t.Hour(), t.Minute(), err == nil && len(s) == len("15:04")
}

// until is when the quiet hours end in which a moment is, 0 where it is in none.
func (q *QuietHours) until(now Time) Time {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil { // which was known when they were set
		return 0
	}
	fromHour, fromMinute, _ := clock(q.From)
	toHour, toMinute, _ := clock(q.To)
	local := now.Std().In(zone)
	for _, ago := range []int{0, 1} { // those of yesterday may go on
		day := local.AddDate(0, 0, -ago)
		if len(q.Days) > 0 && !slices.Contains(q.Days, days[day.Weekday()]) {
			continue
		}
		begin := time.Date(day.Year(), day.Month(), day.Day(), fromHour, fromMinute, 0, 0, zone)
		end := time.Date(day.Year(), day.Month(), day.Day(), toHour, toMinute, 0, 0, zone)
		if q.To < q.From {
			end = time.Date(day.Year(), day.Month(), day.Day()+1, toHour, toMinute, 0, 0, zone)
		}
		if !local.Before(begin) && local.Before(end) {
			return TimeOf(end)
		}
	}
	return 0
}

// MaxScheduled is how many messages a person may have scheduled at a time.
const MaxScheduled = 50

// Scheduled is a message that its author has sent later, once or by a rule. It is theirs alone
// until then: DESIGN.md ("Scheduled messages") has the way.
type Scheduled struct {
	ScheduledID string    `json:"scheduled_id"`
	RoomID      RoomID    `json:"room_id"`
	Text        string    `json:"text"`
	Mentions    []Mention `json:"mentions,omitempty"`
	ReplyTo     MessageID `json:"reply_to,omitempty"`
	Thread      MessageID `json:"thread,omitempty"`
	// At is when it is sent next; of one that failed, when it should have been.
	At Time `json:"at"`
	// Zone is the time zone that the rule goes by; "" is UTC.
	Zone string `json:"zone,omitempty"`
	// Rule is an RRULE of RFC 5545, "" for a message that is sent once. It counts from Start.
	Rule  string `json:"rule,omitempty"`
	Start Time   `json:"start,omitzero"`
	// Sending says that its time has come, and the room is being asked.
	Sending bool `json:"sending,omitempty"`
	// Last is the newest message that a rule has led to.
	Last *ScheduledSent `json:"last,omitempty"`
	// Failed says why it wasn't sent. It isn't tried again unless its author sets another time.
	Failed *ScheduledFailure `json:"failed,omitempty"`
	// Salt opens the commitment of the act that added or changed it; in an answer, that of the act
	// answered.
	Salt Salt `json:"salt,omitzero"`
}

// ScheduledSent is a message that was sent for its author.
type ScheduledSent struct {
	MsgID MessageID `json:"msg_id"`
	At    Time      `json:"at"`
}

// ScheduledFailure is why a message wasn't sent: the answer of the room or the tenant.
type ScheduledFailure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	At      Time   `json:"at"`
}

// ScheduledList is what somebody has scheduled, in the order of their times.
type ScheduledList struct {
	Scheduled []Scheduled `json:"scheduled"`
}

// ScheduledPatch changes the members that are set.
type ScheduledPatch struct {
	Text     *string      `json:"text,omitempty"`
	Mentions *MentionList `json:"mentions,omitempty"`
	At       *string      `json:"at,omitempty"`
	Zone     *string      `json:"zone,omitempty"`
	Rule     *string      `json:"rule,omitempty"` // "" for once
}

// MentionList is a list that may be empty, where there may also be none.
type MentionList struct {
	Mentions []Mention `json:"mentions"`
}

// String tells one patch from another.
func (p ScheduledPatch) String() string { return patchJSON(p) }

// Commands of the Person family about scheduled messages. The person alone, who is no service,
// sends them.
type (
	// ListScheduled reads them. Answers *ScheduledList.
	ListScheduled struct{ Who Identity }
	// AddScheduled schedules a message. The author is a member of the room. At is a time of RFC
	// 3339, or one without an offset by the clocks of Zone. Answers *Scheduled.
	AddScheduled struct {
		Request
		RoomID   RoomID
		Text     string
		Mentions []Mention
		ReplyTo  MessageID // "" for none
		Thread   MessageID // "" for none
		At       string
		Zone     string
		Rule     string // "" for once
	}
	// UpdateScheduled changes one that isn't being sent. One that failed is tried again, at
	// another time. Answers *Scheduled.
	UpdateScheduled struct {
		Request
		ScheduledID string
		Patch       ScheduledPatch
	}
	// RemoveScheduled has one not sent any more. Answers *Scheduled.
	RemoveScheduled struct {
		Request
		ScheduledID string
	}
)

// Cost is 0: it reads.
func (ListScheduled) Cost() int { return 0 }

// Cost is one act with the message.
func (c AddScheduled) Cost() int {
	return writeCost + len(c.Text) + mentionCost*len(c.Mentions)
}

// Cost is one act with the message.
func (UpdateScheduled) Cost() int { return writeCost + MaxMessageBytes }

// Cost is one act.
func (RemoveScheduled) Cost() int { return writeCost }
