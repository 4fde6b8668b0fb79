package room

import (
	"io"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Found makes the append that founds a room: the room.create act under the
// tenant's Agreement, the first event with its first member as owner, and the
// system message. The Tenant commits it together with its directory; only from
// then on is there a Room, the sole writer of its own.
func Found(req ubl.Request, tenant ubl.TenantID, summary ubl.RoomSummary, policy ubl.RoomPolicy, physics ubl.Physics, random io.Reader) (*actors.Append, error) {
	s := State{Summary: summary, Policy: policy}
	owner := agreement.EntryOf(req.Who, ubl.RoleOwner, summary.CreatedAt)
	p := &plan{
		Act: actors.Act{
			Agreement: ubl.TenantAgreement(tenant),
			This:      ubl.Fields{ubl.Str("name", summary.Name), ubl.Str("room_id", summary.RoomID)},
			Effects:   []ubl.Fields{{ubl.Str("op", "room.create"), ubl.Str("room_id", summary.RoomID)}},
			Pointers:  pointers(summary.RoomID),
		},
		Event:   event{Room: &summary, Tenant: tenant, Physics: &physics, Policy: &policy, Member: &owner},
		Records: []actors.Record{memberIndex(summary, owner)},
	}
	if policy.Join == ubl.JoinTenant {
		p.Records = append(p.Records, joinable(summary, policy))
	}
	if physics != ubl.RoomPhysics() {
		p.This = append(p.This, physics.Field())
	}
	s.Agreement.Agreement = governance(p.Event)
	at := actors.Moment{Now: summary.CreatedAt, Random: random}
	var err error
	if p.Also, err = s.posting(req.Who, at, text{kind: ubl.TypeSystem, body: ubl.Body{Text: "Room created: " + summary.Name}}); err != nil {
		return nil, err
	}
	return kind().Found(ubl.RoomName(tenant, summary.RoomID), ubl.DidRoomCreate, req, summary.CreatedAt, p), nil
}
