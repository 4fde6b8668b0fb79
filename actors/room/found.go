package room

import (
	"io"

	"ubl"
	"ubl/actors"
)

// Found makes the append that founds a room: the room.create act under the
// tenant's Agreement, the first event with its first member as owner, and the
// system message. The Tenant commits it together with its directory; only from
// then on is there a Room, the sole writer of its own.
func Found(req ubl.Request, tenant ubl.TenantID, summary ubl.RoomSummary, policy ubl.RoomPolicy, random io.Reader) (*actors.Append, error) {
	return found(req, tenant, summary, policy, ubl.RoomPhysics(), random)
}

func found(req ubl.Request, tenant ubl.TenantID, summary ubl.RoomSummary, policy ubl.RoomPolicy, physics ubl.Physics, random io.Reader) (*actors.Append, error) {
	owner := memberOf(req.Who, ubl.RoleOwner, summary.CreatedAt)
	p := settingIn(summary, owner)
	p.agreement = ubl.TenantAgreement(tenant)
	p.this = ubl.Fields{ubl.Str("name", summary.Name), ubl.Str("room_id", summary.RoomID)}
	p.effects = []ubl.Fields{{ubl.Str("op", "room.create"), ubl.Str("room_id", summary.RoomID)}}
	if policy.RetentionDays > 0 {
		p.records = append(p.records, policyIndexes(summary, policy)...)
	}
	e := event{
		Version: eventVersion, N: 1, Did: ubl.DidRoomCreate, At: summary.CreatedAt, By: req.Who.UserID,
		Room: &summary, Tenant: tenant, Physics: &physics, Policy: &policy, Member: &owner,
	}
	a := &actors.Append{}
	record(a, summary.RoomID, &e, req, p)
	created := a.Acts[0]
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventRoomCreated, TenantID: tenant, RoomID: summary.RoomID, TS: summary.CreatedAt,
			UserID: req.Who.UserID, LedgerSeq: created.Receipt.Seq + 1, Payload: ubl.RoomCreatedPayload(summary),
		}
	})
	id, err := ubl.NewMessageID(1, random)
	if err != nil {
		return nil, err
	}
	m := &ubl.Message{
		MsgID: id, TenantID: tenant, RoomID: summary.RoomID, RoomSeq: 1, SenderID: req.Who.UserID,
		SentAt: summary.CreatedAt, Type: ubl.TypeSystem, Body: ubl.Body{Text: "Room created: " + summary.Name},
	}
	write(a, m, &post{seq: 1, id: id}, ubl.RoomAgreement(summary.RoomID), req)
	return a, nil
}
