package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"ubl"
)

// memberCmd is about who belongs: to the tenant or, with --room or --container, to a place.
type memberCmd struct {
	List   memberListCmd   `cmd:"" help:"List the members of the tenant, a room or a container."`
	Add    memberAddCmd    `cmd:"" help:"Add a member of the tenant to a room or a container."`
	Remove memberRemoveCmd `cmd:"" help:"Remove somebody from a room or a container, or shut them out of the tenant."`
	Role   memberRoleCmd   `cmd:"" help:"Make somebody an owner, a moderator of a room, or a member."`
}

// place is where somebody is a member: the tenant unless a flag says otherwise.
type place struct {
	Room      string `complete:"rooms" help:"In this room, instead of the tenant." placeholder:"ROOM" config:"-" xor:"place"`
	Container string `complete:"workspaces" help:"In this container, like w:plans or k:petty-cash, instead of the tenant." placeholder:"CONTAINER" config:"-" xor:"place"`
}

// members is the path of the place's members, and what to call it.
func (c *place) members() (path, called string, err error) {
	switch {
	case c.Room != "":
		room, err := roomID(c.Room)
		return "/api/rooms/" + string(room) + "/members", string(room), err
	case c.Container != "":
		id := c.Container
		if !strings.Contains(id, ":") {
			id = "w:" + id
		}
		if !ubl.ContainerID(id).Valid() {
			return "", "", usagef("--container is not the id of a container, like w:plans or k:petty-cash")
		}
		return "/api/containers/" + id + "/members", id, nil
	}
	return "/api/tenant/members", "the tenant", nil
}

// listed says where to see the places that there are, if the caller has no such one.
func (c *place) listed(err error) error {
	refusal, ok := errors.AsType[*apiError](err)
	switch {
	case !ok || refusal.body.Error.Code != ubl.CodeNotFound && refusal.body.Error.Code != ubl.CodeNotAMember:
		return err
	case c.Container != "":
		return thenDo(err, "GET /api/containers lists yours")
	case c.Room != "":
		return inRoom(err)
	}
	return err
}

func (c *place) tenant() bool { return c.Room == "" && c.Container == "" }

type memberListCmd struct {
	membersCmd
	place
	Of string `arg:"" name:"place" optional:"" complete:"rooms" help:"A room, like general, or a container, like w:plans, instead of the tenant."`
}

// named takes the place that stands by itself as its flag would be taken.
func (c *memberListCmd) named() error {
	switch {
	case c.Of == "":
		return nil
	case !c.tenant():
		return usagef("the place is given twice")
	case strings.Contains(c.Of, ":") && !strings.HasPrefix(c.Of, "r:"):
		c.Container = c.Of
	default:
		c.Room = c.Of
	}
	return nil
}

// Run lists the tenant's as "ubl members" does.
func (c *memberListCmd) Run(ctx context.Context, p *program) error {
	if err := c.named(); err != nil {
		return err
	}
	if c.tenant() {
		return c.membersCmd.Run(ctx, p)
	}
	path, _, err := c.members()
	if err != nil {
		return err
	}
	if c.Former {
		return usagef("--former is of the tenant: leave out --room and --container")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	list, err := server.list(ctx, path, "members")
	if err != nil {
		return c.listed(err)
	}
	return printMembers(p, c.format, list, nil)
}

// whom names a member.
type whom struct {
	Member string `arg:"" complete:"members" help:"An address, the id of a member (ubl members), or the name of an agent."`
}

type memberAddCmd struct {
	remote
	format
	whom
	place
	Role string `default:"member" enum:"member,owner" help:"What they are there: member or owner." config:"-"`
}

// Run adds them. Into the tenant people come by invitation.
func (c *memberAddCmd) Run(ctx context.Context, p *program) error {
	path, called, err := c.members()
	if err != nil {
		return err
	}
	if c.tenant() {
		return thenDo(usagef("name a place with --room or --container"), "into the tenant people come by invitation: ubl invite %s", clean(c.Member))
	}
	server, who, err := c.find(ctx, p, &c.remote)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "POST", path, map[string]any{"user_id": who, "role": c.Role}, "member")
	if err != nil {
		return c.listed(err)
	}
	return c.say(p.out, answer, "%s is in %s, as %s", c.Member, called, c.Role)
}

// find is the server, and the member's id there.
func (w *whom) find(ctx context.Context, p *program, at *remote) (*client, ubl.UserID, error) {
	server, err := at.client(p)
	if err != nil {
		return nil, "", err
	}
	who, err := server.memberID(ctx, w.Member)
	return server, who, err
}

type memberRemoveCmd struct {
	remote
	format
	whom
	place
	sure
}

// Run removes them.
func (c *memberRemoveCmd) Run(ctx context.Context, p *program) error {
	path, called, err := c.members()
	if err != nil {
		return err
	}
	server, who, err := c.find(ctx, p, &c.remote)
	if err == nil && c.tenant() {
		err = c.ask("this shuts " + clean(c.Member) + " out of the tenant, with their agents, tokens and passkeys")
	}
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "DELETE", path+"/"+url.PathEscape(string(who)), nil, "member")
	if err != nil {
		return err
	}
	gone, err := formed[ubl.Member]("a member", answer)
	if err != nil {
		return err
	}
	with := ""
	if n := len(gone.Agents); n > 0 {
		with = ", with " + plural(n, "agent") + " of theirs"
	}
	return c.say(p.out, answer, "%s is out of %s%s", c.Member, called, with)
}

type memberRoleCmd struct {
	remote
	format
	whom
	Role string `arg:"" enum:"member,moderator,owner" help:"member or owner; in a room moderator, too."`
	place
}

// Run gives them the role.
func (c *memberRoleCmd) Run(ctx context.Context, p *program) error {
	path, called, err := c.members()
	if err != nil {
		return err
	}
	server, who, err := c.find(ctx, p, &c.remote)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "PATCH", path+"/"+url.PathEscape(string(who)), map[string]any{"role": c.Role}, "member")
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s is %s of %s", c.Member, map[string]string{"owner": "an owner", "moderator": "a moderator", "member": "a member"}[c.Role], called)
}
