package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

// createRoom makes a room, or answers a retry with the room it made.
func (x *Tenant) createRoom(t *actors.Turn, c ubl.CreateRoom) {
	c.Name = strings.TrimSpace(c.Name)
	key, ok := x.fresh(t, c.Request, ubl.DidRoomCreate, []string{c.Name})
	if !ok {
		return
	}
	err := x.mayCreate(c.Who, c.Name)
	if err == nil {
		err = x.env.Usage.May(c.Who, ubl.DidRoomCreate)
	}
	if err == nil {
		err = x.quota.Within(ubl.QuotaRooms, len(x.state.Rooms))
	}
	if err != nil {
		t.Fail(err)
		return
	}
	room := ubl.RoomSummary{RoomID: ubl.RoomSlug(c.Name), Name: c.Name, Mode: ubl.ModeInternal, CreatedAt: t.Now()}
	if _, taken := x.state.Rooms[room.RoomID]; taken {
		t.Fail(ubl.Errorf(ubl.CodeConflict, "a room of this name exists already"))
		return
	}
	a, err := x.founding(c.Request, room)
	if err != nil {
		t.Fail(err)
		return
	}
	x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refEvent, N: x.state.Events + 1})
	x.enlist(a, a.Acts[0], c.Request, room)
	t.Commit(a)
	t.Reply(&room)
}

// mayCreate refuses who may not make a room or a container of the name.
func (x *Tenant) mayCreate(who ubl.Identity, name string) error {
	if _, err := x.member(who); err != nil {
		return err
	}
	if err := x.state.License.May(ubl.OpCreate); err != nil {
		return err
	}
	return ubl.CheckName(name)
}

// founding makes the append that founds a room; its first act is room.create.
func (x *Tenant) founding(req ubl.Request, room ubl.RoomSummary) (*actors.Append, error) {
	policy := ubl.RoomPolicy{
		MaxMessageBytes: x.state.Tenant.Defaults.MaxMessageBytes,
		RetentionDays:   x.state.Tenant.Defaults.RetentionDays, Join: ubl.JoinInvite,
	}
	return x.found.Room(req, x.id, room, policy, x.env.Random)
}

// enlist adds a room's directory entry to the append that founds it.
func (x *Tenant) enlist(a *actors.Append, created *actors.Act, req ubl.Request, room ubl.RoomSummary) {
	x.state.apply(x.store(a, created, room.CreatedAt, req, event{Did: ubl.DidRoomCreate, Room: &room}))
}

// listRooms answers the rooms that the caller is in or may join. The indexes
// and the Rooms are read on the asker's goroutine.
func (x *Tenant) listRooms(t *actors.Turn, c ubl.ListRooms) {
	if _, err := x.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		list, err := x.roomsOf(ctx, c.Who.UserID)
		if err != nil {
			return nil, err
		}
		markRooms(list)
		list = pageOf(list, c.After, c.Limit)
		for i := range list {
			if c.Details && list[i].Member {
				x.detail(ctx, c.Who, &list[i])
			}
		}
		return list, nil
	})
}

// pageOf cuts a page out of a list by room id.
func pageOf(list []ubl.RoomEntry, after ubl.RoomID, limit int) []ubl.RoomEntry {
	for len(list) > 0 && list[0].RoomID <= after {
		list = list[1:]
	}
	return list[:min(len(list), cmp.Or(limit, len(list)))]
}

// roomsOf reads both indexes.
func (x *Tenant) roomsOf(ctx context.Context, user ubl.UserID) ([]ubl.RoomEntry, error) {
	list := []ubl.RoomEntry{}
	seen := make(map[ubl.RoomID]bool)
	var bad error
	add := func(_, v []byte) bool {
		var entry actors.RoomIndex
		if bad = json.Unmarshal(v, &entry); bad != nil {
			return false
		}
		if !seen[entry.Room.RoomID] {
			member := entry.Role != ""
			seen[entry.Room.RoomID] = true
			entry.Room.Name = cmp.Or(ubl.ShownName(entry.Room.Name), string(entry.Room.RoomID))
			list = append(list, ubl.RoomEntry{RoomSummary: entry.Room, Member: member})
		}
		return true
	}
	err := x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		from, to := actors.MemberIndexOf(user)
		if err := snap.Ascend(from, to, add); err != nil {
			return err
		}
		from, to = actors.JoinableIndexAll()
		return snap.Ascend(from, to, add)
	})
	slices.SortFunc(list, func(a, b ubl.RoomEntry) int { return cmp.Compare(a.RoomID, b.RoomID) })
	return list, errors.Join(err, bad)
}

// detail adds the newest message to an entry of a member. A room that can't be
// asked now stays in the list and says why.
func (x *Tenant) detail(ctx context.Context, who ubl.Identity, entry *ubl.RoomEntry) {
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, x.env.Ask, ubl.RoomName(x.id, entry.RoomID), ubl.ReadHistory{Who: who, Limit: 1})
	if ubl.CodeOf(err) == ubl.CodeNotAMember { // gone since the index was read
		entry.Member = false
		return
	}
	if err != nil {
		e := ubl.AsError(err)
		entry.Failed, entry.FailedWhy = e.Code, e.Message
		return
	}
	entry.LastSeq = page.Head.LastSeq
	if n := len(page.Messages); n > 0 {
		entry.LastMessage = page.Messages[n-1]
	}
}

// sweepRooms has others let go of those who were shut out of the tenant. It runs on the
// asker's goroutine and goes on past a place that fails.
func (x *Tenant) sweepRooms(t *actors.Turn, c ubl.SweepRooms) {
	if !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform sweeps"))
		return
	}
	ctx := t.Context()
	removed, after := slices.Sorted(maps.Keys(x.state.Removed)), x.heirs("")
	services := x.state.unsettled()
	t.Later(func() (any, error) {
		err := errors.Join(x.letGo(ctx, c.Request, after, removed...), x.settleServices(ctx, c.Request, services), x.follow(ctx, c.Request, ""))
		if err != nil {
			return nil, err
		}
		return len(removed), nil
	})
}
