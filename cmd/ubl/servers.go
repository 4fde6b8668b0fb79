package main

import (
	"cmp"
	"context"

	"ubl"
)

// serversCmd lists the servers of tools that the caller's tenant knows.
type serversCmd struct {
	remote
	format
}

// Run lists them, with --json one a line.
func (c *serversCmd) Run(ctx context.Context, p *program) error {
	return showList(ctx, p, &c.remote, c.format, "/api/portal/servers", "servers", "a server", "SERVER\tNAME\tSTATE\tTOOLS\tNEXT TRY\tPROBLEM", serverRow)
}

func serverRow(s *ubl.Server) string {
	next := "-"
	if s.NextTry != nil {
		next = local(*s.NextTry)
	}
	return cells(s.ServerID, s.Name, stateOf(s), s.Tools, next, cmp.Or(s.Problem, "-"))
}

// stateOf is how a server is doing, in a word.
func stateOf(s *ubl.Server) string {
	if s.Connecting && s.Status != ubl.ServerUp {
		return "connecting"
	}
	return s.Status
}
