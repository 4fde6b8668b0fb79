package main

import (
	"context"
	"fmt"

	"ubl/transport/auth"
)

// askAsKeyholder asks a server on this machine something that only commands may which can
// read its key, about one address. The server proves before that it holds that key.
func (p *program) askAsKeyholder(ctx context.Context, here *serving, key *auth.Key, method, path, email string, answer any) error {
	if err := p.prove(ctx, here, key); err != nil {
		return err
	}
	voucher, err := key.Voucher(path, email, p.now(), p.random)
	if err != nil {
		return err
	}
	server := p.client(&target{url: here.URL, token: voucher})
	server.tries = 1
	return server.call(ctx, method, path, nil, answer)
}

// tellHome says what a person's token leads to, by the server that runs over the data
// directory: who is in no tenant would found one, or join one. Where no server runs nobody
// knows, and nothing is said.
func (c *tokenCmd) tellHome(ctx context.Context, p *program, key *auth.Key) {
	here, err := believed(c.Data)
	if here == nil || err != nil {
		return
	}
	var home auth.HomeAnswer
	err = p.askAsKeyholder(ctx, here, key, "GET", auth.HomePath, c.Email, &home)
	email := clean(c.Email)
	switch {
	case err != nil || home.Member:
	case home.Claimed:
		fmt.Fprintf(p.err, "%s is no member yet: the first request with this token joins %s.\n", email, home.TenantID)
	default:
		fmt.Fprintf(p.err, "%s is in no tenant yet: the first request with this token founds one, %s. To be in another, be invited into it.\n", email, home.TenantID)
	}
}

// openCmd opens the app, signed in where that is possible.
type openCmd struct {
	whichServer
	Email string `arg:"" optional:"" help:"Whom to sign in, on the server's own machine; the server's first owner unless given."`
	keyFileFlags
	Print bool `help:"Print the link instead of opening it." config:"-"`
}

// Run makes a fresh sign-in link where it may read the key of the server that runs over the
// data directory: whoever can, can sign anything. From elsewhere it opens the app, which
// asks for a passkey or a provider: a token makes no session, since sessions can do more.
func (c *openCmd) Run(ctx context.Context, p *program) error {
	if p.given("url") || c.Profile != "" {
		return c.openApp(p)
	}
	here, err := running(c.Data)
	switch {
	case err != nil:
		return err
	case here == nil:
		return c.openApp(p)
	}
	key, err := c.load()
	if err != nil {
		return err
	}
	if err := p.prove(ctx, here, key); err != nil {
		return err
	}
	if c.Email == "" {
		c.Email = here.Owner
	}
	var link auth.LinkAnswer
	if err := p.askAsKeyholder(ctx, here, key, "POST", auth.LinkPath, c.Email, &link); err != nil {
		return fmt.Errorf("couldn't get a link: %w", err)
	}
	fmt.Fprintf(p.err, "This signs in %s, once, within %d minutes.\n", clean(c.Email), link.Seconds/60)
	return p.browse(ctx, here.At+link.Path, c.Print)
}

// openApp opens the app of a server where people sign in by themselves.
func (c *openCmd) openApp(p *program) error {
	at, _, err := c.place(p, "")
	if err != nil {
		return err
	}
	if c.Email != "" {
		return thenDo(usagef("a link for %s is made on the server's own machine", clean(c.Email)), "run it there, with --data; or open %s/ui/ and sign in", at.url)
	}
	fmt.Fprintln(p.err, "Sign in there with a passkey or at your provider.")
	return p.browse(context.Background(), at.url+"/ui/", c.Print)
}
