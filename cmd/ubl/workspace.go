package main

import (
	"context"
	"strings"

	"ubl"
)

// workspaceCmd makes workspaces, which documents and files are in.
type workspaceCmd struct {
	List   workspaceListCmd   `cmd:"" help:"List the workspaces that you may look into."`
	Create workspaceCreateCmd `cmd:"" help:"Make a workspace, which you own."`
}

type workspaceListCmd struct {
	remote
	format
}

// lets says who gets at what is in a container, by its permeability.
var lets = map[ubl.Permeability]string{
	ubl.Sealed:        "its members read",
	ubl.Gated:         "its members write, its owners take out",
	ubl.Collaborative: "its members",
	ubl.Open:          "everyone of the organisation",
	ubl.Public:        "everyone of the organisation, and anyone reads",
}

// Run lists them, with --json one a line.
func (c *workspaceListCmd) Run(ctx context.Context, p *program) error {
	return showList(ctx, p, &c.remote, c.format, "/api/workspaces?limit=100", "workspaces", "a workspace", "WORKSPACE\tNAME\tFOR", func(w *ubl.ContainerSummary) string {
		return cells(w.ContainerID, oneLine(w.Name), lets[w.Physics.Permeability])
	})
}

type workspaceCreateCmd struct {
	remote
	format
	Name string `arg:"" help:"What to call it; the id follows from that."`
	For  string `default:"everyone" enum:"everyone,members,public" help:"Who works in it: everyone of the organisation, its members alone, or everyone and anyone on the internet reads." config:"-"`
}

// Run makes it.
func (c *workspaceCreateCmd) Run(ctx context.Context, p *program) error {
	if strings.TrimSpace(c.Name) == "" {
		return thenDo(usagef("the workspace's name is empty"), `name it, as in "ubl workspace create Handbook"`)
	}
	physics := ubl.WorkspaceKind().Physics
	switch c.For {
	case "everyone":
		physics.Permeability = ubl.Open
	case "public":
		physics.Permeability, physics.Execution = ubl.Public, ubl.Disabled
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "POST", "/api/workspaces", map[string]any{"name": c.Name, "physics": physics}, "workspace")
	if err != nil {
		return err
	}
	made, err := formed[ubl.ContainerSummary]("a workspace", answer)
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s is made, for %s; \"ubl doc put FILE --workspace %[1]s\" puts a document into it", made.ContainerID, lets[made.Physics.Permeability])
}
