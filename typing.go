package ubl

import (
	"encoding/json"
	"time"
)

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

// Passing reports whether a publication tells of a moment and not of a commit. Who misses it
// misses nothing that lasts.
func (p *Publication) Passing() bool { return p.Last == 0 && len(p.Events) > 0 }
