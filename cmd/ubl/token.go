package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ubl"
	"ubl/transport/auth"
)

// tokenCmd makes a bearer token. It needs the key alone, not a server; tenant 0
// receipts the token at its first use. An agent that is bound needs a record of what binds it:
// for that the running server is asked, as the maker, and a service token is printed.
type tokenCmd struct {
	keyFileFlags
	mandateFlags
	Email   string `arg:"" help:"Whose token; with --service, the service's maker."`
	TTL     ttl    `name:"ttl" default:"12h" help:"How long it holds, 8784h at most."`
	Service string `help:"Make it for a service of this name, in the maker's tenant." placeholder:"NAME"`
}

// mandateFlags bound a service.
type mandateFlags struct {
	Rooms     []string `name:"room" config:"-" help:"Let the service into this room or container, and no other; may be repeated. This and the next four ask the server, where the maker is an owner." placeholder:"ID"`
	Tools     []string `name:"tools" config:"-" help:"Tools that it may use, and no other, as messenger.* or room.get." placeholder:"NAME"`
	Sets      []string `name:"sets" config:"-" help:"Tool sets that it is shown first, as messenger or office." placeholder:"NAME"`
	ReadOnly  bool     `name:"read-only" config:"-" help:"It changes nothing."`
	PerMinute int      `name:"per-minute" config:"-" help:"How often it may use tools in a minute." placeholder:"N"`
	whichServer
}

// bind reports whether any of them is given.
func (f *mandateFlags) bind() bool {
	return len(f.Rooms)+len(f.Tools)+len(f.Sets)+f.PerMinute > 0 || f.ReadOnly
}

// ttl is how long something holds. One that no duration can be is the longest, so that its
// refusal says what may be.
type ttl time.Duration

// durationForm is what a duration looks like, however long it is.
var durationForm = regexp.MustCompile(`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *ttl) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	switch {
	case err == nil:
	case durationForm.Match(text):
		d = math.MaxInt64
	default:
		return errors.New("expected a duration, like 12h")
	}
	*t = ttl(d)
	return nil
}

// Run prints the token, and nothing else on standard output, once the server that runs over
// the data directory has said where it leads ([tokenCmd.tellHome]).
func (c *tokenCmd) Run(ctx context.Context, p *program) error {
	key, err := c.load()
	if err != nil {
		return err
	}
	if c.bind() {
		return c.makeAgent(ctx, p, key)
	}
	token, _, err := key.Sign(auth.TokenSpec{Email: c.Email, Service: c.Service, TTL: time.Duration(c.TTL), Now: p.now(), Random: p.random})
	if err != nil {
		return err
	}
	if err := c.tellHome(ctx, p, key); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, token)
	return err
}

// makeAgent has the server make a service token with a mandate, lets the service into its
// places, and prints the two headers that it sends. Where it can't be let in, the token ends.
func (c *tokenCmd) makeAgent(ctx context.Context, p *program, key *auth.Key) error {
	if c.Service == "" {
		return usagef("--room, --tools, --sets, --read-only and --per-minute bind a service: name it with --service")
	}
	if time.Duration(c.TTL) > ubl.MaxServiceTokenTTL {
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
	server, err := c.maker(p, key)
	if err != nil {
		return err
	}
	id, err := ubl.NewRequestID(p.random)
	if err != nil {
		return err
	}
	body := map[string]any{
		"name": c.Service, "client_request_id": id, "expires_at": ubl.TimeOf(p.now()).Add(time.Duration(c.TTL)),
		"mandate": ubl.Mandate{Sets: list(c.Sets), Tools: list(c.Tools), ReadOnly: c.ReadOnly, Places: places, PerMinute: c.PerMinute},
	}
	var made struct {
		Token  ubl.ServiceToken `json:"service_token"`
		Secret *string          `json:"client_secret"`
	}
	if err := server.call(ctx, "POST", "/api/service-tokens", body, &made); err != nil {
		return err
	}
	if made.Secret == nil {
		err = errors.New("its secret was lost on the way")
	}
	for _, place := range places {
		if err == nil {
			err = server.letIn(ctx, place, made.Token.UserID)
		}
	}
	if err != nil {
		if ended := server.call(ctx, "DELETE", "/api/service-tokens/"+url.PathEscape(made.Token.ClientID), nil, &struct{}{}); ended != nil {
			return fmt.Errorf("couldn't make the agent: %w; its token %s is left: revoke it", err, clean(made.Token.ClientID))
		}
		return fmt.Errorf("couldn't make the agent: %w", err)
	}
	fmt.Fprintf(p.err, "%s is an agent of the tenant until %s. It sends these two headers:\n", clean(c.Service), made.Token.ExpiresAt)
	_, err = fmt.Fprintf(p.out, "CF-Access-Client-Id: %s\nCF-Access-Client-Secret: %s\n", clean(made.Token.ClientID), clean(*made.Secret))
	return err
}

// maker is a client as the service's maker, for as long as this takes.
func (c *tokenCmd) maker(p *program, key *auth.Key) (*client, error) {
	token, _, err := key.Sign(auth.TokenSpec{Email: c.Email, TTL: 5 * time.Minute, Now: p.now(), Random: p.random})
	if err != nil {
		return nil, err
	}
	at, _, err := c.place(p, "")
	if err != nil {
		return nil, err
	}
	if here := servingOver(c.Data); here != nil && !p.given("url") && c.Profile == "" {
		if err := p.prove(context.Background(), here, key); err != nil {
			return nil, err
		}
		at.url = here.URL
	}
	return p.client(&target{url: at.url, token: token}), nil
}

// letIn makes a member of somebody in a room or container.
func (c *client) letIn(ctx context.Context, place string, who ubl.UserID) error {
	of := "rooms/"
	if !ubl.RoomID(place).Valid() {
		of = "containers/"
	}
	return c.call(ctx, "POST", "/api/"+of+place+"/members", map[string]any{"user_id": who}, &struct{}{})
}

// placeID takes a room with or without its prefix, or a container by its id.
func placeID(s string) (string, error) {
	if ubl.ContainerID(s).Valid() {
		return s, nil
	}
	room, err := roomID(strings.TrimSpace(s))
	if err != nil {
		return "", usagef("--room is not the id of a room or a container, like general or w:general")
	}
	return string(room), nil
}

// list is never nil, as JSON has it.
func list(s []string) []string { return append([]string{}, s...) }
