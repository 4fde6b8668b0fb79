package ubl

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
