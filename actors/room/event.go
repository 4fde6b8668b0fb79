package room

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// event is a stored fact of a room. The struct is the disk form: fields are
// only ever added, and a change of meaning raises version.
type event struct {
	actors.Stamp
	Room          *ubl.RoomSummary     `json:"room,omitempty"`           // room.create
	Tenant        ubl.TenantID         `json:"tenant,omitempty"`         // room.create
	Physics       *ubl.Physics         `json:"physics,omitempty"`        // room.create; before there were any, RoomPhysics
	Policy        *ubl.RoomPolicy      `json:"policy,omitempty"`         // room.create, room.update
	Amendment     *agreement.Amendment `json:"amendment,omitempty"`      // agreement.propose, accept, withdraw
	Member        *ubl.Member          `json:"member,omitempty"`         // whom a membership event is about
	AvailableFrom int64                `json:"available_from,omitempty"` // room.trim
	// Joins: room.update changed who may join.
	Joins bool `json:"joins,omitempty"`
	// Expelled: the Tenant shut the member out; let in again they are welcome.
	Expelled bool `json:"expelled,omitempty"`
	// Heir owns the room after its last owner was expelled.
	Heir *ubl.Member `json:"heir,omitempty"`
	// Sealed: nobody was left, and the timeline so far stays closed for good, to an Heir
	// as well.
	Sealed bool `json:"sealed,omitempty"`
	// Members are in direct messages from the beginning, in order of their ids: of room.create alone,
	// whose Member is who asked for them.
	Members []ubl.Member `json:"members,omitempty"`
	// About is what room.describe has changed.
	About *ubl.RoomDescriptionPatch `json:"about,omitempty"`
	// Hides says that Member has hidden direct messages, or shows them again, and stays.
	Hides *bool `json:"hides,omitempty"`
	// Call is the one that messenger.call.begin began, or messenger.call.end ended.
	Call *ubl.RoomCall `json:"call,omitempty"`
	// LastSeq is the room's when the event was decided, for answering a retry.
	LastSeq int64 `json:"last_seq,omitempty"`
	// RoomSeq is that of the entry which the act has in the timeline; 0 for none, as in all
	// events from before there were such entries.
	RoomSeq int64 `json:"room_seq,omitempty"`

	oldest ubl.Time     // room.trim: the state's by then; at a load it is read
	freed  int64        // room.trim: the bytes of files that go; at a load the rest is read
	swept  []ubl.Member // who left with the one whom it is about, to be told of
	reads  *marked      // of an event that passes: how far somebody has read
}

// step reports whether the event is a step of the Agreement's history. Who may join is a part
// of its terms.
func (e event) step() bool {
	return e.Member != nil && e.Hides == nil || e.Did == ubl.DidAgreementEnd || e.Amendment != nil || e.Joins
}

// newest is the room's last number behind the event.
func (e event) newest() int64 { return max(e.LastSeq, e.RoomSeq) }

const eventVersion = 1
