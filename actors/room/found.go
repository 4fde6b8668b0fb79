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
	owner := agreement.EntryOf(req.Who, ubl.RoleOwner, summary.CreatedAt)
	named := ubl.Str("name", summary.Name)
	e := event{Room: &summary, Tenant: tenant, Physics: &physics, Policy: &policy, Member: &owner}
	return found(req, e, named, "Room created: "+summary.Name, random)
}

// FoundDirect makes the append that founds the room of direct messages between members of the
// tenant, one of whom asks. None of them owns it.
func FoundDirect(req ubl.Request, tenant ubl.TenantID, summary ubl.RoomSummary, policy ubl.RoomPolicy, members []ubl.Member, random io.Reader) (*actors.Append, error) {
	e := event{Room: &summary, Tenant: tenant, Policy: &policy}
	for _, m := range members {
		m = ubl.Member{UserID: m.UserID, Email: m.Email, Role: ubl.RoleMember, IsService: m.IsService, Since: summary.CreatedAt}
		e.Members = append(e.Members, m)
		if m.UserID == req.Who.UserID {
			e.Member = &m
		}
	}
	return found(req, e, ubl.Int("direct", int64(len(members))), "Direct messages begin here.", random)
}

// found is the append of a founding event. Of what the room is, the act says one field.
func found(req ubl.Request, e event, what ubl.Field, greeting string, random io.Reader) (*actors.Append, error) {
	summary, tenant, policy := *e.Room, e.Tenant, *e.Policy
	s := State{Summary: summary, Policy: policy}
	p := &plan{
		Act: actors.Act{
			Agreement: ubl.TenantAgreement(tenant),
			This:      ubl.Fields{what, ubl.Str("room_id", summary.RoomID)},
			Effects:   []ubl.Fields{{ubl.Str("op", "room.create"), ubl.Str("room_id", summary.RoomID)}},
			Pointers:  pointers(summary.RoomID),
		},
		Event: e,
	}
	for _, m := range e.founders() {
		p.Records = append(p.Records, memberIndex(summary, m))
	}
	if policy.Join == ubl.JoinTenant {
		p.Records = append(p.Records, joinable(summary, policy))
	}
	if e.Physics != nil && *e.Physics != ubl.RoomPhysics() {
		p.This = append(p.This, e.Physics.Field())
	}
	s.Agreement.Agreement = governance(p.Event)
	at := actors.Moment{Now: summary.CreatedAt, Random: random}
	var err error
	if p.Also, err = s.posting(req.Who, at, text{kind: ubl.TypeSystem, body: ubl.Body{Text: greeting}}); err != nil {
		return nil, err
	}
	return kind().Found(ubl.RoomName(tenant, summary.RoomID), ubl.DidRoomCreate, req, summary.CreatedAt, p), nil
}

// founders are who is in the room from its beginning.
func (e event) founders() []ubl.Member {
	if e.Members != nil {
		return e.Members
	}
	return []ubl.Member{*e.Member}
}
