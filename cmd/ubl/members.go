package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// membersCmd lists the people and agents of the caller's tenant.
type membersCmd struct {
	remote
	format
	Former bool `help:"List those who have left instead, by their names." config:"-"`
}

// Run lists them, with --json one a line.
func (c *membersCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	list, former, err := server.members(ctx)
	if err != nil {
		return err
	}
	var tokens []ubl.ServiceToken
	if !c.JSON {
		if tokens, err = server.serviceTokens(ctx); err != nil {
			return err
		}
	}
	if c.Former {
		return printFormer(p, c.format, former, tokens)
	}
	return printMembers(p, c.format, list, tokenEnds(tokens))
}

// printFormer prints those who have left, and of agents whose leaving ended them and who
// kept them.
func printFormer(p *program, f format, list []json.RawMessage, tokens []ubl.ServiceToken) error {
	ended := make(map[ubl.UserID]string)
	for _, t := range tokens {
		if t.RevokedAt != nil && len(t.EndsWith) > 0 {
			ended[t.UserID] = fmt.Sprintf("\tended when %s left; kept by %s", t.EndsWith[0], t.Keeper())
		}
	}
	return printList(p, f, list, "a member", "NAME\tID", func(m *ubl.Member) string { return cells(m.Name, m.UserID) + ended[m.UserID] })
}

// printMembers prints members, and when each service's token ends.
func printMembers(p *program, f format, list []json.RawMessage, ends map[ubl.UserID]string) error {
	in := make(map[ubl.UserID]string, len(list))
	for _, raw := range list {
		m, err := formed[ubl.Member]("a member", raw)
		if err != nil {
			return err
		}
		in[m.UserID] = cmp.Or(m.Name, m.Email, string(m.UserID))
	}
	return printList(p, f, list, "a member", "NAME\tADDRESS\tROLE\tID\tTOKEN UNTIL", func(m *ubl.Member) string {
		address := m.Email
		if m.IsService {
			address = "agent"
		}
		if m.Unproven {
			address += " (unproven)"
		}
		if m.Alike {
			address += " (looks like another: see the id)"
		}
		switch by, here := in[m.InvitedBy]; {
		case here:
			address += " (invited by " + by + ")"
		case m.InvitedBy != "":
			address += " (invited by " + string(m.InvitedBy) + ", who has left)"
		}
		return cells(m.Name, address, m.Role, m.UserID, ends[m.UserID])
	})
}

// serviceTokens lists the tenant's. Only owners may know: others get none.
func (c *client) serviceTokens(ctx context.Context) ([]ubl.ServiceToken, error) {
	var answer struct {
		Tokens []ubl.ServiceToken `json:"service_tokens"`
	}
	err := c.call(ctx, "GET", "/api/service-tokens", nil, &answer)
	if refused, ok := errors.AsType[*apiError](err); ok && refused.body.Error.Code == ubl.CodeForbidden {
		return nil, nil
	}
	return answer.Tokens, err
}

// tokenEnds says of each service with a service token when that ends.
func tokenEnds(tokens []ubl.ServiceToken) map[ubl.UserID]string {
	ends := make(map[ubl.UserID]string, len(tokens))
	for _, t := range tokens {
		switch {
		case t.RevokedAt != nil:
			ends[t.UserID] = "revoked"
		case t.ExpiresAt == nil:
			ends[t.UserID] = "no end yet"
		default:
			ends[t.UserID] = local(*t.ExpiresAt)
		}
	}
	return ends
}

// members reads the tenant's members, and who has left it.
func (c *client) members(ctx context.Context) (now, former []json.RawMessage, err error) {
	var answer struct {
		Members []json.RawMessage `json:"members"`
		Former  []json.RawMessage `json:"former"`
	}
	err = c.call(ctx, "GET", "/api/tenant/members?former=true", nil, &answer)
	return answer.Members, answer.Former, err
}

// people knows what to call whom messages are from. It asks the server when it first
// meets somebody, and has their id do where that doesn't tell: a list that can't be
// had must not keep messages from being read.
type people struct {
	server *client
	known  map[ubl.UserID]string
}

// called is somebody's name, else their address, else their id, which stands behind a
// name that looks like another's. It says who is unproven, and who has left.
func (p *people) called(ctx context.Context, id ubl.UserID) string {
	if p.known[id] == "" {
		p.meet(ctx)
		p.known[id] = cmp.Or(p.known[id], string(id))
	}
	return p.known[id]
}

func (p *people) meet(ctx context.Context) {
	now, former, _ := p.server.members(ctx)
	if p.known == nil {
		p.known = make(map[ubl.UserID]string, len(now)+len(former))
	}
	p.learn(now, "")
	p.learn(former, " (left)")
}

func (p *people) learn(list []json.RawMessage, standing string) {
	for _, raw := range list {
		if m, err := formed[ubl.Member]("a member", raw); err == nil {
			called := cmp.Or(m.Name, m.Email, string(m.UserID))
			if m.Alike {
				called += " (" + string(m.UserID) + ")"
			}
			if m.Unproven {
				called += " (unproven)"
			}
			p.known[m.UserID] = called + standing
		}
	}
}
