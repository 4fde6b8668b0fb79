package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ubl"
)

// valuesWithin bounds how long a shell waits for values after the tab key.
const valuesWithin = 1500 * time.Millisecond

// valuesCmd prints what may stand at a place of the command line, one a line: completion
// scripts ask it. Flags and arguments say in their tag complete which kind they take. It
// says nothing where it doesn't know, and never fails: nobody asked for an error. Lists of
// documents, files and workspaces leave a receipt here, too.
type valuesCmd struct {
	remote
	Kind string `arg:"" help:"What to list."`
}

// values are the kinds, and how each is listed.
func values() map[string]func(context.Context, *client) ([]string, error) {
	return map[string]func(context.Context, *client) ([]string, error){
		"rooms": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/rooms", "rooms", func(r *ubl.RoomSummary) string { return strings.TrimPrefix(string(r.RoomID), "r:") })
		},
		"workspaces": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/workspaces", "workspaces", func(w *ubl.ContainerSummary) string { return string(w.ContainerID) })
		},
		"documents": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/workspaces/w:general/documents?limit=100", "documents", func(d *ubl.Document) string { return plainWord(d.Title, string(d.DocumentID)) })
		},
		"files": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/workspaces/w:general/files?limit=100", "files", func(f *ubl.File) string { return string(f.FileID) })
		},
		"members": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/tenant/members", "members", func(m *ubl.Member) string { return cmp.Or(m.Email, string(m.UserID)) })
		},
		"invitations": func(ctx context.Context, c *client) ([]string, error) {
			now := ubl.TimeOf(time.Now())
			return named(ctx, c, "/api/invitations", "invitations", func(i *ubl.Invitation) string {
				if !i.Open(now) {
					return ""
				}
				return i.Email
			})
		},
		"tools": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/portal/tools?limit=100", "tools", func(t *ubl.ToolListing) string { return t.Tool })
		},
		"servers": func(ctx context.Context, c *client) ([]string, error) {
			return named(ctx, c, "/api/portal/servers", "servers", func(s *ubl.Server) string { return s.ServerID })
		},
		"tokens": func(ctx context.Context, c *client) ([]string, error) {
			own, err := c.ownTokens(ctx)
			if err != nil {
				return nil, err
			}
			services, err := c.serviceTokens(ctx)
			var ids []string
			for _, t := range own {
				ids = append(ids, t.ID)
			}
			for _, t := range services {
				if t.RevokedAt == nil {
					ids = append(ids, t.ClientID)
				}
			}
			return ids, err
		},
	}
}

// named lists what a server has, by one name for each.
func named[T any](ctx context.Context, c *client, path, member string, name func(*T) string) ([]string, error) {
	list, err := c.list(ctx, path, member)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(list))
	for _, raw := range list {
		one, err := formed[T](member, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, name(&one))
	}
	return out, nil
}

// plainWord is a text where it stands for itself in every shell, else what does.
func plainWord(text, instead string) string {
	if quoted(text) == text && text != "" {
		return text
	}
	return instead
}

// Run lists them.
func (c *valuesCmd) Run(ctx context.Context, p *program) error {
	if c.Kind == "profiles" {
		profiles, err := p.profiles()
		if err != nil {
			return nil
		}
		return c.print(p, profiles.names())
	}
	list, known := values()[c.Kind]
	if !known {
		return nil
	}
	p.err = io.Discard
	server, err := c.client(p)
	if err != nil {
		return nil
	}
	server.tries = 1
	ctx, cancel := context.WithTimeout(ctx, valuesWithin)
	defer cancel()
	found, err := list(ctx, server)
	if err != nil {
		return nil
	}
	return c.print(p, found)
}

// print leaves out what no shell takes as one word.
func (c *valuesCmd) print(p *program, found []string) error {
	slices.Sort(found)
	for _, one := range slices.Compact(found) {
		if plainWord(clean(one), "") != "" {
			fmt.Fprintln(p.out, one)
		}
	}
	return nil
}
