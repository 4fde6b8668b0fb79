package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"ubl"
	"ubl/transport/auth"
	"ubl/transport/web"
)

// madeAgent is what the server answers to who makes a service token.
type madeAgent struct {
	Token  ubl.ServiceToken `json:"service_token"`
	Secret *string          `json:"client_secret"`
}

// makeAgent has a server make a service token, lets the service into its places, and prints
// the token as one string. Before anything is asked as the maker, the server says that they
// are a member: else the question alone would make them one, or found a tenant.
func (c *tokenCmd) makeAgent(ctx context.Context, p *program, key *auth.Key, at *serving) error {
	if c.holds(0) > ubl.MaxServiceTokenTTL {
		return usagef("--ttl is %dh at most", ubl.MaxServiceTokenTTL/time.Hour)
	}
	places := []string{}
	for _, room := range c.Rooms {
		place, err := placeID(room)
		if err != nil {
			return err
		}
		places = append(places, place)
	}
	tenant, err := c.makersTenant(ctx, p, key, at)
	if err != nil {
		return err
	}
	server, end, err := c.maker(p, key, at)
	if err != nil {
		return err
	}
	defer end(ctx)
	if err := c.lookUp(ctx, p, server, places); err != nil {
		return err
	}
	made, err := c.create(ctx, p, server, places)
	if err != nil {
		return err
	}
	token, err := server.outfit(ctx, made, places)
	if err != nil {
		if ended := server.call(ctx, "DELETE", "/api/service-tokens/"+url.PathEscape(made.Token.ClientID), nil, &struct{}{}); ended != nil {
			return fmt.Errorf("couldn't make the agent: %w; its token %s is left: revoke it", err, clean(made.Token.ClientID))
		}
		return fmt.Errorf("couldn't make the agent: %w", err)
	}
	until := "it is revoked"
	if made.Token.ExpiresAt != nil {
		until = local(*made.Token.ExpiresAt)
	}
	fmt.Fprintf(p.err, "%s acts in %s, the tenant of %s, until %s; \"ubl token revoke %s\" ends it before.\n",
		clean(c.Service), tenant, clean(c.Email), until, clean(made.Token.ClientID))
	return c.hand(p, token, server.base)
}

// hand prints the token, or what a client is told with the token in it.
func (c *tokenCmd) hand(p *program, token, base string) error {
	if client, ok := web.ClientOf(c.Client); ok {
		text, link := client.Token.Fill(base+"/portal/mcp", token)
		if link != "" {
			fmt.Fprintf(p.err, "Open this on the machine that has %s:\n%s\n", client.Label, link)
		}
		fmt.Fprintln(p.err, client.Token.Where)
		token = text
	}
	_, err := fmt.Fprintln(p.out, token)
	return err
}

// makersTenant is the tenant that the maker is a member of.
func (c *tokenCmd) makersTenant(ctx context.Context, p *program, key *auth.Key, at *serving) (ubl.TenantID, error) {
	var home auth.HomeAnswer
	if err := p.askAsKeyholder(ctx, at, key, "GET", auth.HomePath, c.Email, &home); err != nil {
		return "", fmt.Errorf("couldn't ask where %s belongs: %w", clean(c.Email), err)
	}
	if home.Member {
		return home.TenantID, nil
	}
	email, service, member := clean(c.Email), clean(c.Service), "OWNER"
	if at.Owner != "" { // which the server has proved
		member = at.Owner
	}
	return "", thenDo(fmt.Errorf("couldn't make a token for %s: it would act in the tenant of %s, who is in none", service, email),
		`name a member's address, as in "ubl token %s --service %s"; or sign in once as %s, which founds a tenant`, member, service, email)
}

// maker is a client as the service's maker, and what ends its token: else the maker would find
// one in their list that they know nothing of, for five minutes.
func (c *tokenCmd) maker(p *program, key *auth.Key, at *serving) (*client, func(context.Context), error) {
	token, made, err := key.Sign(auth.TokenSpec{Email: c.Email, TTL: 5 * time.Minute, Now: p.now(), Random: p.random})
	if err != nil {
		return nil, nil, err
	}
	server := p.client(&target{url: at.URL, token: token})
	return server, func(ctx context.Context) {
		server.tries = 1
		_ = server.call(ctx, "DELETE", "/api/tokens/"+url.PathEscape(made.JTI), nil, &struct{}{}) // it ends by itself soon
	}, nil
}

// lookUp refuses places that the maker doesn't know, and tells of an agent that is called the
// same: it stays, and names are no ids.
func (c *tokenCmd) lookUp(ctx context.Context, p *program, server *client, places []string) error {
	for _, place := range places {
		if err := server.call(ctx, "GET", placePath(place), nil, &struct{}{}); err != nil {
			return fmt.Errorf("couldn't look %s up: %w", place, inRoom(err))
		}
	}
	members, _, err := server.members(ctx)
	if err != nil {
		return err
	}
	for _, raw := range members {
		m, err := formed[ubl.Member]("a member", raw)
		if err != nil {
			return err
		}
		if m.IsService && strings.EqualFold(m.Name, c.Service) {
			fmt.Fprintf(p.err, "An agent called %s is there already (%s): it stays, and this makes another.\n", clean(c.Service), clean(string(m.UserID)))
			return nil
		}
	}
	return nil
}

// known refuses names of tools that no tool has, which would let the agent use nothing.
func (c *tokenCmd) known(ctx context.Context, server *client) error {
	if len(c.Tools) == 0 {
		return nil
	}
	list, err := server.tools(ctx)
	if refusal, ok := errors.AsType[*apiError](err); ok && refusal.body.Error.Code == ubl.CodeForbidden {
		return nil // no owner, whom the making refuses in better words
	}
	if err != nil {
		return err
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Tool
	}
	for _, name := range c.Tools {
		begins, several := strings.CutSuffix(name, "*")
		fits := func(tool string) bool { return tool == name || several && strings.HasPrefix(tool, begins) }
		if slices.ContainsFunc(names, fits) {
			continue
		}
		hint := cmp.Or(meant(name, names), `"ubl tool list" lists them`)
		if slices.ContainsFunc(names, func(tool string) bool { return strings.HasPrefix(tool, name+".") }) {
			hint = "did you mean " + name + ".*?"
		}
		return thenDo(usagef("there is no tool %s", clean(name)), "%s", clean(hint))
	}
	return nil
}

// create makes the service token, with a mandate where something binds it.
func (c *tokenCmd) create(ctx context.Context, p *program, server *client, places []string) (*madeAgent, error) {
	if err := c.known(ctx, server); err != nil {
		return nil, err
	}
	id, err := ubl.NewRequestID(p.random)
	if err != nil {
		return nil, err
	}
	body := map[string]any{
		"name": c.Service, "client_request_id": id, "expires_at": ubl.TimeOf(p.now()).Add(c.holds(ubl.ServiceTokenTTL)),
	}
	if c.bind() {
		body["mandate"] = ubl.Mandate{Sets: list(c.Sets), Tools: list(c.Tools), ReadOnly: c.ReadOnly, Places: places, PerMinute: c.PerMinute, Confirm: ubl.Confirm(c.Confirm).Kept()}
	}
	var made madeAgent
	err = server.call(ctx, "POST", "/api/service-tokens", body, &made)
	if refusal, ok := errors.AsType[*apiError](err); ok && refusal.body.Error.Code == ubl.CodeForbidden {
		err = thenDo(err, "agents are made by owners of the tenant: name one's address; other members connect an agent by its sign-in, at %s/portal/mcp", server.base)
	}
	return &made, err
}

// outfit lets a service into its places, and says its token as one string.
func (c *client) outfit(ctx context.Context, made *madeAgent, places []string) (token string, err error) {
	if made.Secret != nil {
		token = auth.ServiceBearer(made.Token.ClientID, *made.Secret)
	}
	if token == "" {
		return "", errors.New("its secret was lost on the way")
	}
	for _, place := range places {
		if err := c.call(ctx, "POST", placePath(place)+"/members", map[string]any{"user_id": made.Token.UserID}, &struct{}{}); err != nil {
			return "", err
		}
	}
	return token, nil
}

// placePath is the path of a room or a container.
func placePath(place string) string {
	if ubl.RoomID(place).Valid() {
		return "/api/rooms/" + place
	}
	return "/api/containers/" + place
}
