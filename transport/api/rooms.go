package api

import (
	"cmp"
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

// room addresses a room of the caller's tenant; a room of another tenant
// cannot be named.
func room(ctx context.Context, r ubl.RoomID) ubl.Name {
	return ubl.RoomName(caller(ctx).TenantID, r)
}

type listRoomsInput struct {
	Details  bool       `query:"details" doc:"Adds last_seq, last_message and messages where the caller is a member, or details_error where the room can't be read now."`
	Cursor   ubl.RoomID `query:"cursor" pattern:"^r:[A-Za-z0-9._-]{1,128}$" doc:"The next_cursor of the page before." example:"r:general"`
	Limit    int        `query:"limit" minimum:"1" maximum:"500" doc:"At most so many; without one, all, or 500 with details; in the directory 50, and 100 at most."`
	Joinable bool       `query:"joinable" doc:"The directory: only rooms that the caller may join and isn't in, each with members and active_at."`
	Query    string     `query:"query" maxLength:"200" doc:"Words that a room's name or topic must have, in the directory." example:"launch plans"`
}

type roomEntry struct {
	ubl.RoomSummary
	Member bool `json:"member"`
	Alike  bool `json:"alike,omitempty"`
	// Read is how far the caller has read, absent where they are no member.
	Read *ubl.ReadState `json:"read,omitempty"`
	*roomDetails
	*ubl.RoomCard
	DetailsError *detailsError `json:"details_error,omitempty"`
}

// detailsError is why a room gave no details.
type detailsError struct {
	Code    ubl.Code `json:"code"`
	Message string   `json:"message"`
}

type roomDetails struct {
	LastSeq     int64           `json:"last_seq"`
	LastMessage json.RawMessage `json:"last_message"` // null in an empty room
	Messages    int64           `json:"messages,omitempty"`
}

type roomsAnswer struct {
	Rooms      []roomEntry `json:"rooms"`
	NextCursor *ubl.RoomID `json:"next_cursor"`
}

func (a *API) listRooms(ctx context.Context, in *listRoomsInput) (any, error) {
	if in.Query != "" && !in.Joinable {
		return nil, invalid("query.query", "is for the directory: set joinable")
	}
	if in.Joinable { // each of them is asked for its card
		in.Limit = min(cmp.Or(in.Limit, 50), 100)
	}
	if in.Details { // each of them is a question to a room
		in.Limit = cmp.Or(in.Limit, 500)
	}
	ask := ubl.ListRooms{Who: caller(ctx), Details: in.Details, After: in.Cursor, Directory: in.Joinable, Query: in.Query}
	if in.Limit > 0 {
		ask.Limit = in.Limit + 1 // which tells whether there are more
	}
	rooms, err := ubl.Ask[[]ubl.RoomEntry](ctx, a.Asker, home(ctx), ask)
	if err != nil {
		return nil, err
	}
	// Cut here too: a node of an older release answers with all of them.
	part, more := page(rooms, func(r ubl.RoomEntry) ubl.RoomID { return r.RoomID }, in.Cursor, cmp.Or(in.Limit, len(rooms)))
	out := roomsAnswer{Rooms: make([]roomEntry, len(part))}
	for i, r := range part {
		out.Rooms[i] = roomEntry{RoomSummary: r.RoomSummary, Member: r.Member, Alike: r.Alike, Read: r.Read, RoomCard: r.Card}
		if r.LastSeq > 0 {
			out.Rooms[i].roomDetails = &roomDetails{r.LastSeq, r.LastMessage, r.Messages}
		}
		if r.Failed != "" {
			out.Rooms[i].DetailsError = &detailsError{r.Failed, r.FailedWhy}
		}
	}
	if err := a.nameDirect(ctx, summaries(out.Rooms)...); err != nil {
		return nil, err
	}
	if more {
		out.NextCursor = &part[len(part)-1].RoomID
	}
	return out, nil
}

type createRoomInput struct {
	Body struct {
		Keyed
		Name    string       `json:"name" minLength:"1" maxLength:"128" doc:"What to call the room; its id is made from that." example:"Design"`
		Physics *physicsBody `json:"physics,omitempty" doc:"Other physics than versioned objects that members write: gated, or sealed, where nobody does. They are fixed for the room's life."`
	}
}

type roomCreatedAnswer struct {
	RoomID ubl.RoomID       `json:"room_id"`
	Room   *ubl.RoomSummary `json:"room"`
}

func (a *API) createRoom(ctx context.Context, in *createRoomInput) (any, error) {
	if err := ubl.CheckName(in.Body.Name); err != nil {
		return nil, err
	}
	r, err := ubl.Ask[*ubl.RoomSummary](ctx, a.Asker, home(ctx),
		ubl.CreateRoom{Request: envelope.Command(ctx, in.Body.Key), Name: in.Body.Name, Physics: in.Body.Physics.physics()})
	if err != nil {
		return nil, err
	}
	return roomCreatedAnswer{r.RoomID, r}, nil
}

type roomAnswer struct {
	Room *ubl.Room `json:"room"`
}

type getRoomInput struct {
	RoomPath
	AsOfQuery
}

func (a *API) getRoom(ctx context.Context, in *getRoomInput) (any, error) {
	at, err := in.moment(ctx)
	if err != nil {
		return nil, err
	}
	r, err := ubl.Ask[*ubl.Room](ctx, a.Asker, room(ctx, in.RoomID), ubl.GetRoom{Who: caller(ctx), AsOf: at})
	if err == nil {
		err = past(at, r.AsOf)
	}
	if err == nil {
		err = a.nameDirect(ctx, &r.RoomSummary)
	}
	return roomAnswer{r}, err
}

type roomPolicyInput struct {
	RoomPath
	Body struct {
		Keyed
		MaxMessageBytes *int    `json:"max_message_bytes,omitempty" minimum:"1" maximum:"8000" doc:"How long a message may be, in bytes of UTF-8." example:"4000"`
		RetentionDays   *int    `json:"retention_days,omitempty" minimum:"0" maximum:"36500" doc:"How long messages are kept; 0 is for ever." example:"365"`
		RetentionHours  *int    `json:"retention_hours,omitempty" minimum:"0" maximum:"23" doc:"Hours beside the days; none if left out." example:"8"`
		Join            *string `json:"join,omitempty" enum:"invite,tenant" doc:"invite: owners add members. tenant: every member of the tenant may join."`
		Posting         *string `json:"posting,omitempty" enum:"everyone,moderators,threads" doc:"Who writes messages. moderators: owners and moderators alone, for announcements. threads: everybody else answers in threads."`
	}
}

// deletes reports whether a retention removes older messages, or may: hours alone leave the days,
// which nobody reads here.
func deletes(days, hours *int) bool {
	return days != nil && *days > 0 || hours != nil && (*hours > 0 || days == nil)
}

func (a *API) setRoomPolicy(ctx context.Context, in *roomPolicyInput) (any, error) {
	patch := ubl.RoomPolicyPatch{MaxMessageBytes: in.Body.MaxMessageBytes, RetentionDays: in.Body.RetentionDays, RetentionHours: in.Body.RetentionHours, Join: in.Body.Join, Posting: in.Body.Posting}
	if patch == (ubl.RoomPolicyPatch{}) {
		return nil, invalid("body", "changes nothing")
	}
	opens := in.Body.Join != nil && *in.Body.Join == ubl.JoinTenant
	if deletes(in.Body.RetentionDays, in.Body.RetentionHours) || opens {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	r, err := ubl.Ask[*ubl.Room](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.SetRoomPolicy{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Patch: patch})
	return roomAnswer{r}, err
}
