package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"ubl"
)

// sealedCmd sees to sealed rooms and containers, for owners of the tenant.
type sealedCmd struct {
	List sealedListCmd `cmd:"" help:"List the sealed rooms and containers of your tenant."`
	Heir sealedHeirCmd `cmd:"" help:"Give a sealed room or container to a person: what was there before stays closed."`
}

type sealedListCmd struct {
	remote
	format
}

type sealedHeirCmd struct {
	remote
	format
	Agreement string `arg:"" help:"Of the sealed place, as the list has it: a:room:r:plans."`
	Member    string `arg:"" complete:"members" help:"The heir: an address, or the id of a member (ubl members)."`
}

// Run lists them, with --json one a line.
func (c *sealedListCmd) Run(ctx context.Context, p *program) error {
	return showList(ctx, p, &c.remote, c.format, "/api/sealed?limit=100", "sealed", "a sealed place", "AGREEMENT\tNAME\tSEALED", func(s *ubl.SealedPlace) string {
		return cells(s.AgreementID, s.Name, local(s.SealedAt))
	})
}

// Run names the heir.
func (c *sealedHeirCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	heir, err := server.memberID(ctx, c.Member)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "POST", "/api/agreements/"+url.PathEscape(c.Agreement)+"/heir", map[string]any{"user_id": heir}, "member")
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s has %s from now on. What was there before stays closed.", c.Member, c.Agreement)
}

// memberID is the id of a member who is named by it or by an address, or of an agent that
// is named as owners called it.
func (c *client) memberID(ctx context.Context, name string) (ubl.UserID, error) {
	if strings.HasPrefix(name, "u:") {
		return ubl.UserID(name), nil
	}
	list, _, err := c.members(ctx)
	if err != nil {
		return "", err
	}
	var found []ubl.UserID
	address := strings.Contains(name, "@")
	for _, raw := range list {
		m, err := formed[ubl.Member]("a member", raw)
		if err != nil {
			return "", err
		}
		if address && ubl.SameEmail(m.Email, name) && !m.IsService && !m.Unproven || !address && m.IsService && m.Name == name {
			found = append(found, m.UserID)
		}
	}
	what := "proven members have this address"
	if !address {
		what = "agents have this name"
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%d %s: give the id, which \"ubl members\" lists", len(found), what)
	case address:
		return "", errors.New("no proven member has this address: give the id of a member, which \"ubl members\" lists")
	}
	return "", errors.New("no agent has this name: give an address or an id, which \"ubl members\" lists")
}
