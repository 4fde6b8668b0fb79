package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
)

const (
	// historyPage is the most that the server gives at once.
	historyPage = 200
	// maxHistory is the most that is collected before it is printed.
	maxHistory = 100_000
)

// historyCmd reads a room's newest messages or entries, or those before a cursor.
type historyCmd struct {
	remote
	format
	Room   string `arg:"" help:"The room, like r:general or general."`
	Limit  int    `default:"50" help:"How many messages." config:"-"`
	Cursor *int64 `help:"Only messages before this number." placeholder:"SEQ"`
	All    bool   `name:"entries" help:"Edits, reactions, redactions and pins too."`
}

// Run prints them oldest first.
func (c *historyCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Room)
	if err != nil {
		return err
	}
	if c.Limit < 1 || c.Limit > maxHistory || c.Cursor != nil && *c.Cursor < 1 {
		return usagef("--limit is 1 to %d, --cursor is 1 or more", maxHistory)
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	collected, err := c.collect(ctx, server, room)
	if err != nil {
		return err
	}
	print := c.printMessages
	if c.All {
		print = c.printEntries
	}
	return print(ctx, p.out, &people{server: server}, collected...)
}

// collect pages backwards and returns oldest first.
func (c *historyCmd) collect(ctx context.Context, server *client, room ubl.RoomID) ([]json.RawMessage, error) {
	var pages [][]json.RawMessage
	cursor := int64(0) // of none
	if c.Cursor != nil {
		cursor = *c.Cursor
	}
	for left := c.Limit; left > 0; {
		path := fmt.Sprintf("/api/rooms/%s/%s?limit=%d", room, c.what(), min(left, historyPage))
		if cursor > 0 {
			path += fmt.Sprintf("&cursor=%d", cursor)
		}
		var page struct {
			Messages   []json.RawMessage `json:"messages"`
			Entries    []json.RawMessage `json:"entries"`
			NextCursor *int64            `json:"next_cursor"`
		}
		if err := server.call(ctx, "GET", path, nil, &page); err != nil {
			return nil, inRoom(err)
		}
		pages = append(pages, append(page.Messages, page.Entries...)) // one of the two
		left -= len(pages[len(pages)-1])
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// what is the part of the API that has it.
func (c *historyCmd) what() string {
	if c.All {
		return "entries"
	}
	return "history"
}
