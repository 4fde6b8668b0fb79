package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

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
	server, err := c.client(p)
	if err != nil {
		return err
	}
	path := "/api/dead-letters"
	if c.All {
		path += "?all=true"
	}
	var answer struct {
		DeadLetters []json.RawMessage `json:"dead_letters"`
	}
	if err := server.call(ctx, "GET", path, nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		for _, l := range answer.DeadLetters {
			fmt.Fprintf(p.out, "%s\n", l)
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tKEY\tSUBJECT\tTENANT\tATTEMPTS\tLAST ERROR\tSINCE")
	for _, raw := range answer.DeadLetters {
		var l ubl.DeadLetter
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("the server sent a dead letter of another form: %w", err)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", clean(l.Kind), clean(l.Key), clean(l.Subject), clean(string(l.TenantID)),
			l.Attempts, cmp.Or(clean(string(l.Code)), "-"), l.Since.Std().Format(dayAndTime))
	}
	return table.Flush()
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
	if c.JSON {
		_, err = fmt.Fprintf(p.out, "%s\n", answer)
	} else {
		_, err = fmt.Fprintf(p.out, "%s of %s is tried again.\n", clean(c.Key), clean(c.Subject))
	}
	return err
}
