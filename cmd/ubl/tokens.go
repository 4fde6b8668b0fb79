package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
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
	// Mandate is what binds a service; nil for one that nothing binds.
	Mandate *ubl.Mandate `json:"mandate,omitempty"`
}

// bounds are what binds a service, each after a semicolon.
func (t *listedToken) bounds() string {
	m := t.Mandate
	if m == nil {
		return ""
	}
	var bounds []string
	if len(m.Places) > 0 {
		bounds = append(bounds, "in "+strings.Join(m.Places, ", "))
	}
	if len(m.Tools) > 0 {
		bounds = append(bounds, strings.Join(m.Tools, ", "))
	}
	if m.ReadOnly {
		bounds = append(bounds, "changes nothing")
	}
	if m.PerMinute > 0 {
		bounds = append(bounds, fmt.Sprintf("%d a minute", m.PerMinute))
	}
	if m.Confirm != "" {
		bounds = append(bounds, asksFirst(m.Confirm))
	}
	if len(bounds) == 0 {
		return ""
	}
	return "; " + strings.Join(bounds, "; ")
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
		if inForce(t, now) {
			list = append(list, listedToken{ID: t.ClientID, Kind: "service", Name: t.Name, Created: t.CreatedAt, Expires: t.ExpiresAt, Keeper: t.Keeper(), Mandate: t.Mandate})
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
			name += ", kept by " + from.called(ctx, t.Keeper) + t.bounds()
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
	ID string `arg:"" complete:"tokens" help:"The token's id, as the list has it; or the beginning of one, where no other begins so; or the name of an agent, where no other has it."`
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

// inForce reports whether a service token lets its service in.
func inForce(t ubl.ServiceToken, now ubl.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || *t.ExpiresAt > now)
}

// tokenID is the id of the one living token that begins so, else of the one agent that is
// called so. A whole id that no list has stays as it is: operators revoke tokens that were
// never used.
func (c *client) tokenID(ctx context.Context, now time.Time, named string) (string, error) {
	list, err := c.ownTokens(ctx)
	if err != nil {
		return "", err
	}
	services, err := c.serviceTokens(ctx)
	if err != nil {
		return "", err
	}
	var begin, called []string
	for _, t := range list {
		if strings.HasPrefix(t.ID, named) {
			begin = append(begin, t.ID)
		}
	}
	for _, t := range services {
		switch {
		case !inForce(t, ubl.TimeOf(now)):
		case strings.HasPrefix(t.ClientID, named):
			begin = append(begin, t.ClientID)
		case t.Name == named:
			called = append(called, t.ClientID)
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		return "", thenDo(usagef("%d tokens begin so", len(begin)), `give more of the id; "ubl token list" has them`)
	case len(called) == 1:
		return called[0], nil
	case len(called) > 1:
		return "", thenDo(usagef("%d tokens have this name", len(called)), `give the id; "ubl token list" has them`)
	case wholeID.MatchString(named):
		return named, nil
	}
	return "", thenDo(errors.New("no token in force has this id or name"), `"ubl token list" lists them`)
}

// wholeID is the form of a token's id, and with a tenant's id behind it of a service token's.
var wholeID = regexp.MustCompile(`^[0-9a-f]{32}(\.t:.+)?$`)
