package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"ubl"
)

// invitesCmd invites people, and sees to the invitations that there are.
type invitesCmd struct {
	Create inviteCmd            `cmd:"" default:"withargs" help:"Invite a person into your tenant, with a link that works once: ubl invite EMAIL."`
	List   invitationsListCmd   `cmd:"" help:"List the open invitations into your tenant, and the newest that have ended."`
	Revoke invitationsRevokeCmd `cmd:"" help:"Take an open invitation back: its link works no more."`
}

// invitationsCmd is what the list was called before it stood below invite.
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
	ID string `arg:"" complete:"invitations" help:"The invitation's id, as the list has it, or the address."`
}

// Run lists them, with --json one a line.
func (c *invitationsListCmd) Run(ctx context.Context, p *program) error {
	now := ubl.TimeOf(p.now())
	return showList(ctx, p, &c.remote, c.format, "/api/invitations", "invitations", "an invitation", "ADDRESS\tROLE\tSTATE\tID", func(i *ubl.Invitation) string {
		return cells(i.Email, i.Role, invitationState(i, now), i.ID)
	})
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
	return state + " " + local(at)
}

// Run says whose invitation was taken back.
func (c *invitationsRevokeCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	id, err := server.invitationID(ctx, c.ID, ubl.TimeOf(p.now()))
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "DELETE", "/api/invitations/"+url.PathEscape(id), nil, "invitation")
	if err != nil {
		return err
	}
	i, err := formed[ubl.Invitation]("an invitation", answer)
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "The invitation for %s is taken back: its link works no more.", cmp.Or(i.Email, string(i.ID)))
}

// invitationID is the id of an open invitation that is named by it or by its address.
func (c *client) invitationID(ctx context.Context, named string, now ubl.Time) (string, error) {
	if ubl.InvitationID(named).Valid() {
		return named, nil
	}
	if !strings.Contains(named, "@") {
		return "", thenDo(usagef("%s is neither an address nor the id of an invitation", clean(named)), `"ubl invite list" lists them`)
	}
	list, err := c.list(ctx, "/api/invitations", "invitations")
	if err != nil {
		return "", err
	}
	for _, raw := range list {
		i, err := formed[ubl.Invitation]("an invitation", raw)
		if err != nil {
			return "", err
		}
		if ubl.SameEmail(i.Email, named) && i.Open(now) {
			return string(i.ID), nil
		}
	}
	return "", thenDo(errors.New("no invitation is open for this address"), `"ubl invite list" lists them`)
}
