package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"ubl"
)

// roomsCmd lists the rooms that the caller is in or may join.
type roomsCmd struct {
	remote
	format
	Directory bool   `help:"List the rooms that you may join and aren't in, with how many are in each and when something was last written." config:"-"`
	Words     string `arg:"" optional:"" help:"Words that the name or topic must have, with --directory."`
}

// Run lists them, with --json one a line.
func (c *roomsCmd) Run(ctx context.Context, p *program) error {
	if c.Words != "" && !c.Directory {
		return thenDo(usagef("only the directory is searched by words"), "add --directory")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	if c.Directory {
		list, err := server.list(ctx, "/api/rooms?joinable=1&query="+url.QueryEscape(c.Words), "rooms")
		if err != nil {
			return err
		}
		return printList(p, c.format, list, "a room", "ROOM\tNAME\tMEMBERS\tNEWEST\tTOPIC", (*listedRoom).card)
	}
	list, err := server.list(ctx, "/api/rooms?details=1", "rooms")
	if err != nil {
		return err
	}
	var problems []error
	for _, raw := range list {
		r, err := formed[listedRoom]("a room", raw)
		if err != nil {
			return err
		}
		problems = append(problems, r.problem())
	}
	return errors.Join(append(problems, printList(p, c.format, list, "a room", "ROOM\tNAME\tENTRIES\tUNREAD\tMEMBER", (*listedRoom).row))...)
}

// listedRoom is a room as GET /api/rooms lists it.
type listedRoom struct {
	ubl.RoomSummary
	Member bool `json:"member"`
	*ubl.RoomCard
	LastSeq *int64         `json:"last_seq"`
	Read    *ubl.ReadState `json:"read"`
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
	unread := "" // a server of an earlier version doesn't know
	if r.Read != nil {
		unread = fmt.Sprint(r.Read.Unread)
	}
	switch {
	case !r.Member:
		return cells(r.RoomID, r.Name, "", unread, "no, may join")
	case r.Status == ubl.AgreementEnded:
		last := "?"
		if r.LastSeq != nil {
			last = fmt.Sprint(*r.LastSeq)
		}
		return cells(r.RoomID, r.Name, last, unread, "yes, archived")
	case r.LastSeq == nil:
		return cells(r.RoomID, r.Name, "?", unread, "yes, can't be read")
	}
	return cells(r.RoomID, r.Name, *r.LastSeq, unread, "yes")
}

// card is its row in the directory.
func (r *listedRoom) card() string {
	if r.RoomCard == nil { // it couldn't be asked now
		return cells(r.RoomID, r.Name, "?", "?", r.Topic)
	}
	newest := ""
	if r.ActiveAt != 0 {
		newest = local(r.ActiveAt)
	}
	return cells(r.RoomID, r.Name, r.Members, newest, r.Topic)
}
