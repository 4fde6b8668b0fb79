package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"ubl"
)

// toolCmd says who may use which tool. What it says holds on every way in, REST too.
type toolCmd struct {
	List  toolListCmd  `cmd:"" help:"List the tools, and who may use them."`
	Allow toolAllowCmd `cmd:"" help:"Let everyone of the tenant use a tool, or those that are named."`
	Deny  toolDenyCmd  `cmd:"" help:"Close a tool: nobody uses it."`
}

type toolListCmd struct {
	remote
	format
	Server string `complete:"servers" help:"Only those of this server of tools; ubl is for our own." placeholder:"SERVER" config:"-"`
}

// Run lists them, with --json one a line.
func (c *toolListCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	list, err := server.tools(ctx)
	if err != nil {
		return err
	}
	var some []json.RawMessage
	for _, t := range list {
		if c.Server == "" || t.ServerID == c.Server {
			some = append(some, t.raw)
		}
	}
	return printList(p, c.format, some, "a tool", "TOOL\tSERVER\tWHO MAY", func(t *ubl.ToolListing) string {
		return cells(t.Tool, t.ServerID, mayUse(t))
	})
}

// mayUse is who may use a tool, in words. Our own are open until somebody closes them,
// others' are closed until somebody allows them.
func mayUse(t *ubl.ToolListing) string {
	state := ""
	switch {
	case t.Gone:
		state = " (the server lists it no more)"
	case t.HeldHash != "":
		state = " (a new definition waits for approval)"
	}
	switch a := t.Access; {
	case a == nil && t.ServerID != ubl.OwnServer, a != nil && !a.Allowed:
		return "nobody" + state
	case a == nil:
		return "everyone" + state
	default:
		who := "everyone"
		if named := append(asTexts(a.Users), a.Groups...); len(named) > 0 {
			who = strings.Join(named, ", ")
		}
		if a.PerMinute > 0 {
			who += fmt.Sprintf(", %d a minute each", a.PerMinute)
		}
		if a.Confirm != "" {
			who += "; " + asksFirst(a.Confirm)
		}
		return who + state
	}
}

// asksFirst is before which uses by an agent a person is asked, in words.
func asksFirst(c ubl.Confirm) string {
	if c == ubl.ConfirmAlways {
		return "agents ask a person first"
	}
	return "agents ask a person before destructive use"
}

func asTexts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

// listedTool is a tool as the server lists it, and as it came.
type listedTool struct {
	ubl.ToolListing
	raw json.RawMessage
}

func (c *client) tools(ctx context.Context) ([]listedTool, error) {
	list, err := c.list(ctx, "/api/portal/tools?limit=100", "tools")
	if err != nil {
		return nil, err
	}
	out := make([]listedTool, len(list))
	for i, raw := range list {
		if out[i].ToolListing, err = formed[ubl.ToolListing]("a tool", raw); err != nil {
			return nil, err
		}
		out[i].raw = raw
	}
	return out, nil
}

// whichTool names one.
type whichTool struct {
	Tool string `arg:"" complete:"tools" help:"The tool's name, as the list has it."`
}

// set says who may use the tool, once it is known that there is one. A server takes
// the record whole, so that what body doesn't say of confirm is said as it stands.
func (w *whichTool) set(ctx context.Context, p *program, server *client, body map[string]any) (json.RawMessage, error) {
	list, err := server.tools(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, t := range list {
		// A server's questions are opened like a tool, and are none.
		if names[i] = t.Tool; t.Tool == w.Tool || t.ServerID != ubl.OwnServer && w.Tool == t.ServerID+".elicitation" {
			if _, said := body["confirm"]; !said && t.Tool == w.Tool && t.Access != nil && t.Access.Confirm != "" {
				body["confirm"] = t.Access.Confirm
			}
			return server.act(ctx, p, "PUT", "/api/portal/tools/"+url.PathEscape(w.Tool)+"/access", body, "access")
		}
	}
	return nil, thenDo(usagef("there is no tool %s", clean(w.Tool)), "%s", clean(cmp.Or(meant(w.Tool, names), `"ubl tool list" lists them`)))
}

type toolAllowCmd struct {
	remote
	format
	whichTool
	Member    []string `complete:"members" help:"Only this member, by address or id; may be repeated." placeholder:"MEMBER" config:"-"`
	Group     []string `help:"Only members of this group of their provider; may be repeated." placeholder:"GROUP" config:"-"`
	PerMinute int      `help:"At most so many calls of one caller a minute; 0 is no bound." placeholder:"N" config:"-"`
	Confirm   string   `default:"" enum:",never,destructive,always" help:"Before which uses of it by an agent a person is asked, in the agent's client: never, destructive or always. What isn't said stays as it was set." placeholder:"WHEN" config:"-"`
}

// Run allows it.
func (c *toolAllowCmd) Run(ctx context.Context, p *program) error {
	if c.PerMinute < 0 {
		return usagef("--per-minute is 0, which is no bound, or more")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	body := map[string]any{"allowed": true, "per_minute": c.PerMinute}
	if c.Confirm != "" {
		body["confirm"] = c.Confirm
	}
	var users []ubl.UserID
	for _, name := range c.Member {
		who, err := server.memberID(ctx, name)
		if err != nil {
			return err
		}
		users = append(users, who)
	}
	if users != nil {
		body["users"] = users
	}
	if c.Group != nil {
		body["groups"] = c.Group
	}
	answer, err := c.set(ctx, p, server, body)
	if err != nil {
		return err
	}
	access, err := formed[ubl.ToolAccess]("a tool's access", answer)
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s may be used by %s", c.Tool, mayUse(&ubl.ToolListing{Access: &access}))
}

type toolDenyCmd struct {
	remote
	format
	whichTool
}

// Run closes it.
func (c *toolDenyCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	answer, err := c.set(ctx, p, server, map[string]any{"allowed": false})
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s is closed to everyone; \"ubl tool allow %s\" opens it", c.Tool, c.Tool)
}
