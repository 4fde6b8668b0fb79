package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"

	"ubl"
)

// deadLettersCmd shows what couldn't be done by itself, has it tried again, or gives it up.
type deadLettersCmd struct {
	List    deadLettersListCmd    `cmd:"" help:"List what couldn't be done by itself, and isn't tried any more."`
	Redrive deadLettersRedriveCmd `cmd:"" help:"Have a dead letter tried again at once."`
	Discard deadLettersDiscardCmd `cmd:"" help:"Give a dead letter up: it is never done."`
}

type deadLettersListCmd struct {
	remote
	format
	All     bool   `help:"Those of all tenants. Operators." xor:"whose"`
	Pending bool   `help:"What has failed so far and is tried again, or is late." xor:"whose"`
	Tenant  string `help:"Those of another tenant. Operators." placeholder:"TENANT" config:"-"`
}

type deadLettersRedriveCmd struct{ letter }

type deadLettersDiscardCmd struct{ letter }

// letter names one.
type letter struct {
	remote
	format
	Key     string `arg:"" help:"The dead letter's key, as the list shows it."`
	Subject string `arg:"" help:"Its subject, as the list shows it: r:general."`
	Tenant  string `arg:"" optional:"" help:"Its tenant, if that isn't yours. Operators."`
}

// Run lists them, with --json one a line.
func (c *deadLettersListCmd) Run(ctx context.Context, p *program) error {
	query := url.Values{}
	if c.All {
		query.Set("all", "true")
	}
	if c.Tenant != "" {
		query.Set("tenant_id", c.Tenant)
	}
	heads := "KIND\tKEY\tSUBJECT\tTENANT\tATTEMPTS\tLAST ERROR\tSINCE"
	what := "a dead letter"
	if c.Pending {
		query.Set("pending", "true")
		heads, what = heads+"\tNEXT TRY", "something that failed"
	}
	path := "/api/dead-letters"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return showList(ctx, p, &c.remote, c.format, path, "dead_letters", what, heads, func(l *ubl.DeadLetter) string {
		line := []any{l.Kind, l.Key, l.Subject, l.TenantID, l.Attempts, cmp.Or(string(l.Code), "-"), local(l.Since)}
		if c.Pending && l.Next != nil {
			line = append(line, local(*l.Next))
		}
		return cells(line...)
	})
}

// Run has one tried again.
func (c *deadLettersRedriveCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, "redrive", "is tried again")
}

// Run gives one up.
func (c *deadLettersDiscardCmd) Run(ctx context.Context, p *program) error {
	return c.ask(ctx, p, "discard", "is given up")
}

func (c *letter) ask(ctx context.Context, p *program, what, done string) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	body := map[string]string{"subject": c.Subject, "key": c.Key}
	if c.Tenant != "" {
		body["tenant_id"] = c.Tenant
	}
	var answer json.RawMessage
	if err := server.call(ctx, "POST", "/api/dead-letters/"+what, body, &answer); err != nil {
		return err
	}
	return c.say(p.out, answer, "%s of %s %s.", c.Key, cmp.Or(c.Subject, "the tenant"), done)
}
