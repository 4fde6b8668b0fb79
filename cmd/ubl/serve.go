package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"ubl"
	"ubl/transport"
)

// serveCmd runs the server.
type serveCmd struct {
	Data        string        `default:"./ubl-data" type:"path" help:"Data directory; made where it is missing." placeholder:"DIR"`
	Listen      string        `default:"127.0.0.1:8080" help:"Address to listen on; port 0 picks one." placeholder:"HOST:PORT"`
	Owner       string        `default:"owner@localhost" help:"Whom to tell how to sign in." placeholder:"EMAIL"`
	Operator    []string      `help:"Who owns tenant 0, which runs the platform; may be repeated." placeholder:"EMAIL"`
	Domain      []string      `help:"Mail domain whose verified addresses join its tenant: example.com is t:example.com's, example.com=t:acme that one's; may be repeated." placeholder:"DOMAIN"`
	DNSServer   string        `name:"dns-server" help:"DNS resolver that claims of domains are checked with, instead of the system's." placeholder:"HOST:PORT"`
	PublicURL   string        `name:"public-url" help:"Where the server is reached from outside." placeholder:"URL"`
	PublicHost  string        `name:"public-host" help:"Host name under which what is public is served at /, and nothing else; it is at /public/ in any case." placeholder:"HOST"`
	AllowOrigin []string      `help:"Web origin whose pages may use the server; may be repeated." placeholder:"URL"`
	AdminListen string        `help:"Address for /metrics and pprof, without authentication; off by default." placeholder:"[HOST]:PORT"`
	LogLevel    string        `default:"info" enum:"debug,info,warn,error" help:"What is logged: debug, info, warn or error."`
	LogFormat   string        `default:"text" enum:"text,json" help:"How: text or json."`
	StopTimeout time.Duration `default:"10s" help:"How long requests under way may take when the server stops."`
	WebDir      string        `type:"existingdir" help:"Serve the app from this folder, read anew each time, instead of the one in the program." placeholder:"DIR"`
	S3ScrubRate int64         `name:"s3-scrub-rate" default:"262144" help:"How many bytes of the contents in a bucket are read and checked a second, by one node for all; 0 turns that off." placeholder:"N"`
	ScrubRate   int64         `default:"2097152" help:"How many bytes of the stored data are read and checked a second, in the background; 0 turns that off." placeholder:"N"`
	IdentityKey string        `type:"path" help:"The key that tokens are made with, instead of the one in --data." placeholder:"FILE"`

	limitFlags
	oidcFlags
	allowFlags
	previewFlags
	mailFlags
	callFlags
	scanFlags
	clusterFlags
	s3Flags
}

// Run opens everything, serves until ctx ends, and closes it in reverse.
func (c *serveCmd) Run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	lines := newLogWriter(p.err)
	defer lines.close()
	log := slog.New(c.handler(lines))
	doors, err := c.listen()
	if err != nil {
		return err
	}
	defer doors.close()
	n, err := c.open(ctx, p, doors, log)
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.serve(ctx, p, n, doors, log)
}

// open opens the node, alone or as one of a cluster.
func (c *serveCmd) open(ctx context.Context, p *program, d *doors, log *slog.Logger) (*node, error) {
	if err := errors.Join(c.bound(p), c.use(p)); err != nil {
		return nil, err
	}
	p.reach, p.scan = c.reach(p), c.scanFlags
	var err error
	if p.mail, err = c.mailFlags.options(p); err != nil {
		return nil, err
	}
	if p.calls, err = c.callFlags.servers(p); err != nil {
		return nil, err
	}
	if p.mail != nil {
		p.mail.At = c.reached(d)
	}
	warnWritable(log, c.Data)
	if err := tighten(c.Data); err != nil {
		return nil, fmt.Errorf("couldn't keep the data directory private: %w", err)
	}
	if c.ClusterListen == "" {
		held := mustHoldData(c.Data) == nil
		n, err := p.openNode(c.Data, log)
		if err == nil {
			n.held = held
		}
		return n, err
	}
	warnReadable(log, "the cluster's secret", c.ClusterSecretFile)
	return c.openMember(ctx, p, d, log)
}

// check refuses settings that make no sense, before anything is touched, and spells
// the public URL as browsers do.
func (c *serveCmd) check() error {
	for name, address := range map[string]string{"listen": c.Listen, "admin-listen": c.adminAddress(), "dns-server": c.DNSServer} {
		if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
			return usagef("--%s is not an address of the form HOST:PORT", name)
		}
	}
	for _, u := range append([]string{c.PublicURL}, c.AllowOrigin...) {
		if parsed, err := url.Parse(u); u != "" && (err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https") {
			return usagef("--public-url and --allow-origin are URLs that begin with http:// or https://")
		}
	}
	if u, err := url.Parse(c.PublicURL); err != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return usagef("--public-url is a host without a path, a query or a user: https://ubl.example.com")
	}
	if u, err := url.Parse("https://" + c.PublicHost + "/"); c.PublicHost != "" && (err != nil || u.Host != c.PublicHost || u.Port() != "" || u.Hostname() == "") {
		return usagef("--public-host is a host name alone: public.example.com")
	}
	if own, err := url.Parse(c.PublicURL); err == nil && c.PublicHost != "" && strings.EqualFold(own.Hostname(), c.PublicHost) {
		return usagef("--public-host is another name than that of --public-url, where the app is")
	}
	if min(c.ScrubRate, c.S3ScrubRate) < 0 {
		return usagef("--scrub-rate and --s3-scrub-rate are 0, which turns the scrub off, or more")
	}
	c.PublicURL = spelled(c.PublicURL)
	if ubl.EmailDomain(c.Owner) == "" {
		return usagef("--owner is not an email address")
	}
	for _, given := range c.Operator {
		if ubl.EmailDomain(given) == "" {
			return usagef("--operator is not an email address")
		}
	}
	tenants := map[string]ubl.TenantID{}
	for _, given := range c.Domain {
		domain, tenant, err := ubl.ParseDomain(given)
		if err != nil {
			return usagef("--domain: %s", plain(err))
		}
		if other, ok := tenants[domain]; ok && other != tenant {
			return usagef("--domain gives one domain to two tenants")
		}
		tenants[domain] = tenant
	}
	if err := c.allowFlags.check(); err != nil {
		return err
	}
	if err := c.limitFlags.check(); err != nil {
		return err
	}
	if err := c.clusterFlags.check(); err != nil {
		return err
	}
	if _, err := c.previewFlags.networks(); err != nil {
		return err
	}
	if err := errors.Join(c.mailFlags.check(), c.callFlags.check(), c.scanFlags.check()); err != nil {
		return err
	}
	return c.oidcFlags.check()
}

// domains are those of --domain, by domain.
func (c *serveCmd) domains() map[string]ubl.TenantID {
	out := map[string]ubl.TenantID{}
	for _, given := range c.Domain {
		if domain, tenant, err := ubl.ParseDomain(given); err == nil { // check has refused others
			out[domain] = tenant
		}
	}
	return out
}

// spelled is an address with its scheme and host in small letters, as it is compared
// letter by letter; what is no URL stays as it is.
func spelled(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

func (c *serveCmd) handler(w *logWriter) slog.Handler {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // kong has checked it
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return promptly{slog.NewJSONHandler(w, o), w}
	}
	return promptly{slog.NewTextHandler(w, o), w}
}

// serve brings up the transports over an open node, which it closes.
func (c *serveCmd) serve(ctx context.Context, p *program, n *node, doors *doors, log *slog.Logger) (err error) {
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.StopTimeout)
		defer cancel()
		err = fullHint(c.Data, errors.Join(err, n.close(closing)))
	}()
	f, err := c.front(p, n, c.reached(doors), doors.main.Addr().String(), log)
	if err != nil {
		return err
	}
	defer f.auth.Close()
	defer f.anyone.Close()
	again, err := n.start(ctx, n.key.Load())
	if err != nil {
		return err
	}
	failed := doors.serve(f.server)
	notify(log, daemon.SdNotifyReady)
	forget, err := c.sayWhere(doors)
	if err != nil {
		log.Warn("couldn't say in the data directory where the server is: commands on this machine need --url and a token", "error", err)
	}
	defer forget()
	c.greet(p, doors, log)
	again = tellReady(log.With("address", doors.main.Addr().String(), "data", c.Data, "node_id", n.id()), again)
	again = thenInvite(ctx, again, func(ctx context.Context) error {
		if err := c.invite(ctx, p, f.auth, c.reached(doors), log); err != nil {
			return err
		}
		n.warnUnnamed(ctx, c.Operator)
		return nil
	})
	keeping, release := context.WithCancel(ctx)
	defer release()
	kept := n.keep(keeping, again)
	rotated := make(chan struct{})
	n.panics.Go(nil, "rotating secrets", func() {
		defer close(rotated)
		c.watchRotations(keeping, p, n, f)
	})
	outside := make(chan struct{})
	n.panics.Go(nil, "the portal", func() {
		defer close(outside)
		f.agents.portal.Run(keeping)
	})
	tidied := make(chan struct{})
	n.panics.Go(nil, "keeping blobs", func() {
		defer close(tidied)
		rate := c.ScrubRate
		if n.bucket != nil {
			rate = c.S3ScrubRate
		}
		n.keepBlobs(keeping, rate)
	})
	n.panics.Go(nil, "tuning the collector", func() { tuneGC(keeping, p.env) })
	scrubbed := make(chan struct{})
	n.panics.Go(nil, "the scrub", func() {
		defer close(scrubbed)
		if c.ScrubRate > 0 {
			n.store.Scrub(keeping, n.scrub(c.ScrubRate))
		}
	})
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	release()
	kept()
	<-rotated
	<-outside
	<-scrubbed
	<-tidied
	return errors.Join(err, c.stop(ctx, f, n))
}

// lastWord bounds how long a stop waits for its receipt: in a cluster that stops
// as a whole, the last nodes can't write any more.
const lastWord = 5 * time.Second

// stop ends streams and requests, and receipts that. The receipt has a time of
// its own: no client that dawdles can suppress it.
func (c *serveCmd) stop(ctx context.Context, f *front, n *node) error {
	n.log.Info("stopping")
	notify(n.log, daemon.SdNotifyStopping)
	if n.cluster != nil {
		n.cluster.Resign()
	}
	ctx = context.WithoutCancel(ctx)
	finishing, cancel := context.WithTimeout(ctx, c.StopTimeout)
	defer cancel()
	err := errors.Join(f.server.Shutdown(finishing), f.agents.portal.Close(finishing))
	if errors.Is(err, context.DeadlineExceeded) {
		n.log.Warn("requests that didn't end in time were cut off", "after", c.StopTimeout)
		err = nil
	}
	telling, cancel := context.WithTimeout(ctx, lastWord)
	defer cancel()
	told := n.announceNow(telling, announcement{to: ubl.OpsRoom, did: ubl.DidPlatformStop, text: n.named("Node stopped")})
	if n.cluster != nil && ubl.CodeOf(told) == ubl.CodeUnavailable {
		n.log.Warn("couldn't receipt the stop: too few nodes are left", "error", told)
		told = nil
	}
	if ubl.CodeOf(told) == ubl.CodeNotFound { // it stops before its rooms were made
		told = nil
	}
	return errors.Join(err, told)
}

// elsewhere says what to do where another program has the address.
func elsewhere(err error, flag string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return thenDo(err, "stop the program that listens there, or choose another address: ubl serve %s 127.0.0.1:0 takes a free port", flag)
	}
	return err
}

// doors are the open listeners; admin is nil where there is none.
type doors struct{ main, admin net.Listener }

func (c *serveCmd) listen() (*doors, error) {
	main, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("couldn't listen: %w", elsewhere(err, "--listen"))
	}
	d := &doors{main: main}
	if c.AdminListen != "" {
		if d.admin, err = net.Listen("tcp", c.adminAddress()); err != nil {
			return nil, errors.Join(fmt.Errorf("couldn't listen for operators: %w", elsewhere(err, "--admin-listen")), main.Close())
		}
	}
	return d, nil
}

// serve answers on both, and tells which of them failed.
func (d *doors) serve(s *transport.Server) (failed <-chan error) {
	out := make(chan error, 2)
	run := func(serve func(net.Listener) error, ln net.Listener) {
		if err := serve(ln); err != nil {
			out <- err
		}
	}
	go run(s.Serve, d.main)
	if d.admin != nil {
		go run(s.ServeAdmin, d.admin)
	}
	return out
}

// close is for doors that nobody came to serve; else the server has done it.
func (d *doors) close() {
	_ = d.main.Close()
	if d.admin != nil {
		_ = d.admin.Close()
	}
}

// adminAddress is on this machine only unless another host is given.
func (c *serveCmd) adminAddress() string {
	if strings.HasPrefix(c.AdminListen, ":") {
		return "127.0.0.1" + c.AdminListen
	}
	return c.AdminListen
}
