package api

import (
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

type markReadInput struct {
	RoomPath
	Body struct {
		Seq int64 `json:"read_seq" minimum:"0" doc:"The room_seq of the newest entry that was seen. A lower one than before says that the rest is unread again." example:"41"`
	}
}

type readAnswer struct {
	Read *ubl.ReadState `json:"read"`
}

func (a *API) markRead(ctx context.Context, in *markReadInput) (any, error) {
	state, err := ubl.Ask[*ubl.ReadState](ctx, a.Asker, room(ctx, in.RoomID), ubl.MarkRead{Request: envelope.Command(ctx, ""), Seq: in.Body.Seq})
	if err != nil {
		return nil, err
	}
	return readAnswer{state}, nil
}

type setTypingInput struct {
	RoomPath
	Body struct {
		Typing bool `json:"typing" doc:"true while writing, said again every few seconds; false when writing has stopped without a message." example:"true"`
	}
}

type typingAnswer struct {
	Typing *ubl.Typing `json:"typing"`
}

func (a *API) setTyping(ctx context.Context, in *setTypingInput) (any, error) {
	typing, err := ubl.Ask[*ubl.Typing](ctx, a.Asker, room(ctx, in.RoomID), ubl.SetTyping{Who: caller(ctx), Typing: in.Body.Typing})
	if err != nil {
		return nil, err
	}
	return typingAnswer{typing}, nil
}

type readersInput struct {
	RoomPath
	Cursor ubl.UserID `query:"cursor" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"The next_cursor of the page before." example:"u:4Zk1"`
	Limit  int        `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"At most so many on a page."`
}

type readersAnswer struct {
	Readers    []ubl.ReadMark `json:"readers"`
	NextCursor *ubl.UserID    `json:"next_cursor"`
}

func (a *API) listReaders(ctx context.Context, in *readersInput) (any, error) {
	readers, err := ubl.Ask[[]ubl.ReadMark](ctx, a.Asker, room(ctx, in.RoomID), ubl.ListReaders{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, more := page(readers, func(r ubl.ReadMark) ubl.UserID { return r.UserID }, in.Cursor, in.Limit)
	out := readersAnswer{Readers: list(part)}
	if more {
		out.NextCursor = &part[len(part)-1].UserID
	}
	return out, nil
}

type pinsInput struct {
	RoomPath
	Cursor int64 `query:"cursor" minimum:"1" doc:"The next_cursor of the page before."`
	Limit  int   `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many messages on a page."`
}

type pinsAnswer struct {
	Entries    []json.RawMessage `json:"entries"`
	NextCursor *int64            `json:"next_cursor"`
}

func (a *API) listPins(ctx context.Context, in *pinsInput) (any, error) {
	p, err := ubl.Ask[*ubl.PinPage](ctx, a.Asker, room(ctx, in.RoomID), ubl.ListPins{Who: caller(ctx), Before: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return pinsAnswer{list(p.Entries), p.NextCursor}, nil
}

type threadInput struct {
	EntryPath
	Cursor int64 `query:"cursor" minimum:"1" doc:"The next_cursor of the page before."`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many answers on a page."`
}

type threadAnswer struct {
	Root       json.RawMessage   `json:"root"`
	Replies    int64             `json:"replies"`
	Entries    []json.RawMessage `json:"entries"`
	NextCursor *int64            `json:"next_cursor"`
}

func (a *API) readThread(ctx context.Context, in *threadInput) (any, error) {
	p, err := ubl.Ask[*ubl.ThreadPage](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.ReadThread{Who: caller(ctx), Root: in.EntryID, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return threadAnswer{p.Root, p.Replies, list(p.Entries), p.NextCursor}, nil
}
