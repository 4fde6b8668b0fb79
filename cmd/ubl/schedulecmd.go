package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"ubl"
)

// scheduleCmd sends messages later.
type scheduleCmd struct {
	List   scheduleListCmd   `cmd:"" default:"withargs" help:"List your scheduled messages, and why one couldn't be sent."`
	Send   scheduleSendCmd   `cmd:"" help:"Send a message later, once or again and again."`
	Change scheduleChangeCmd `cmd:"" help:"Change a scheduled message."`
	Cancel scheduleCancelCmd `cmd:"" help:"Cancel a scheduled message."`
}

type scheduleListCmd struct {
	remote
	format
}

// Run lists them, with --json as the server answers it.
func (c *scheduleListCmd) Run(ctx context.Context, p *program) error {
	return tabled(ctx, p, &c.remote, c.format, "/api/me/scheduled", "your scheduled messages", func(table *tabwriter.Writer, list *ubl.ScheduledList) {
		for _, m := range list.Scheduled {
			state := m.Rule
			if m.Failed != nil {
				state = "not sent: " + m.Failed.Message
			}
			fmt.Fprintln(table, cells(m.ScheduledID, local(m.At), m.RoomID, strings.Join(strings.Fields(m.Text), " "), state))
		}
	})
}

// times are when a message is sent.
type times struct {
	At    string        `help:"When, as 2026-01-31T09:00 by the clocks of --zone, or with an offset." xor:"when" config:"-"`
	In    time.Duration `help:"In how long, as 2h." xor:"when" config:"-"`
	Zone  *string       `help:"The time zone, as Europe/Berlin; UTC where none is given." config:"-"`
	Every *string       `help:"How it recurs: an RRULE of RFC 5545, as 'FREQ=WEEKLY;BYDAY=MO'." placeholder:"RULE" config:"-"`
}

// into adds what is given to a body.
func (t times) into(p *program, body map[string]any) {
	switch {
	case t.At != "":
		body["at"] = t.At
	case t.In != 0:
		body["at"] = ubl.TimeOf(p.now().Add(t.In))
	}
	if t.Zone != nil {
		body["zone"] = *t.Zone
	}
	if t.Every != nil {
		body["rule"] = *t.Every
	}
}

// scheduledLine says what is scheduled.
func scheduledLine(m *ubl.Scheduled) string {
	return fmt.Sprintf("Sent to %s at %s: %s", m.RoomID, local(m.At), m.ScheduledID)
}

type scheduleSendCmd struct {
	remote
	format
	times
	Place string `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Text  string `arg:"" help:"What to say."`
}

// Run schedules it.
func (c *scheduleSendCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	body := map[string]any{"room_id": room, "text": c.Text}
	if c.into(p, body); body["at"] == nil {
		return usagef("say when: --at or --in")
	}
	return changed(ctx, p, &c.remote, c.format, "POST", "/api/me/scheduled", body, scheduledLine)
}

type scheduleChangeCmd struct {
	remote
	format
	times
	ID   string `arg:"" help:"Its id (q:…), as ubl schedule has it."`
	Text string `help:"What to say." config:"-"`
}

// Run changes what is given.
func (c *scheduleChangeCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{}
	if c.Text != "" {
		body["text"] = c.Text
	}
	if c.into(p, body); len(body) == 0 {
		return usagef("say what to change: --text, --at, --in, --zone or --every")
	}
	return changed(ctx, p, &c.remote, c.format, "PATCH", "/api/me/scheduled/"+url.PathEscape(c.ID), body, scheduledLine)
}

type scheduleCancelCmd struct {
	remote
	format
	ID string `arg:"" help:"Its id (q:…), as ubl schedule has it."`
}

// Run cancels it.
func (c *scheduleCancelCmd) Run(ctx context.Context, p *program) error {
	return changed(ctx, p, &c.remote, c.format, "DELETE", "/api/me/scheduled/"+url.PathEscape(c.ID), nil, func(m *ubl.Scheduled) string {
		return m.ScheduledID + " is cancelled."
	})
}
