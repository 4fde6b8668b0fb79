package room_test

import (
	"context"
	"io"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/test/harness"
)

// openWith is a house whose rooms, but for r:general, are founded with the
// physics, a rule that lets everyone join, and a day's retention.
func openWith(t *testing.T, physics ubl.Physics) *harness.House {
	var store ubl.Store
	places := families.Places()
	places.Room = func(req ubl.Request, of ubl.TenantID, r ubl.RoomSummary, p ubl.RoomPolicy, usual ubl.Physics, random io.Reader) (*actors.Append, error) {
		if r.RoomID == ubl.GeneralRoom {
			return room.Found(req, of, r, p, usual, random)
		}
		p.Join, p.RetentionDays = ubl.JoinTenant, 1
		return room.Found(req, of, r, p, physics, random)
	}
	return harness.Open(t, harness.Options{
		Wrap: func(s ubl.Store) ubl.Store { store = s; return s },
		Families: []actors.Family{{
			Name: "tenant",
			Owns: func(local string) bool { return local == "" },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				return tenant.Family(store, places, ubl.Kinds(), nil).Open(ctx, env)
			},
		}},
	})
}

// TestPhysicsDecide: what a room allows follows from the physics in its
// Agreement. The same commands are asked of an ordinary room and of a sealed
// one; who may look, govern and leave is no matter of physics.
func TestPhysicsDecide(t *testing.T) {
	for _, test := range []struct {
		name    string
		physics ubl.Physics
		writes  ubl.Code // what is answered to those who write
		head    ubl.Head // after retention
	}{
		// Room created, hello, bob and cleo with their entries, how long messages are kept, newer: the last is kept.
		{"ordinary", ubl.RoomPhysics(), "", ubl.Head{LastSeq: 8, AvailableFrom: 8, Messages: 5}},
		{"sealed", ubl.Presets()["ARCHIVE"], ubl.CodeForbidden, ubl.Head{LastSeq: 2, AvailableFrom: 1, Messages: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := openWith(t, test.physics)
			ana, bob, cleo := harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("cleo@example.com")
			for _, who := range []ubl.Identity{ana, bob, cleo} {
				h.Enter(who)
			}
			made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
			plans := ubl.RoomName(ana.TenantID, made.RoomID)
			days := 2
			for _, step := range []struct {
				cmd  ubl.Command
				want ubl.Code
			}{
				{ubl.SendMessage{Request: h.Request(ana), Text: "hello"}, test.writes},
				{ubl.JoinRoom{Request: h.Request(bob)}, test.writes},
				{ubl.AddMember{Request: h.Request(ana), Member: ubl.Member{UserID: cleo.UserID, Email: cleo.Email, Role: ubl.RoleOwner}}, test.writes},
				{ubl.ReadHistory{Who: ana, Limit: 10}, ""},
				{ubl.GetRoom{Who: ana}, ""},
				{ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}}, ""},
				{ubl.GetAgreement{Who: ana, Agreement: ubl.RoomAgreement(made.RoomID)}, ""},
				{ubl.GetAgreement{Who: ana, Agreement: ubl.RoomAgreement(ubl.GeneralRoom)}, ubl.CodeNotFound},
				{ubl.EndAgreement{Request: h.Request(ana), Agreement: ubl.RoomAgreement(ubl.GeneralRoom)}, ubl.CodeNotFound},
			} {
				if _, err := h.Ask(context.Background(), plans, step.cmd); ubl.CodeOf(err) != step.want {
					t.Errorf("%T: %v, want %q", step.cmd, err, step.want)
				}
			}
			for _, loaded := range []string{"live", "loaded anew"} {
				view := harness.Must[*ubl.AgreementView](h, plans, ubl.GetAgreement{Who: ana})
				if view.Physics == nil || *view.Physics != test.physics {
					t.Errorf("%s: the Agreement's physics are %v", loaded, view.Physics)
				}
				h.Reload()
			}
			h.Clock.Add(47 * time.Hour)
			_, _ = h.Ask(context.Background(), plans, ubl.SendMessage{Request: h.Request(ana), Text: "newer"})
			h.Clock.Add(2 * time.Hour)
			head := harness.Must[ubl.Head](h, plans, ubl.Sweep{Request: h.Request(ubl.Platform())})
			if head != test.head {
				t.Errorf("retention leaves %+v, want %+v", head, test.head)
			}
			if test.writes == "" {
				harness.Must[*ubl.Member](h, plans, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
			}
			harness.Must[*ubl.AgreementView](h, plans, ubl.EndAgreement{Request: h.Request(ana), Agreement: ubl.RoomAgreement(made.RoomID)})
			h.VerifyLedger(ana.TenantID)
		})
	}
}
