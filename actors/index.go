package actors

import (
	"encoding/json"
	"fmt"

	"ubl"
)

// Indexes are records that one family writes in its batches and another reads:
// the Room writes them, the Tenant lists rooms by them. They say nothing that
// the Room's events don't.

// RoomIndex is the value of every index (JSON).
type RoomIndex struct {
	Room ubl.RoomSummary `json:"room"`
	Role ubl.Role        `json:"role,omitempty"` // of the member
}

// Encode is the stored form.
func (x RoomIndex) Encode() []byte {
	b, err := json.Marshal(x)
	if err != nil { // it holds only strings and a time
		panic(fmt.Sprintf("actors: couldn't encode an index: %v", err))
	}
	return b
}

// MemberIndex is the key 'u' user 0 room: the user is a member of the room.
func MemberIndex(u ubl.UserID, r ubl.RoomID) []byte {
	return append(append(append([]byte{'u'}, u...), 0), r...)
}

// MemberIndexOf bounds the entries of one user.
func MemberIndexOf(u ubl.UserID) (from, to []byte) {
	return MemberIndex(u, ""), append(append([]byte{'u'}, u...), 1)
}

// JoinableIndex is the key 'j' room: any member of the tenant may join it.
func JoinableIndex(r ubl.RoomID) []byte { return append([]byte{'j'}, r...) }

// JoinableIndexAll bounds the entries.
func JoinableIndexAll() (from, to []byte) { return []byte{'j'}, []byte{'j' + 1} }

// RetentionIndex is the key 'w' room: the room's policy removes old messages.
func RetentionIndex(r ubl.RoomID) []byte { return append([]byte{'w'}, r...) }

// RetentionIndexAll bounds the entries.
func RetentionIndexAll() (from, to []byte) { return []byte{'w'}, []byte{'w' + 1} }
