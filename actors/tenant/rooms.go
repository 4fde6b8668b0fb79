package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

// decideRoom plans a room.
func (with makers) decideRoom(s *State, c ubl.CreateRoom, at actors.Moment) (*plan, error) {
	name := strings.TrimSpace(c.Name)
	room := ubl.RoomSummary{RoomID: ubl.RoomSlug(name), Name: name, Mode: ubl.ModeInternal, CreatedAt: at.Now}
	if err := s.mayCreate(ubl.DidRoomCreate, c.Who, name); err != nil {
		return nil, err
	}
	if err := with.quota.Within(ubl.QuotaRooms, len(s.Rooms)); err != nil {
		return nil, err
	}
	if room.RoomID.IsDirect() {
		return nil, ubl.Errorf(ubl.CodeValidation, "the name leads to an id of direct messages: choose another one")
	}
	if _, taken := s.Rooms[room.RoomID]; taken {
		return nil, ubl.Errorf(ubl.CodeConflict, "there is a room with that id: choose another name")
	}
	physics := cmp.Or(c.Physics, new(ubl.RoomPhysics()))
	if err := ubl.CheckRoomPhysics(*physics); err != nil {
		return nil, err
	}
	return with.room(s.Tenant, c.Request, room, *physics, at.Random)
}

// room plans a room's entry in the directory, with the Room's own first records.
func (with makers) room(tenant ubl.Tenant, req ubl.Request, room ubl.RoomSummary, physics ubl.Physics, random io.Reader) (*plan, error) {
	founding, err := with.found.Room(req, tenant.TenantID, room, policyOf(tenant), physics, random)
	if err != nil {
		return nil, err
	}
	return &plan{Founding: founding, Event: event{Room: &room}}, nil
}

// policyOf is what a new room of the tenant begins with.
func policyOf(tenant ubl.Tenant) ubl.RoomPolicy {
	return ubl.RoomPolicy{MaxMessageBytes: tenant.Defaults.MaxMessageBytes, RetentionDays: tenant.Defaults.RetentionDays, Join: ubl.JoinInvite}
}

// mayCreate refuses who may not make a room or a container of the name.
func (s *State) mayCreate(did ubl.Did, who ubl.Identity, name string) error {
	if err := cmp.Or(s.permits(did, who), s.beyond(who)); err != nil {
		return err
	}
	if err := s.License.May(ubl.OpCreate); err != nil {
		return err
	}
	return ubl.CheckName(name)
}

// listRooms answers the rooms that the caller is in or may join. The indexes
// and the Rooms are read on the asker's goroutine.
func (x *Tenant) listRooms(t *actors.Turn, c ubl.ListRooms) {
	_, err := x.State.member(c.Who)
	mandate := x.State.mandateOf(c.Who.UserID)
	t.Read(err, func(ctx context.Context) (any, error) {
		list, err := x.roomsOf(ctx, c)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(e ubl.RoomEntry) bool { return !mandate.Includes(string(e.RoomID)) })
		markNames(list, func(e *ubl.RoomEntry) (string, *bool) { return e.Name, &e.Alike })
		list = pageOf(list, c.After, c.Limit)
		if err := x.readBy(ctx, c.Who.UserID, list); err != nil {
			return nil, err
		}
		for i := range list {
			if c.Directory {
				x.cardOf(ctx, c.Who, &list[i])
			}
			if c.Details && list[i].Member {
				x.detail(ctx, c.Who, &list[i])
			}
		}
		return list, nil
	})
}

// readBy says of each room that the caller is in how far they have read it, from what the rooms
// have stored.
func (x *Tenant) readBy(ctx context.Context, user ubl.UserID, list []ubl.RoomEntry) error {
	return x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		for i := range list {
			if !list[i].Member {
				continue
			}
			state, err := reading.Newest(snap, list[i].RoomID, user)
			if err != nil {
				return err
			}
			list[i].Read = &state
		}
		return nil
	})
}

// pageOf cuts a page out of a list by room id.
func pageOf(list []ubl.RoomEntry, after ubl.RoomID, limit int) []ubl.RoomEntry {
	for len(list) > 0 && list[0].RoomID <= after {
		list = list[1:]
	}
	return list[:min(len(list), cmp.Or(limit, len(list)))]
}

// roomsOf reads the indexes of members, of what may be joined and of what has ended.
func (x *Tenant) roomsOf(ctx context.Context, c ubl.ListRooms) ([]ubl.RoomEntry, error) {
	list := []ubl.RoomEntry{}
	seen := make(map[ubl.RoomID]bool)
	var bad error
	add := func(_, v []byte) bool {
		var entry agreement.RoomIndex
		if bad = json.Unmarshal(v, &entry); bad != nil {
			return false
		}
		if !seen[entry.Room.RoomID] {
			member := entry.Role != ""
			seen[entry.Room.RoomID] = true
			if entry.Hidden && !c.Hidden {
				return true
			}
			entry.Room.Name = cmp.Or(ubl.ShownName(entry.Room.Name), string(entry.Room.RoomID))
			list = append(list, ubl.RoomEntry{RoomSummary: entry.Room, Member: member})
		}
		return true
	}
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		from, to := agreement.MemberIndexOf(c.Who.UserID)
		if err := snap.Ascend(from, to, add); err != nil {
			return err
		}
		from, to = agreement.JoinableIndexAll()
		if err := snap.Ascend(from, to, add); err != nil {
			return err
		}
		for i := range list { // a tenant has more rooms that have ended than somebody is in
			ended, err := snap.Get(agreement.EndedIndex(list[i].RoomID))
			if err != nil {
				return err
			}
			if ended != nil {
				list[i].Status = ubl.AgreementEnded
			}
			if err := entitle(snap, &list[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if c.Directory {
		list = slices.DeleteFunc(list, func(e ubl.RoomEntry) bool { return e.Member || e.Status != "" || !matches(e.RoomSummary, c.Query) })
	}
	slices.SortFunc(list, func(a, b ubl.RoomEntry) int { return cmp.Compare(a.RoomID, b.RoomID) })
	return list, errors.Join(err, bad)
}

// detail adds the newest message to an entry of a member. A room that can't be
// asked now stays in the list and says why.
func (x *Tenant) detail(ctx context.Context, who ubl.Identity, entry *ubl.RoomEntry) {
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, x.Ask, ubl.RoomName(x.id, entry.RoomID), ubl.ReadHistory{Who: who, Limit: 1, Now: true})
	if ubl.CodeOf(err) == ubl.CodeNotAMember { // gone since the index was read
		entry.Member = false
		return
	}
	if err != nil {
		e := ubl.AsError(err)
		entry.Failed, entry.FailedWhy = e.Code, e.Message
		return
	}
	entry.LastSeq, entry.Messages = page.Head.LastSeq, page.Head.Messages
	if n := len(page.Messages); n > 0 {
		entry.LastMessage = page.Messages[n-1]
	}
	if entry.LastMessage != nil || page.NextCursor == nil {
		return
	}
	// The newest entry is none. What can't be found now is left out.
	last, _, err := ubl.ReadMessages(ctx, x.Ask, ubl.RoomName(x.id, entry.RoomID), ubl.ReadHistory{Who: who, Before: *page.NextCursor, Limit: 1, Now: true})
	if err == nil && len(last) > 0 {
		entry.LastMessage = last[0]
	}
}
