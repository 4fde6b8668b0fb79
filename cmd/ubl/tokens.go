package main

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"ubl"
)

// tokensCmd makes tokens with the server's key, and sees to those that there are.
type tokensCmd struct {
	Create tokenCmd       `cmd:"" default:"withargs" help:"Print a bearer token, made with the server's key: ubl token EMAIL."`
	List   tokenListCmd   `cmd:"" help:"List your own tokens and sessions and, for owners, the service tokens of the tenant."`
	Revoke tokenRevokeCmd `cmd:"" help:"End a token or a session: whoever has it is nobody."`
}

type tokenListCmd struct {
	remote
	format
}

// listedToken is one of either kind.
type listedToken struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // token, session or service
	Name    string    `json:"name,omitempty"`
	Created ubl.Time  `json:"created_at"`
	Expires *ubl.Time `json:"expires_at"`
	// Current says that this command was asked with it.
	Current bool `json:"current,omitempty"`
	// Keeper answers for a service.
	Keeper ubl.UserID `json:"kept_by,omitempty"`
}

// Run lists them, with --json one a line. Of the service tokens those are left out that
// have ended.
func (c *tokenListCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	list, err := server.ownTokens(ctx)
	if err != nil {
		return err
	}
	services, err := server.serviceTokens(ctx)
	if err != nil {
		return err
	}
	now := ubl.TimeOf(p.now())
	for _, t := range services {
		if t.RevokedAt == nil && (t.ExpiresAt == nil || *t.ExpiresAt > now) {
			list = append(list, listedToken{ID: t.ClientID, Kind: "service", Name: t.Name, Created: t.CreatedAt, Expires: t.ExpiresAt, Keeper: t.Keeper()})
		}
	}
	if c.JSON {
		return printJSON(p.out, list)
	}
	from := people{server: server}
	return printTable(p.out, "KIND\tNAME\tMADE\tUNTIL\tID", list, func(t listedToken) string {
		until := "no end yet"
		if t.Expires != nil {
			until = local(*t.Expires)
		}
		name := t.Name
		switch {
		case t.Current:
			name = strings.TrimSpace(name + " (this one)")
		case t.Keeper != "":
			name += ", kept by " + from.called(ctx, t.Keeper)
		}
		return cells(t.Kind, name, local(t.Created), until, t.ID)
	})
}

// ownTokens are the caller's.
func (c *client) ownTokens(ctx context.Context) ([]listedToken, error) {
	var answer struct {
		Tokens []struct {
			JTI       string
			Kind      string
			Label     string
			CreatedAt ubl.Time `json:"created_at"`
			ExpiresAt ubl.Time `json:"expires_at"`
			Current   bool
		}
	}
	if err := c.call(ctx, "GET", "/api/tokens", nil, &answer); err != nil {
		return nil, err
	}
	list := make([]listedToken, len(answer.Tokens))
	for i, t := range answer.Tokens {
		list[i] = listedToken{ID: t.JTI, Kind: t.Kind, Name: t.Label, Created: t.CreatedAt, Expires: &t.ExpiresAt, Current: t.Current}
	}
	return list, nil
}

type tokenRevokeCmd struct {
	remote
	format
	ID string `arg:"" complete:"tokens" help:"The token's id, as the list has it; or the beginning of one, where no other begins so."`
}

// Run ends it. A service token's id holds a dot, a tenant's id behind it.
func (c *tokenRevokeCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	id, err := server.tokenID(ctx, p.now(), c.ID)
	if err != nil {
		return err
	}
	path, member := "/api/tokens/", ""
	if strings.Contains(id, ".") {
		path, member = "/api/service-tokens/", "service_token"
	}
	answer, err := server.act(ctx, p, "DELETE", path+url.PathEscape(id), nil, member)
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s is revoked: it lets nobody in any more", id)
}

// tokenID is the id of the one living token that begins so. What no list has stays as it
// is: operators revoke tokens that were never used.
func (c *client) tokenID(ctx context.Context, now time.Time, begins string) (string, error) {
	list, err := c.ownTokens(ctx)
	if err != nil {
		return "", err
	}
	services, err := c.serviceTokens(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, t := range list {
		if strings.HasPrefix(t.ID, begins) {
			found = append(found, t.ID)
		}
	}
	for _, t := range services {
		if strings.HasPrefix(t.ClientID, begins) && t.RevokedAt == nil {
			found = append(found, t.ClientID)
		}
	}
	if len(found) > 1 {
		return "", thenDo(usagef("%d tokens begin so", len(found)), `give more of the id; "ubl token list" has them`)
	}
	return cmp.Or(strings.Join(found, ""), begins), nil
}
