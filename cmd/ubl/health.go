package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// healthTimeout bounds one question: a node that takes longer isn't well.
	healthTimeout = 3 * time.Second
	// healthPause lies between two questions of --wait.
	healthPause = 250 * time.Millisecond
)

// healthCmd asks a server how it is. Containers without a shell check
// themselves with it, and operators wait with it.
type healthCmd struct {
	whichServer
	Live bool          `help:"Ask whether the process runs (/healthz), not whether it takes requests (/readyz)."`
	Wait time.Duration `help:"Ask again until the answer is yes, for at most this long." placeholder:"DURATION"`
}

// Run ends well where the server answers yes. It needs no token.
func (c *healthCmd) Run(ctx context.Context, p *program) error {
	at, _, err := c.place(p, "")
	if err != nil {
		return err
	}
	path, word := "/readyz", "ready"
	if c.Live {
		path, word = "/healthz", "alive"
	}
	if err := c.persist(ctx, p, p.client(&target{url: at.url}), path); err != nil {
		return fmt.Errorf("not %s: %w", word, err)
	}
	_, err = fmt.Fprintln(p.out, word)
	return err
}

// persist asks until the answer is yes or the patience ends.
func (c *healthCmd) persist(ctx context.Context, p *program, server *client, path string) error {
	for end := p.now().Add(c.Wait); ; {
		err := server.health(ctx, path)
		if err == nil || !p.now().Before(end) || !every(ctx, healthPause) {
			return err
		}
	}
}

// health asks once. The server's own words say why not.
func (c *client) health(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	resp, err := c.open(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp)
	}
	return nil
}
