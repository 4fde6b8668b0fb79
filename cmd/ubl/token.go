package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"ubl/transport/auth"
)

// tokenCmd makes a bearer token. It needs the key alone, not a server; tenant 0
// receipts the token at its first use.
type tokenCmd struct {
	keyFileFlags
	Email   string `arg:"" help:"Whose token; with --service, the service's maker."`
	TTL     ttl    `name:"ttl" default:"12h" help:"How long it holds, 8784h at most."`
	Service string `help:"Make it for a service of this name, in the maker's tenant." placeholder:"NAME"`
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
