package main

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"ubl"
)

// roomCmd makes rooms, and goes in and out.
type roomCmd struct {
	List     roomsCmd        `cmd:"" help:"List the rooms that you are in, and those that you may join."`
	Create   roomCreateCmd   `cmd:"" help:"Make a room, which you own."`
	Describe roomDescribeCmd `cmd:"" help:"Say what a room is called and about."`
	Policy   roomPolicyCmd   `cmd:"" help:"Change who may join, who writes, and after how long messages disappear."`
	Join     roomJoinCmd     `cmd:"" help:"Join a room that everyone of the tenant may join."`
	Leave    roomLeaveCmd    `cmd:"" help:"Leave a room."`
	Archive  roomArchiveCmd  `cmd:"" help:"End a room for good: its members can still read it, and nobody writes any more."`
}

type roomCreateCmd struct {
	remote
	format
	Name    string  `arg:"" help:"What to call it; the id follows from that."`
	Join    string  `default:"invite" enum:"invite,tenant" help:"Who may join: invite is whom an owner adds, tenant everyone." config:"-"`
	Posting string  `default:"everyone" enum:"everyone,moderators,threads" help:"Who writes messages: moderators are owners and moderators alone, threads everybody else too, in threads." config:"-"`
	Keep    keeping `help:"How long messages are kept, as 30d or 8h; 0 for ever." placeholder:"TIME" config:"-"`

	Permeability string `default:"" enum:",collaborative,gated,sealed" help:"Who writes and takes messages out, for the room's whole life: in a collaborative room (the usual) members do both, in a gated one owners take out, in a sealed one nobody writes." config:"-"`
	Execution    string `default:"" enum:",disabled,sandboxed,full" help:"Whether anything may be run inside, for the room's whole life; sandboxed is the usual." config:"-"`
}

// body is what is asked for. Without flags the room gets the usual physics.
func (c *roomCreateCmd) body() map[string]any {
	body := map[string]any{"name": c.Name}
	if c.Permeability != "" || c.Execution != "" {
		physics := ubl.RoomPhysics()
		physics.Permeability = cmp.Or(ubl.Permeability(c.Permeability), physics.Permeability)
		physics.Execution = cmp.Or(ubl.Execution(c.Execution), physics.Execution)
		body["physics"] = physics
	}
	return body
}

// Run makes it. Its policy is a second act, where it isn't the usual one.
func (c *roomCreateCmd) Run(ctx context.Context, p *program) error {
	if strings.TrimSpace(c.Name) == "" {
		return thenDo(usagef("the room's name is empty"), "name it, as in \"ubl room create Plans\"")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "POST", "/api/rooms", c.body(), "room")
	if err != nil {
		return err
	}
	made, err := formed[ubl.RoomSummary]("a room", answer)
	if err != nil {
		return err
	}
	policy := map[string]any{}
	if p.given("join") {
		policy["join"] = c.Join
	}
	if p.given("keep") {
		c.Keep.in(policy)
	}
	if p.given("posting") {
		policy["posting"] = c.Posting
	}
	if len(policy) > 0 {
		if _, err := server.act(ctx, p, "PATCH", "/api/rooms/"+string(made.RoomID)+"/policy", policy, ""); err != nil {
			return thenDo(err, "the room %s was made, with the usual rules", made.RoomID)
		}
	}
	return c.say(p.out, answer, "%s is made; \"ubl send %s TEXT\" writes into it", made.RoomID, made.RoomID)
}

type roomPolicyCmd struct {
	remote
	format
	oneRoom
	Join    string  `default:"invite" enum:"invite,tenant" help:"Who may join: invite is whom an owner adds, tenant everyone." config:"-"`
	Posting string  `default:"everyone" enum:"everyone,moderators,threads" help:"Who writes messages: moderators are owners and moderators alone, threads everybody else too, in threads." config:"-"`
	Keep    keeping `help:"How long messages are kept, as 30d or 8h; forever keeps them. Their receipts stay." placeholder:"TIME" config:"-"`
}

// Run changes what is given.
func (c *roomPolicyCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	policy := map[string]any{}
	if p.given("join") {
		policy["join"] = c.Join
	}
	if p.given("posting") {
		policy["posting"] = c.Posting
	}
	if p.given("keep") {
		c.Keep.in(policy)
	}
	if len(policy) == 0 {
		return thenDo(usagef("nothing is to change"), "give --keep, --join or --posting")
	}
	return patchRoom(ctx, p, c.remote, c.format, room, "policy", policy, "%s has these rules now")
}

// patchRoom changes a part of a room, and says so.
func patchRoom(ctx context.Context, p *program, r remote, f format, room ubl.RoomID, part string, patch map[string]any, said string) error {
	server, err := r.client(p)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "PATCH", "/api/rooms/"+string(room)+"/"+part, patch, "room")
	if err != nil {
		return inRoom(err)
	}
	return f.say(p.out, answer, said, room)
}

type roomDescribeCmd struct {
	remote
	format
	oneRoom
	Name        *string `help:"What to call it from now on; its id stays." config:"-"`
	Topic       *string `help:"What it is about, in one line; an empty one takes it away." config:"-"`
	Description *string `help:"More about it, in Markdown; an empty one takes it away." config:"-"`
}

// Run says what is given.
func (c *roomDescribeCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	patch := map[string]any{}
	for name, text := range map[string]*string{"name": c.Name, "topic": c.Topic, "description": c.Description} {
		if text != nil {
			patch[name] = *text
		}
	}
	if len(patch) == 0 {
		return thenDo(usagef("nothing is said about the room"), "give --name, --topic or --description")
	}
	return patchRoom(ctx, p, c.remote, c.format, room, "about", patch, "%s says so now")
}

type roomJoinCmd struct {
	remote
	format
	oneRoom
}

// Run joins.
func (c *roomJoinCmd) Run(ctx context.Context, p *program) error {
	return c.visit(ctx, p, &c.remote, c.format, "join", "you are in %s")
}

type roomLeaveCmd struct {
	remote
	format
	oneRoom
}

// Run leaves.
func (c *roomLeaveCmd) Run(ctx context.Context, p *program) error {
	return c.visit(ctx, p, &c.remote, c.format, "leave", "you have left %s")
}

// visit goes in or out.
func (r *oneRoom) visit(ctx context.Context, p *program, at *remote, f format, how, done string) error {
	room, err := r.id()
	if err != nil {
		return err
	}
	server, err := at.client(p)
	if err != nil {
		return err
	}
	answer, err := server.act(ctx, p, "POST", "/api/rooms/"+string(room)+"/"+how, nil, "member")
	if err != nil {
		return inRoom(err)
	}
	return f.say(p.out, answer, done, room)
}

type roomArchiveCmd struct {
	remote
	format
	oneRoom
	sure
}

// Run ends the room's Agreement: that is what ends a room.
func (c *roomArchiveCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err == nil {
		err = c.ask("this ends " + string(room) + " for good")
	}
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	path := "/api/agreements/" + url.PathEscape(string(ubl.RoomAgreement(room))) + "/end"
	answer, err := server.act(ctx, p, "POST", path, nil, "agreement")
	if err != nil {
		return inRoom(err)
	}
	return c.say(p.out, answer, "%s has ended: members read it, and nobody writes any more", room)
}
