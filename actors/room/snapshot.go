package room

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// snapshot is the stored form of a State, but for messages and what is known of them: a field
// of one is a field of the other, or is named in [besides].
type snapshot struct {
	Summary   ubl.RoomSummary    `json:"room"`
	Policy    ubl.RoomPolicy     `json:"policy"`
	Agreement *ubl.AgreementView `json:"agreement"`
	Past      []ubl.UserID       `json:"past"`
	Hidden    int64              `json:"hidden"`
	// Description and Away are absent in snapshots from before there were any.
	Description string               `json:"description,omitempty"`
	Away        map[ubl.UserID]int64 `json:"away,omitempty"`
	// Call is absent while there is none, as in snapshots from before there were any.
	Call   ubl.RoomCall `json:"call,omitzero"`
	Events int64        `json:"events"`
	// AvailableFrom is the first message that is kept.
	AvailableFrom int64 `json:"available_from"`
}

// besides are the fields of a State that are read from messages, Head but for AvailableFrom.
var besides = []string{"FileBytes", "Head", "Marks", "recent", "oldest"}

// snapshots tell how a room is stored behind some of its events.
func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: 1, Encode: (*State).encode, Decode: decodeState,
		Size: func(s *State) int { return len(s.Agreement.Members) + len(s.Past) },
	}
}

func (s *State) encode() []byte {
	b, err := json.Marshal(snapshot{
		Summary: s.Summary, Policy: s.Policy, Agreement: s.Agreement.Stored(), Past: slices.Sorted(maps.Keys(s.Past)),
		Hidden: s.Hidden, Description: s.Description, Away: s.Away, Call: s.Call, Events: s.Events, AvailableFrom: s.Head.AvailableFrom,
	})
	if err != nil { // strings, numbers and times
		panic(fmt.Sprintf("room: couldn't encode a snapshot: %v", err))
	}
	return b
}

func decodeState(b []byte) (s State, err error) {
	var from snapshot
	if err := json.Unmarshal(b, &from); err != nil {
		return s, err
	}
	s.Summary, s.Policy, s.Hidden, s.Events = from.Summary, from.Policy, from.Hidden, from.Events
	s.Head.AvailableFrom, s.Description = from.AvailableFrom, from.Description
	s.Away, s.Call = from.Away, from.Call
	s.Agreement.Restore(from.Agreement, termsOf(s.Policy))
	s.Past, s.Marks = make(map[ubl.UserID]bool, len(from.Past)), make(marks)
	for _, user := range from.Past {
		s.Past[user] = true
	}
	return s, nil
}
