package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"text/tabwriter"

	"ubl"
)

// invitationsCmd sees to the invitations that "ubl invite" and the app have made.
type invitationsCmd struct {
	List   invitationsListCmd   `cmd:"" help:"List the open invitations into your tenant, and the newest that have ended."`
	Revoke invitationsRevokeCmd `cmd:"" help:"Take an open invitation back: its link works no more."`
}

type invitationsListCmd struct {
	remote
	format
}

type invitationsRevokeCmd struct {
	remote
	format
	ID string `arg:"" help:"The invitation's id, as the list has it."`
}

// Run lists them, with --json one a line.
func (c *invitationsListCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Invitations []json.RawMessage `json:"invitations"`
	}
	if err := server.call(ctx, "GET", "/api/invitations", nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		for _, i := range answer.Invitations {
			fmt.Fprintf(p.out, "%s\n", i)
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ADDRESS\tROLE\tSTATE\tID")
	for _, raw := range answer.Invitations {
		i, err := invitationIn(raw)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", clean(i.Email), i.Role, invitationState(i, ubl.TimeOf(p.now())), clean(string(i.ID)))
	}
	return table.Flush()
}

// invitationState is whether an invitation can still be accepted, and else how it ended.
func invitationState(i *ubl.Invitation, now ubl.Time) string {
	state, at := "expired", i.ExpiresAt
	switch {
	case i.AcceptedAt != nil:
		state, at = "accepted", *i.AcceptedAt
	case i.RevokedAt != nil:
		state, at = "taken back", *i.RevokedAt
	case i.Open(now):
		state = "open until"
	}
	return state + " " + at.Std().Format(dayAndTime)
}

func invitationIn(raw json.RawMessage) (*ubl.Invitation, error) {
	var i ubl.Invitation
	if err := json.Unmarshal(raw, &i); err != nil {
		return nil, fmt.Errorf("the server sent an invitation of another form: %w", err)
	}
	return &i, nil
}

// Run says whose invitation was taken back.
func (c *invitationsRevokeCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Invitation json.RawMessage `json:"invitation"`
	}
	if err := server.call(ctx, "DELETE", "/api/invitations/"+url.PathEscape(c.ID), nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintf(p.out, "%s\n", answer.Invitation)
		return err
	}
	i, err := invitationIn(answer.Invitation)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "The invitation for %s is taken back: its link works no more.\n", clean(cmp.Or(i.Email, string(i.ID))))
	return err
}
