package ubl

import "encoding/json"

// Commands of the Room family. Who may send each stands with it; the Room
// refuses everyone else with not_a_member or forbidden.
type (
	// SendMessage appends a text message. Members. Answers *Sent.
	SendMessage struct {
		Request
		Text    string
		ReplyTo MessageID // "" for none
	}
	// Announce appends a text message of the platform and, where Did is set,
	// records the act that it tells of. The platform only. Answers *Sent.
	Announce struct {
		Request
		Did  Did
		This Fields
		Text string
	}
	// ReadHistory reads messages with room_seq < Before (0: from the newest),
	// or, where After is set, those with room_seq > *After. Both oldest first.
	// Members. Answers *HistoryPage.
	ReadHistory struct {
		Who    Identity
		Before int64
		After  *int64
		Limit  int
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
		Agreement AgreementID
		Heir      Member
	}
	// SetRoomPolicy changes the policy. Owners. Answers *Room.
	SetRoomPolicy struct {
		Request
		Patch RoomPolicyPatch
	}
	// Sweep has a Room apply retention now. The platform only. Answers Head.
	Sweep struct{ Request }
)

// Sent is the answer to a send: the message as canonical JSON.
type Sent struct {
	Message json.RawMessage
	RoomSeq int64
}

// HistoryPage is part of a room's timeline, oldest first.
type HistoryPage struct {
	Messages []json.RawMessage
	// FirstSeq and LastSeq are the room_seq of the first and last message here,
	// 0 where there is none.
	FirstSeq, LastSeq int64
	// NextCursor reads the page before this one; nil at the beginning.
	NextCursor *int64
	Head       Head
}

// KeptFrom is the oldest message left after the cursor of a page. What the page
// holds counts for more than a head that may have been read later.
func (p *HistoryPage) KeptFrom() int64 {
	if len(p.Messages) > 0 {
		return p.FirstSeq
	}
	return p.Head.AvailableFrom
}

// Head is how far a room is.
type Head struct {
	LastSeq       int64 // of the newest message, 0 for none
	AvailableFrom int64 // of the oldest message that retention keeps
}

// Cost is that of the text, twice over for the message and its bookkeeping.
func (c SendMessage) Cost() int { return writeCost + 2*len(c.Text) }

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

// Cost is one act.
func (SetRoomPolicy) Cost() int { return writeCost }

// Cost is that of a page of deletions.
func (Sweep) Cost() int { return 16 * writeCost }
