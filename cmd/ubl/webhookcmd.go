package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"ubl"
	"ubl/actors/webhooks"
)

// webhookCmd has other servers told of what happens in rooms.
type webhookCmd struct {
	List       webhookListCmd       `cmd:"" default:"withargs" help:"List your webhooks; as an owner of the organisation, all of it."`
	Add        webhookAddCmd        `cmd:"" help:"Have a server told of messages. Prints the secret that signs, this once."`
	Change     webhookChangeCmd     `cmd:"" help:"Change one of your webhooks, pause it, or resume it."`
	Rotate     webhookRotateCmd     `cmd:"" help:"Replace a secret. The one before signs, too, for 24 hours."`
	Test       webhookTestCmd       `cmd:"" help:"Post an event that tells of nothing."`
	Deliveries webhookDeliveriesCmd `cmd:"" help:"List the newest deliveries, and why one failed."`
	Redeliver  webhookRedeliverCmd  `cmd:"" help:"Post a delivery again, under its id."`
	Rm         webhookRmCmd         `cmd:"" help:"Remove a webhook."`
}

const webhooksPath = "/api/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

type webhookListCmd struct {
	remote
	format
}

// Run lists them, with --json as the server answers it.
func (c *webhookListCmd) Run(ctx context.Context, p *program) error {
	return tabled(ctx, p, &c.remote, c.format, webhooksPath, "your webhooks", func(table *tabwriter.Writer, list *webhooks.WebhookList) {
		for _, w := range list.Webhooks {
			fmt.Fprintln(table, cells(w.WebhookID, w.Name, w.URL, webhookState(&w)))
		}
	})
}

// webhookState says how a webhook fares.
func webhookState(w *webhooks.Webhook) string {
	switch {
	case w.Paused != nil:
		return "paused: " + w.Paused.Reason
	case w.Failures > 0:
		return fmt.Sprintf("failing since %s", local(w.FailingSince))
	case w.Last != nil:
		return fmt.Sprintf("%s %s", w.Last.State, local(w.Last.EndedAt))
	}
	return "nothing told yet"
}

// tabled prints a list that the server answers as a table.
func tabled[T any](ctx context.Context, p *program, r *remote, f format, path, what string, rows func(*tabwriter.Writer, *T)) error {
	server, err := r.client(p)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := server.call(ctx, "GET", path, nil, &raw); err != nil {
		return err
	}
	if f.JSON {
		_, err := fmt.Fprintf(p.out, "%s\n", raw)
		return err
	}
	list, err := formed[T](what, raw)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	rows(table, &list)
	return table.Flush()
}

// tellOf is what a webhook tells of.
type tellOf struct {
	Event []string `help:"A type of entries that it tells of, as message, edit, reaction, redaction, pin or membership; may be repeated." placeholder:"TYPE" config:"-"`
	Room  []string `help:"A room that it tells of; may be repeated." placeholder:"ROOM" complete:"rooms" config:"-"`
}

// into adds what is given to a body.
func (t tellOf) into(body map[string]any) error {
	if len(t.Event) > 0 {
		body["events"] = t.Event
	}
	if len(t.Room) == 0 {
		return nil
	}
	rooms := make([]ubl.RoomID, len(t.Room))
	for i, name := range t.Room {
		var err error
		if rooms[i], err = roomID(name); err != nil {
			return err
		}
	}
	body["rooms"] = rooms
	return nil
}

type webhookAddCmd struct {
	remote
	format
	tellOf
	Name string `arg:"" help:"What you call it."`
	URL  string `arg:"" name:"url" help:"Where it posts: https, or http in a private network that the operator allows."`
}

// Run makes one.
func (c *webhookAddCmd) Run(ctx context.Context, p *program) error {
	if len(c.Room) == 0 {
		return usagef("say of which rooms it tells: --room")
	}
	body := map[string]any{"name": c.Name, "url": c.URL}
	if err := c.into(body); err != nil {
		return err
	}
	return changed(ctx, p, &c.remote, c.format, "POST", webhooksPath, body, func(w *webhooks.Webhook) string {
		return fmt.Sprintf("%s tells of %s. Its secret, shown this once:\n%s", w.WebhookID, events(w), w.Secret)
	})
}

// events are what a webhook tells of, for people.
func events(w *webhooks.Webhook) string {
	list := make([]string, len(w.Events))
	for i, e := range w.Events {
		list[i] = string(e)
	}
	rooms := make([]string, len(w.Rooms))
	for i, r := range w.Rooms {
		rooms[i] = string(r)
	}
	return fmt.Sprintf("%s in %s", strings.Join(list, ", "), strings.Join(rooms, ", "))
}

type webhookChangeCmd struct {
	remote
	format
	tellOf
	ID     string `arg:"" help:"Its id (wh:…), as ubl webhook has it."`
	Name   string `help:"What you call it." config:"-"`
	To     string `help:"Where it posts." placeholder:"URL" config:"-"`
	Pause  bool   `help:"Have it tell nothing." xor:"pause" config:"-"`
	Resume bool   `help:"Have it tell again." xor:"pause" config:"-"`
}

// Run changes what is given.
func (c *webhookChangeCmd) Run(ctx context.Context, p *program) error {
	body := map[string]any{}
	for field, value := range map[string]string{"name": c.Name, "url": c.To} {
		if value != "" {
			body[field] = value
		}
	}
	if c.Pause || c.Resume {
		body["paused"] = c.Pause
	}
	if err := c.into(body); err != nil {
		return err
	}
	if len(body) == 0 {
		return usagef("say what to change: --name, --to, --event, --room, --pause or --resume")
	}
	return changed(ctx, p, &c.remote, c.format, "PATCH", webhookPath(c.ID), body, func(w *webhooks.Webhook) string {
		if w.Paused != nil {
			return w.WebhookID + " is paused."
		}
		return fmt.Sprintf("%s tells of %s.", w.WebhookID, events(w))
	})
}

type webhookRotateCmd struct {
	remote
	format
	ID string `arg:"" help:"Its id (wh:…), as ubl webhook has it."`
}

// Run replaces the secret.
func (c *webhookRotateCmd) Run(ctx context.Context, p *program) error {
	return changed(ctx, p, &c.remote, c.format, "POST", webhookPath(c.ID)+"/rotate", nil, func(w *webhooks.Webhook) string {
		return fmt.Sprintf("The secret before signs until %s, too. The new one, shown this once:\n%s", local(w.OldSecretUntil), w.Secret)
	})
}

type webhookTestCmd struct {
	remote
	format
	ID string `arg:"" help:"Its id (wh:…), as ubl webhook has it."`
}

// Run tries it.
func (c *webhookTestCmd) Run(ctx context.Context, p *program) error {
	return changed(ctx, p, &c.remote, c.format, "POST", webhookPath(c.ID)+"/test", nil, func(d *webhooks.Delivery) string {
		return fmt.Sprintf("%s is under way: \"ubl webhook deliveries %s\" says what came of it.", d.DeliveryID, c.ID)
	})
}

type webhookDeliveriesCmd struct {
	remote
	format
	ID string `arg:"" help:"Its id (wh:…), as ubl webhook has it."`
}

// Run lists them, with --json as the server answers it.
func (c *webhookDeliveriesCmd) Run(ctx context.Context, p *program) error {
	return tabled(ctx, p, &c.remote, c.format, webhookPath(c.ID)+"/deliveries", "its deliveries", func(table *tabwriter.Writer, list *webhooks.DeliveryList) {
		for _, d := range list.Deliveries {
			place := string(d.RoomID)
			if d.RoomSeq > 0 {
				place = fmt.Sprintf("%s %d", d.RoomID, d.RoomSeq)
			}
			fmt.Fprintln(table, cells(d.DeliveryID, local(d.At), d.Event, place, d.State, cmp.Or(d.Message, answered(d.Status))))
		}
	})
}

// answered is a status for people, "" for none.
func answered(status int) string {
	if status == 0 {
		return ""
	}
	return fmt.Sprintf("answered %d", status)
}

type webhookRedeliverCmd struct {
	remote
	format
	ID       string `arg:"" help:"The webhook's id (wh:…)."`
	Delivery string `arg:"" help:"The delivery's id (msg_…), as ubl webhook deliveries has it."`
}

// Run posts it again.
func (c *webhookRedeliverCmd) Run(ctx context.Context, p *program) error {
	return changed(ctx, p, &c.remote, c.format, "POST", webhookPath(c.ID)+"/deliveries/"+url.PathEscape(c.Delivery), nil, func(d *webhooks.Delivery) string {
		return d.DeliveryID + " is sent again."
	})
}

type webhookRmCmd struct {
	remote
	format
	ID string `arg:"" help:"Its id (wh:…), as ubl webhook has it."`
}

// Run removes it.
func (c *webhookRmCmd) Run(ctx context.Context, p *program) error {
	return changed(ctx, p, &c.remote, c.format, "DELETE", webhookPath(c.ID), nil, func(w *webhooks.Webhook) string {
		return w.WebhookID + " is removed."
	})
}
