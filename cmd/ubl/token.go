package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"ubl"
	"ubl/transport/auth"
	"ubl/transport/web"
)

// tokenCmd makes a token. That of a person needs the key alone, not a server; tenant 0
// receipts it at its first use. An agent's is a service token, which owners list and revoke:
// the server is asked for it, as the maker (makeagent.go). Where none runs, the key signs one
// for the agent, which nobody sees in a list.
type tokenCmd struct {
	keyFileFlags
	mandateFlags
	Email   string `arg:"" help:"Whose token; with --service, the service's maker."`
	TTL     *ttl   `name:"ttl" help:"How long it holds, 8784h at most; 12h unless given, and 90 days for a service." placeholder:"12h"`
	Service string `help:"Make it for a service of this name, in the maker's tenant, who has to be an owner." placeholder:"NAME"`
	Client  string `name:"client" config:"-" help:"Print what this MCP client is told, with the service's token in it: claude-code, claude-desktop, cursor, vs-code, codex, gemini-cli, windsurf, zed or other. It needs a running server." placeholder:"CLIENT"`
}

// mandateFlags bound a service.
type mandateFlags struct {
	Rooms     []string `name:"room" config:"-" help:"Let the service into this room or container, and no other; may be repeated. This and the next five need a running server." placeholder:"ID"`
	Tools     []string `name:"tools" config:"-" help:"Tools that it may use, and no other, as messenger.* or room.get." placeholder:"NAME"`
	Sets      []string `name:"sets" config:"-" help:"Tool sets that it is shown first, as messenger or office." placeholder:"NAME"`
	ReadOnly  bool     `name:"read-only" config:"-" help:"It changes nothing."`
	PerMinute int      `name:"per-minute" config:"-" help:"How often it may use tools in a minute." placeholder:"N"`
	Confirm   string   `name:"confirm" config:"-" enum:"never,destructive,always" default:"never" help:"Before which of its uses of tools a person is asked, in its client: never, destructive or always." placeholder:"WHEN"`
	whichServer
}

// bind reports whether any of them is given.
func (f *mandateFlags) bind() bool {
	return len(f.Rooms)+len(f.Tools)+len(f.Sets)+f.PerMinute > 0 || f.ReadOnly || ubl.Confirm(f.Confirm).Kept() != ""
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

// personTTL is how long a token holds that the key alone signs.
const personTTL = 12 * time.Hour

// Run prints the token, and nothing else on standard output.
func (c *tokenCmd) Run(ctx context.Context, p *program) error {
	key, err := c.load()
	if err != nil {
		return err
	}
	if c.Service == "" {
		if c.bind() {
			return usagef("--room, --tools, --sets, --read-only, --per-minute and --confirm bind a service: name it with --service")
		}
		if c.Client != "" {
			return usagef("--client tells an agent's client of its token: name the agent with --service")
		}
		return c.sign(ctx, p, key)
	}
	if _, ok := web.ClientOf(c.Client); c.Client != "" && !ok {
		return usagef("--client is none that is known: use one of %s", strings.Join(clientIDs(), ", "))
	}
	at, err := c.server(ctx, p, key)
	switch {
	case err != nil:
		return err
	case at == nil:
		return c.sign(ctx, p, key)
	}
	return c.makeAgent(ctx, p, key, at)
}

// server is where a service is made, nil where the key alone makes it: at the server that the
// command line names, else at the one that runs over the data directory, once that has proved
// itself. What binds a service is known to servers only, and a client needs the address of one.
func (c *tokenCmd) server(ctx context.Context, p *program, key *auth.Key) (*serving, error) {
	if !p.given("url") && c.Profile == "" {
		here, err := running(c.Data)
		switch {
		case err != nil:
			return nil, err
		case here != nil:
			return here, p.prove(ctx, here, key)
		case !c.bind() && c.Client == "":
			return nil, nil
		}
	}
	at, _, err := c.place(p, "")
	if err != nil {
		return nil, err
	}
	return &serving{URL: at.url, proved: true}, nil // which the person has named
}

// holds is how long the token holds: as the command line says, else as is usual.
func (c *tokenCmd) holds(usual time.Duration) time.Duration {
	if c.TTL == nil {
		return usual
	}
	return time.Duration(*c.TTL)
}

// sign prints a token that the key alone makes.
func (c *tokenCmd) sign(ctx context.Context, p *program, key *auth.Key) error {
	token, _, err := key.Sign(auth.TokenSpec{Email: c.Email, Service: c.Service, TTL: c.holds(personTTL), Now: p.now(), Random: p.random})
	if err != nil {
		return err
	}
	if c.Service != "" {
		email, service := clean(c.Email), clean(c.Service)
		fmt.Fprintf(p.err, "No server runs over %s, so the key signed this: owners don't see it in a list, and can't revoke it. It ends in %s; while the server runs, the command makes one that can be.\n", quoted(c.Data), c.holds(personTTL))
		fmt.Fprintf(p.err, "%s acts in the tenant of %s, who has to be a member: as that person, sign in once before.\n", service, email)
	} else {
		c.tellHome(ctx, p, key)
	}
	_, err = fmt.Fprintln(p.out, token)
	return err
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

// clientIDs are the clients that --client knows.
func clientIDs() (ids []string) {
	for _, c := range web.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}
