package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"ubl"
)

// tailCmd follows a room. A stream that breaks is taken up where it ended, so
// that every message is shown once.
type tailCmd struct {
	remote
	format
	oneRoom
	Since *since `aliases:"from" help:"Begin after this message (0 shows all), at this time, or so long ago. Without it, only what is new." placeholder:"SEQ|TIME|AGO" config:"-"`
	Limit int    `aliases:"count" help:"End after so many messages; 0 for never." config:"-"`
}

// Run follows until ctx ends, which is no failure.
func (c *tailCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return usagef("--limit is not negative")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	t := newTail(c, p, server, room)
	err = t.begin(ctx)
	if err == nil {
		err = t.follow(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tail is one room being shown.
type tail struct {
	follower
	cmd   *tailCmd
	p     *program
	from  *people
	shown int
}

func newTail(c *tailCmd, p *program, server *client, room ubl.RoomID) *tail {
	t := &tail{cmd: c, p: p, from: &people{server: server}}
	t.follower = follower{server: server, room: room, each: t.show, note: func(text string) { fmt.Fprintln(p.err, "ubl:", text) }}
	return t
}

// begin finds out where to begin. Without --since that is the room's newest
// message: a stream that breaks before its first event can then be taken up,
// too.
func (t *tail) begin(ctx context.Context) (err error) {
	if t.cmd.Since != nil {
		t.last = t.cmd.Since.seq
		if moment, timed := t.cmd.Since.moment(t.p.now()); timed {
			t.last, err = t.server.before(ctx, t.room, moment)
		}
		return err
	}
	t.last, err = t.server.head(ctx, t.room)
	return inRoom(err)
}

// printer prints messages or entries.
type printer func(context.Context, io.Writer, *people, ...json.RawMessage) error

// show shows one of them.
func (t *tail) show(ctx context.Context, h happening) error {
	raw := h.raw
	if t.cmd.JSON {
		raw = h.event
	}
	var print printer = t.cmd.printEntries
	if h.kind == ubl.EventMessageCreated {
		print = t.cmd.printMessages
	}
	if err := print(ctx, t.p.out, t.from, raw); err != nil {
		return err
	}
	if t.shown++; t.shown == t.cmd.Limit {
		return errEnough
	}
	return nil
}
