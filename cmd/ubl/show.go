package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"ubl"
)

// showCmd shows a room, a container or an Agreement, as it is or as it was.
type showCmd struct {
	remote
	format
	inPast
	ID string `arg:"" complete:"rooms" help:"Of a room (r:plans or plans), a container (w:drafts, k:petty-cash), the tenant (t:example.com) or an Agreement (a:room:r:plans)."`
}

// inPast asks how something was.
type inPast struct {
	AsOf string `name:"as-of" help:"How it was: after the atom of this seq in the tenant's ledger, or at a time (2026-01-31T12:00:00Z)." placeholder:"SEQ|TIME"`
}

// of is the path of how it was, or is.
func (c inPast) of(path string) (string, error) {
	if _, err := ubl.ParseAsOf(c.AsOf); err != nil {
		return "", &usageError{"--as-of is neither the seq of an atom, as 4711, nor a time, as 2026-01-31T12:00:00Z"}
	}
	if c.AsOf == "" {
		return path, nil
	}
	before := "?"
	if strings.Contains(path, before) {
		before = "&"
	}
	return path + before + "as_of=" + url.QueryEscape(c.AsOf), nil
}

// shown is what showCmd has read. The raw parts are for --json.
type shown struct {
	Room      json.RawMessage `json:"room,omitempty"`
	Container json.RawMessage `json:"container,omitempty"`
	Agreement json.RawMessage `json:"agreement"`
	// NextCursor is for GET /api/agreements/{agreementId}: where its history goes on.
	NextCursor json.RawMessage `json:"next_cursor,omitempty"`
}

// Run shows it, with its members.
func (c *showCmd) Run(ctx context.Context, p *program) error {
	if _, err := c.of(""); err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var is shown
	agreement := ubl.AgreementID(c.ID)
	switch {
	case strings.HasPrefix(c.ID, "a:"):
	case ubl.ContainerID(c.ID).Valid(), ubl.TenantID(c.ID).Valid():
		if err = c.read(ctx, server, "/api/containers/"+url.PathEscape(c.ID), &is); err == nil {
			var container ubl.Container
			err = json.Unmarshal(is.Container, &container)
			agreement = container.AgreementID
		}
	default:
		var room ubl.RoomID
		if room, err = roomID(c.ID); err == nil {
			agreement = ubl.RoomAgreement(room)
			err = c.read(ctx, server, "/api/rooms/"+url.PathEscape(string(room)), &is)
		}
	}
	if err == nil {
		err = c.read(ctx, server, "/api/agreements/"+url.PathEscape(string(agreement)), &is)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(is)
	}
	return is.print(ctx, p, server, c.AsOf)
}

func (c *showCmd) read(ctx context.Context, server *client, path string, into *shown) error {
	path, err := c.of(path)
	if err != nil {
		return err
	}
	return server.call(ctx, "GET", path, nil, into)
}

// print writes it for people, as of what they asked for.
func (s *shown) print(ctx context.Context, p *program, server *client, asOf string) error {
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(name, format string, a ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, clean(fmt.Sprintf(format, a...)))
	}
	if s.Room != nil {
		r, err := formed[ubl.Room]("a room", s.Room)
		if err != nil {
			return err
		}
		row("room", "%s (%s)", r.Name, r.RoomID)
		if r.Topic != "" {
			row("topic", "%s", r.Topic)
		}
		if r.Description != "" {
			row("description", "%s", r.Description)
		}
		if r.Direct != nil {
			row("direct", "between %d", len(r.Direct.Members))
		}
		if r.Policy.Posting != "" {
			row("posting", "%s", map[string]string{ubl.PostingModerators: "owners and moderators", ubl.PostingThreads: "owners and moderators, and everybody in threads"}[r.Policy.Posting])
		}
		row("join", "%s", map[string]string{ubl.JoinTenant: "everyone of the tenant", ubl.JoinInvite: "by invitation"}[r.Policy.Join])
		row("kept", "%s", keeping{r.Policy.RetentionDays, r.Policy.RetentionHours})
		row("longest", "%d bytes", r.Policy.MaxMessageBytes)
		if r.Physics != nil { // a server of an earlier version doesn't say
			row("physics", "%s", *r.Physics)
		}
		row("entries", "%d, from %d on", r.LastSeq, r.AvailableFrom)
	}
	if s.Container != nil {
		c, err := formed[ubl.Container]("a container", s.Container)
		if err != nil {
			return err
		}
		row(c.Kind, "%s (%s)", c.Name, c.ContainerID)
		row("physics", "%s", c.Physics)
		if ubl.TenantID(c.ContainerID).Valid() {
			row("members", "%d", c.Members)
		} else {
			row("documents", "%d", c.Documents)
			row("credits", "%d, and %d on the way", c.Balance, c.InTransit)
		}
	}
	a, err := formed[ubl.AgreementView]("an Agreement", s.Agreement)
	if err != nil {
		return err
	}
	called := people{server: server}
	row("agreement", "%s, %s", a.ID, agreementStands(&a))
	for _, m := range a.Members {
		row(string(m.Role), "%s, since %s", called.called(ctx, m.UserID), local(m.Since))
	}
	printTerms(&a, row)
	if a.AsOf != nil {
		row("as of", "%s", asOf)
		row("last act", "atom %d, %s, messages aside", a.AsOf.Seq, a.AsOf.Time)
	}
	return table.Flush()
}

// agreementStands says whether an Agreement is in force.
func agreementStands(a *ubl.AgreementView) string {
	switch {
	case a.EndedAt != nil:
		return "ended " + local(*a.EndedAt)
	case a.SealedAt != nil:
		return "sealed " + local(*a.SealedAt)
	}
	return "in force"
}
