package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"ubl"
)

// serversCmd lists the servers of tools that the caller's tenant knows.
type serversCmd struct {
	remote
	format
}

// Run lists them, with --json one a line.
func (c *serversCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Servers []json.RawMessage `json:"servers"`
	}
	if err := server.call(ctx, "GET", "/api/portal/servers", nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		for _, s := range answer.Servers {
			fmt.Fprintf(p.out, "%s\n", s)
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVER\tNAME\tSTATE\tTOOLS\tNEXT TRY\tPROBLEM")
	for _, raw := range answer.Servers {
		var s ubl.Server
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("the server sent a server of another form: %w", err)
		}
		next := "-"
		if s.NextTry != nil {
			next = s.NextTry.String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", clean(s.ServerID), clean(s.Name), stateOf(&s), s.Tools, next, cmp.Or(clean(s.Problem), "-"))
	}
	return table.Flush()
}

// stateOf is how a server is doing, in a word.
func stateOf(s *ubl.Server) string {
	if s.Connecting && s.Status != ubl.ServerUp {
		return "connecting"
	}
	return clean(s.Status)
}
