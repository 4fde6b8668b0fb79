package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/transport/auth"
	"ubl/transport/envelope"
)

// linkTTL is how long the owner's sign-in link holds.
const linkTTL = 10 * time.Minute

// reached is where browsers reach the server. Where this machine's name stands for
// the address it is that, since passkeys belong to names.
func (c *serveCmd) reached(d *doors) string {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	address := d.main.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (ip.IsUnspecified() || ip.Equal(net.IPv4(127, 0, 0, 1)) || ip.Equal(net.IPv6loopback)) {
		address = net.JoinHostPort("localhost", port)
	}
	return "http://" + address
}

// greet prints where the server is and how to use it from a terminal.
func (c *serveCmd) greet(p *program, d *doors, log *slog.Logger) {
	address := d.main.Addr().String()
	var said strings.Builder // at once: who reads the first line finds the others
	fmt.Fprintf(&said, "data in %s\nlistening on %s\n", c.Data, openable(d.main.Addr()))
	if d.admin != nil {
		fmt.Fprintf(&said, "admin on %s\n", openable(d.admin.Addr()))
	}
	fmt.Fprintf(&said, "\nIn another terminal %s:\n", p.here())
	said.WriteString(p.copyable(fmt.Sprintf("  export UBL_TOKEN=$(ubl token %s --data %s) UBL_URL=%s\n  ubl rooms\n\n", c.Owner, quoted(c.Data), c.reached(d))))
	fmt.Fprint(p.out, said.String())
	if !loopback(address) && !strings.HasPrefix(c.PublicURL, "https://") {
		log.Warn("the server can be reached from other machines without TLS: put a proxy with TLS in front and name it with --public-url https://…")
	}
	if c.AdminListen != "" && !loopback(c.adminAddress()) {
		log.Warn("the admin address can be reached from other machines and has no authentication")
	}
}

// invite prints the owner's sign-in link once tenant 0 has recorded it. Only what
// may go better another time is an error.
func (c *serveCmd) invite(ctx context.Context, p *program, a *auth.Authenticator, at string, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, chore)
	defer cancel()
	path, err := a.OfferLink(ctx, c.Owner, linkTTL)
	if err != nil {
		log.Error("couldn't make a sign-in link", "error", err)
		if ubl.CodeOf(err).Status() < 500 {
			return nil
		}
		return err
	}
	fmt.Fprintf(p.out, "Open this to sign in as %s (once, within ten minutes):\n  %s%s\nThe mark behind each message there is its receipt: press it to check it.\n\n", c.Owner, at, path)
	return nil
}

// printConfirmation prints the link by which somebody with neither passkey nor provider
// confirms that it is them. It works in their browser alone.
func (c *serveCmd) printConfirmation(p *program, email, link string) {
	fmt.Fprintf(p.out, "%s wants to confirm a sign-in. Open this in the same browser (once, within ten minutes):\n  %s\n\n", email, link)
}

// thenInvite invites once the start is receipted: now, or after what is yet to be
// tried again. It returns that, nil for nothing.
func thenInvite(ctx context.Context, again, invite func(context.Context) error) func(context.Context) error {
	if again == nil && invite(ctx) == nil {
		return nil
	}
	return func(ctx context.Context) error {
		if again != nil {
			if err := again(ctx); err != nil {
				return err
			}
		}
		return invite(ctx)
	}
}

// openable is an address that can be opened: one that stands for all of this machine can't.
func openable(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if err != nil || !net.ParseIP(host).IsUnspecified() {
		return "http://" + at.String()
	}
	return "http://" + net.JoinHostPort("localhost", port)
}

// tellReady logs that the node is ready once its start is receipted: now, or after what is
// yet to be tried again, which it returns.
func tellReady(log *slog.Logger, again func(context.Context) error) func(context.Context) error {
	ready := sync.OnceFunc(func() { log.Info("ready") })
	if again == nil {
		ready()
		return nil
	}
	log.Info("listening, and not ready yet: the start can't be receipted before the node can write, in a cluster with most of its nodes")
	return func(ctx context.Context) error {
		err := again(ctx)
		if err == nil {
			ready()
		}
		return err
	}
}

// loopback reports whether an address is on this machine only.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && envelope.Loopback(host)
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+@:,", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
