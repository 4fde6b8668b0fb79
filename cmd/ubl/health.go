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
	if err := c.persist(ctx, p, at.url+path); err != nil {
		return fmt.Errorf("not %s: %w", word, err)
	}
	_, err = fmt.Fprintln(p.out, word)
	return err
}

// persist asks until the answer is yes or the patience ends.
func (c *healthCmd) persist(ctx context.Context, p *program, url string) error {
	for end := p.now().Add(c.Wait); ; {
		err := askHealth(ctx, url)
		if err == nil || !p.now().Before(end) || !every(ctx, healthPause) {
			return err
		}
	}
}

// askHealth asks once. The server's own words say why not.
func askHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// A redirect leads to somebody else, whose health says nothing.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("couldn't reach the server: %w", reason(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp)
	}
	return nil
}
