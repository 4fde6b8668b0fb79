package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ubl"
)

const (
	// historyPage is the most that the server gives at once.
	historyPage = 200
	// maxHistory is the most that is collected before it is printed.
	maxHistory = 100_000
)

// historyCmd reads a room's newest messages or entries, or those before or since one.
type historyCmd struct {
	remote
	format
	oneRoom
	Limit  int    `default:"50" help:"How many messages; with --since all, unless given." config:"-"`
	Since  *since `help:"Only what came after this message, since this time, or within so long." placeholder:"SEQ|TIME|AGO" config:"-"`
	Before *int64 `aliases:"cursor" help:"Only messages before this number." placeholder:"SEQ" config:"-"`
	All    bool   `name:"entries" help:"Edits, reactions, redactions and pins too."`
}

// Run prints them oldest first.
func (c *historyCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	if c.Limit < 1 || c.Limit > maxHistory || c.Before != nil && *c.Before < 1 {
		return usagef("--limit is 1 to %d, --before is 1 or more", maxHistory)
	}
	if c.Since != nil && !p.given("limit") {
		c.Limit = maxHistory
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	collected, err := c.collect(ctx, server, room, p.now())
	if err != nil {
		return err
	}
	print := c.printMessages
	if c.All {
		print = c.printEntries
	}
	if err := print(ctx, p.out, &people{server: server}, collected...); err != nil || c.All || c.JSON {
		return err
	}
	return tellSkipped(p, collected)
}

// tellSkipped says why numbers between messages are left out, where some are.
func tellSkipped(p *program, collected []json.RawMessage) error {
	var skipped, last int64
	for _, raw := range collected {
		one, err := formed[at]("a message", raw)
		if err != nil {
			return err
		}
		if last != 0 {
			skipped += one.RoomSeq - last - 1
		}
		last = one.RoomSeq
	}
	switch {
	case skipped == 1:
		fmt.Fprintln(p.err, "(1 entry between them is no message: --entries shows it)")
	case skipped > 1:
		fmt.Fprintf(p.err, "(%d entries between them are no messages: --entries shows them)\n", skipped)
	}
	return nil
}

// collect pages backwards and returns oldest first.
func (c *historyCmd) collect(ctx context.Context, server *client, room ubl.RoomID, now time.Time) ([]json.RawMessage, error) {
	var pages [][]json.RawMessage
	cursor := int64(0) // of none
	if c.Before != nil {
		cursor = *c.Before
	}
	for left := c.Limit; left > 0; {
		page, next, err := server.page(ctx, room, c.what(), cursor, min(left, historyPage))
		if err != nil {
			return nil, err
		}
		kept, err := c.since(page, now)
		if err != nil {
			return nil, err
		}
		pages = append(pages, kept)
		left -= len(kept)
		if next == nil || len(kept) < len(page) {
			break
		}
		cursor = *next
	}
	slices.Reverse(pages)
	return slices.Concat(pages...), nil
}

// since is the end of a page that --since lets through.
func (c *historyCmd) since(page []json.RawMessage, now time.Time) ([]json.RawMessage, error) {
	if c.Since == nil {
		return page, nil
	}
	moment, timed := c.Since.moment(now)
	for i := len(page) - 1; i >= 0; i-- {
		one, err := formed[at]("a message", page[i])
		if err != nil {
			return nil, err
		}
		if timed && one.SentAt < moment || !timed && one.RoomSeq <= c.Since.seq {
			return page[i+1:], nil
		}
	}
	return page, nil
}

// what is the part of the API that has it.
func (c *historyCmd) what() string {
	if c.All {
		return "entries"
	}
	return "history"
}
