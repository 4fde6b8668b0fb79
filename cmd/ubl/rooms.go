package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"ubl"
)

// roomsCmd lists the rooms that the caller is in or may join.
type roomsCmd struct {
	remote
	format
}

// Run lists them, with --json one a line.
func (c *roomsCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Rooms []json.RawMessage `json:"rooms"`
	}
	if err := server.call(ctx, "GET", "/api/rooms?details=1", nil, &answer); err != nil {
		return err
	}
	var table *tabwriter.Writer
	if !c.JSON {
		table = tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ROOM\tNAME\tMESSAGES\tMEMBER")
	}
	var unread []error
	for _, raw := range answer.Rooms {
		var r listedRoom
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("the server sent a room of another form: %w", err)
		}
		unread = append(unread, r.problem())
		if c.JSON {
			fmt.Fprintf(p.out, "%s\n", raw)
		} else {
			fmt.Fprintln(table, r.row())
		}
	}
	if !c.JSON {
		unread = append(unread, table.Flush())
	}
	return errors.Join(unread...)
}

// listedRoom is a room as GET /api/rooms lists it.
type listedRoom struct {
	ubl.RoomSummary
	Member  bool   `json:"member"`
	LastSeq *int64 `json:"last_seq"`
	Error   *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"details_error"`
}

// problem says that a member's room couldn't be read; nil for others. A server of an
// earlier version doesn't say why.
func (r *listedRoom) problem() error {
	switch {
	case !r.Member || r.LastSeq != nil:
		return nil
	case r.Error == nil:
		return fmt.Errorf("the room %s couldn't be read", r.RoomID)
	}
	return fmt.Errorf("the room %s couldn't be read: %s (%s)", r.RoomID, clean(r.Error.Message), clean(r.Error.Code))
}

func (r *listedRoom) row() string {
	switch {
	case !r.Member:
		return fmt.Sprintf("%s\t%s\t\tno, may join", r.RoomID, clean(r.Name))
	case r.LastSeq == nil:
		return fmt.Sprintf("%s\t%s\t?\tyes, can't be read", r.RoomID, clean(r.Name))
	}
	return fmt.Sprintf("%s\t%s\t%d\tyes", r.RoomID, clean(r.Name), *r.LastSeq)
}
