package main

import (
	"cmp"
	"context"
	"encoding/json"

	"ubl"
)

// deadLettersCmd shows what couldn't be done by itself, and has it tried again.
type deadLettersCmd struct {
	List    deadLettersListCmd    `cmd:"" help:"List what couldn't be done by itself, and isn't tried any more."`
	Redrive deadLettersRedriveCmd `cmd:"" help:"Have a dead letter tried again at once."`
}

type deadLettersListCmd struct {
	remote
	format
	All bool `help:"Those of all tenants. Operators."`
}

type deadLettersRedriveCmd struct {
	remote
	format
	Key     string `arg:"" help:"The dead letter's key, as the list shows it."`
	Subject string `arg:"" help:"Its subject, as the list shows it: r:general."`
	Tenant  string `arg:"" optional:"" help:"Its tenant, if that isn't yours. Operators."`
}

// Run lists them, with --json one a line.
func (c *deadLettersListCmd) Run(ctx context.Context, p *program) error {
	path := "/api/dead-letters"
	if c.All {
		path += "?all=true"
	}
	return showList(ctx, p, &c.remote, c.format, path, "dead_letters", "a dead letter", "KIND\tKEY\tSUBJECT\tTENANT\tATTEMPTS\tLAST ERROR\tSINCE",
		func(l *ubl.DeadLetter) string {
			return cells(l.Kind, l.Key, l.Subject, l.TenantID, l.Attempts, cmp.Or(string(l.Code), "-"), local(l.Since))
		})
}

// Run asks for one.
func (c *deadLettersRedriveCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	body := map[string]string{"subject": c.Subject, "key": c.Key}
	if c.Tenant != "" {
		body["tenant_id"] = c.Tenant
	}
	var answer json.RawMessage
	if err := server.call(ctx, "POST", "/api/dead-letters/redrive", body, &answer); err != nil {
		return err
	}
	return c.say(p.out, answer, "%s of %s is tried again.", c.Key, c.Subject)
}
