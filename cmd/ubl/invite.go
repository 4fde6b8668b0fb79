package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// inviteCmd invites a person into the caller's tenant.
type inviteCmd struct {
	remote
	format
	Email string `arg:"" help:"Whom to invite; an address of any domain."`
	Role  string `default:"member" enum:"member,owner" help:"What they will be: member or owner."`
	TTL   ttl    `name:"ttl" default:"168h" help:"How long the link holds, in whole hours: 1h to 720h." config:"-"`
}

// Run prints the link, which nobody can be shown again.
func (c *inviteCmd) Run(ctx context.Context, p *program) error {
	ttl := time.Duration(c.TTL)
	if ttl < ubl.MinInvitationTTL || ttl > ubl.MaxInvitationTTL || ttl%time.Hour != 0 {
		return usagef("--ttl is 1h to 720h, in whole hours")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	body := map[string]any{"email": c.Email, "role": c.Role, "ttl_hours": int(ttl / time.Hour)}
	raw, err := server.act(ctx, p, "POST", "/api/invitations", body, "")
	if err != nil {
		return err
	}
	answer, err := formed[struct {
		Invitation json.RawMessage `json:"invitation"`
		Link       *string         `json:"link"`
	}]("an invitation", raw)
	if err != nil {
		return err
	}
	i, err := formed[ubl.Invitation]("an invitation", answer.Invitation)
	if err != nil {
		return err
	}
	if answer.Link == nil {
		return fmt.Errorf("the invitation was made, but its link was lost on the way: take it back with \"ubl invite revoke %s\", and invite again", clean(string(i.ID)))
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(answer)
	}
	_, err = fmt.Fprintf(p.out, "%s may come in as %s, once, until %s. The link proves no address: who comes by it is shown as unproven. It is shown this one time:\n%s\n",
		clean(i.Email), i.Role, local(i.ExpiresAt), clean(*answer.Link))
	if u, parsed := url.Parse(*answer.Link); parsed == nil && envelope.Loopback(u.Hostname()) {
		fmt.Fprintln(p.err, "The link works on this machine only. For other machines, start the server with --public-url URL.")
	}
	return err
}
