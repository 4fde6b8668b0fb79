package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

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
	if c.Former {
		list = former
	}
	switch {
	case c.JSON:
		for _, m := range list {
			fmt.Fprintf(p.out, "%s\n", m)
		}
		return nil
	case c.Former:
		return printFormer(p, former)
	}
	ends, err := server.tokenEnds(ctx)
	if err != nil {
		return err
	}
	return printMembers(p, list, ends)
}

// printFormer prints those who have left as a table.
func printFormer(p *program, list []json.RawMessage) error {
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tID")
	for _, raw := range list {
		m, err := memberIn(raw)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\n", clean(m.Name), clean(string(m.UserID)))
	}
	return table.Flush()
}

// printMembers prints members as a table, and when each service's token ends.
func printMembers(p *program, list []json.RawMessage, ends map[ubl.UserID]string) (err error) {
	people, in := make([]ubl.Member, len(list)), make(map[ubl.UserID]string, len(list))
	for n, raw := range list {
		if people[n], err = memberIn(raw); err != nil {
			return err
		}
		in[people[n].UserID] = cmp.Or(people[n].Name, people[n].Email, string(people[n].UserID))
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tADDRESS\tROLE\tID\tTOKEN UNTIL")
	for _, m := range people {
		address := m.Email
		if m.IsService {
			address = "agent"
		}
		if m.Unproven {
			address += " (unproven)"
		}
		switch by, here := in[m.InvitedBy]; {
		case here:
			address += " (invited by " + by + ")"
		case m.InvitedBy != "":
			address += " (invited by " + string(m.InvitedBy) + ", who has left)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", clean(m.Name), clean(address), m.Role, clean(string(m.UserID)), ends[m.UserID])
	}
	return table.Flush()
}

// tokenEnds says of each service with a service token when that ends. Only owners may
// know: others get none.
func (c *client) tokenEnds(ctx context.Context) (map[ubl.UserID]string, error) {
	var answer struct {
		Tokens []ubl.ServiceToken `json:"service_tokens"`
	}
	err := c.call(ctx, "GET", "/api/service-tokens", nil, &answer)
	if refused, ok := errors.AsType[*apiError](err); ok && refused.body.Error.Code == ubl.CodeForbidden {
		return nil, nil
	}
	ends := make(map[ubl.UserID]string, len(answer.Tokens))
	for _, t := range answer.Tokens {
		switch {
		case t.RevokedAt != nil:
			ends[t.UserID] = "revoked"
		case t.ExpiresAt == nil:
			ends[t.UserID] = "no end yet"
		default:
			ends[t.UserID] = t.ExpiresAt.Std().Format("2006-01-02 15:04 MST")
		}
	}
	return ends, err
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

func memberIn(raw json.RawMessage) (m ubl.Member, err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("the server sent a member of another form: %w", err)
	}
	return m, nil
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
		if m, err := memberIn(raw); err == nil {
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
