package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"ubl"
)

// whoamiCmd says who somebody is, and where.
type whoamiCmd struct {
	remote
	format
}

// myself is what GET /api/whoami answers, as far as people are told.
type myself struct {
	Identity struct {
		UserID    ubl.UserID `json:"user_id"`
		Email     string     `json:"email"`
		IsService bool       `json:"is_service"`
		Unproven  bool       `json:"unproven"`
	} `json:"identity"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	Name      string       `json:"name"`
	Role      ubl.Role     `json:"role"`
	ExpiresAt *ubl.Time    `json:"expires_at"`
}

// Run asks the server. With --json its answer stands in the member whoami, beside the
// server's address and where the credential comes from.
func (c *whoamiCmd) Run(ctx context.Context, p *program) error {
	at, err := c.target(p)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := p.client(at).call(ctx, "GET", "/api/whoami", nil, &raw); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]any{"url": at.url, "by": at.by, "profile": at.profile, "whoami": raw})
	}
	me, err := formed[myself]("an identity", raw)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, clean(text))
		}
	}
	row("server", at.url)
	row("by", at.by)
	row("tenant", string(me.TenantID))
	row("id", string(me.Identity.UserID))
	row("name", me.Name)
	row("address", me.Identity.Email+vouchedFor(&me))
	row("role", string(me.Role))
	if me.ExpiresAt != nil {
		row("until", local(*me.ExpiresAt))
	}
	return table.Flush()
}

// vouchedFor says what others should know of somebody's address.
func vouchedFor(me *myself) string {
	switch {
	case me.Identity.IsService:
		return "agent"
	case me.Identity.Unproven:
		return " (unproven)"
	}
	return ""
}
