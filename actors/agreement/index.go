package agreement

import (
	"encoding/json"
	"fmt"

	"ubl"
)

// Indexes are records that one family writes in its batches and another reads:
// Rooms and Containers write them, the Tenant lists rooms and containers by them.
// They say nothing that the writers' events don't.

// RoomIndex is the value of every index of rooms (JSON).
type RoomIndex struct {
	Room ubl.RoomSummary `json:"room"`
	Role ubl.Role        `json:"role,omitempty"` // of the member
	// Hidden: the member doesn't want to see these direct messages before the next one.
	Hidden bool `json:"hidden,omitempty"`
}

// Encode is the stored form.
func (x RoomIndex) Encode() []byte { return encodeIndex(x) }

// ContainerIndex is the value of [ContainerMemberIndex] (JSON).
type ContainerIndex struct {
	Container ubl.ContainerSummary `json:"container"`
	Role      ubl.Role             `json:"role"` // of the member
}

// Encode is the stored form.
func (x ContainerIndex) Encode() []byte { return encodeIndex(x) }

func encodeIndex(x any) []byte {
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

// MemberIndexAll bounds the entries of all users.
func MemberIndexAll() (from, to []byte) { return []byte{'u'}, []byte{'u' + 1} }

// JoinableIndex is the key 'j' room: any member of the tenant may join it.
func JoinableIndex(r ubl.RoomID) []byte { return append([]byte{'j'}, r...) }

// JoinableIndexAll bounds the entries.
func JoinableIndexAll() (from, to []byte) { return []byte{'j'}, []byte{'j' + 1} }

// EndedIndex is the key 'E' room: the room's Agreement has ended. A room that an earlier
// version ended has none.
func EndedIndex(r ubl.RoomID) []byte { return append([]byte{'E'}, r...) }

// TitleIndex is the key 'D' room, with a [RoomIndex]: what the room is called and about now, where
// somebody has changed that. The other indexes have the name of the time when they were written.
func TitleIndex(r ubl.RoomID) []byte { return append([]byte{'D'}, r...) }

// ContainerMemberIndex is the key 'y' user 0 container: the user is an entry of
// the container's Agreement.
func ContainerMemberIndex(u ubl.UserID, c ubl.ContainerID) []byte {
	return append(append(append([]byte{'y'}, u...), 0), c...)
}

// ContainerMemberIndexOf bounds the entries of one user.
func ContainerMemberIndexOf(u ubl.UserID) (from, to []byte) {
	return ContainerMemberIndex(u, ""), append(append([]byte{'y'}, u...), 1)
}

// ContainerMemberIndexAll bounds the entries of all users.
func ContainerMemberIndexAll() (from, to []byte) { return []byte{'y'}, []byte{'y' + 1} }
