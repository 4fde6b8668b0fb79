package main

import (
	"context"
	"strings"

	"ubl"
)

// dmCmd opens the direct messages with people, and writes one where a text is given.
type dmCmd struct {
	remote
	format
	Who []string `arg:"" name:"who" help:"Whom to write to, by address or user id, and then the text, if any; - reads it from standard input."`

	Forward string `help:"A message to forward to them, as ROOM/MESSAGE; the text is then what you say of it." placeholder:"r:…/m:…" config:"-"`
}

// Run opens them.
func (c *dmCmd) Run(ctx context.Context, p *program) error {
	who, text := c.parts()
	if len(who) == 0 {
		return thenDo(usagef(`expected "<who>"`), `name somebody, as in "ubl dm eve@example.com TEXT"`)
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	with := make([]ubl.UserID, len(who))
	for i := range who {
		if with[i], err = server.memberID(ctx, who[i]); err != nil {
			return err
		}
	}
	answer, err := server.act(ctx, p, "POST", "/api/dms", map[string]any{"with": with}, "room")
	if err != nil {
		return err
	}
	room, err := formed[ubl.RoomSummary]("a room", answer)
	if err != nil {
		return err
	}
	if text != "" || c.Forward != "" {
		send := sendCmd{remote: c.remote, format: c.format, oneRoom: oneRoom{Place: string(room.RoomID)}, Text: text, Forward: c.Forward}
		return send.send(ctx, p, server)
	}
	return c.say(p.out, answer, "%s is between you and %s; \"ubl send %s TEXT\" writes into it", room.RoomID, room.Name, room.RoomID)
}

// parts tells people from the text, which is last and neither an address nor a user id.
func (c *dmCmd) parts() (who []string, text string) {
	n := len(c.Who) - 1
	last := c.Who[n]
	if ubl.UserID(last).Valid() || strings.Contains(last, "@") && !strings.ContainsAny(last, " \t\n") {
		return c.Who, ""
	}
	return c.Who[:n], last
}
