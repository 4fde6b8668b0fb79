package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// lookTimeout bounds one look at another machine.
	lookTimeout = 5 * time.Second
	// offABit and offALot are how far two clocks may differ.
	offABit = 2 * time.Second
	offALot = 30 * time.Second
	// endsSoon is how long before its end a credential or a certificate is told of.
	endsSoon = 14 * 24 * time.Hour
	// oldest is a moment that no right clock shows any more.
	oldest = "2026-01-01T00:00:00Z"
)

// told is what a server says of itself to everybody.
type told struct {
	version string
	// ahead is how far its clock is ahead of this machine's, give or take off.
	ahead, off time.Duration
}

// port looks whether a server could listen.
func (d *doctor) port(context.Context) finding {
	if d.here != nil {
		return well("%s, by the server that runs over %s", strings.TrimPrefix(d.here.URL, "http://"), d.Data)
	}
	if !d.held() && !d.p.given("listen") && d.p.env["UBL_LISTEN"] == "" {
		return moot("no server is here to listen")
	}
	ln, err := net.Listen("tcp", d.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && d.unknown != nil:
		return moot("%s is taken, perhaps by the server that runs over %s", d.Listen, d.Data)
	case errors.Is(err, syscall.EADDRINUSE):
		return broken("stop the program that listens there (ss -ltnp names it), or start the server with another --listen", "another program listens on %s", d.Listen)
	case errors.Is(err, syscall.EACCES):
		return broken("choose a port above 1023, and put a proxy in front", "this user may not listen on %s", d.Listen)
	case err != nil:
		return broken("give --listen an address of this machine", "%v", err)
	}
	_ = ln.Close()
	return well("%s is free", d.Listen)
}

// server asks the one that commands ask how it is.
func (d *doctor) server(ctx context.Context) finding {
	if d.at == nil {
		return moot("the one that runs over %s can't be told", d.Data)
	}
	about, err := askAbout(ctx, d.at.url)
	if err != nil {
		next := nextStep(err)
		if next == "" {
			next = "see its log"
		}
		return broken(next, "%s: %v", d.at.url, err)
	}
	d.told = about
	if err := d.p.client(&target{url: d.at.url}).health(ctx, "/readyz"); err != nil {
		return broken("it says itself what is wrong; the runbook has what to do", "%s runs, and isn't ready: %v", d.at.url, err)
	}
	return well("%s is ready", d.at.url)
}

// askAbout asks a server for its version and its time.
func askAbout(ctx context.Context, at string) (*told, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var alive struct{ Status string }
	if err := getJSON(ctx, at+"/healthz", http.StatusOK, &alive); err != nil {
		return nil, err
	}
	// Whoever has no credential is told the time along with that.
	var stranger struct {
		Time ubl.Time `json:"server_time"`
	}
	began := time.Now()
	if err := getJSON(ctx, at+"/api/whoami", http.StatusUnauthorized, &stranger); err != nil {
		return nil, err
	}
	took := time.Since(began)
	var spec struct {
		Info struct{ Version string }
	}
	if err := getJSON(ctx, at+"/api/openapi.json", http.StatusOK, &spec); err != nil {
		return nil, err
	}
	return &told{version: spec.Info.Version, ahead: stranger.Time.Std().Sub(began.Add(took / 2)), off: took/2 + time.Millisecond}, nil
}

// getJSON reads what everybody may, which comes with the status.
func getJSON(ctx context.Context, address string, status int, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{CheckRedirect: stay}).Do(r)
	if err != nil {
		return fmt.Errorf("couldn't reach it: %w", reason(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode != status || json.Unmarshal(data, into) != nil {
		return &foreignError{resp.StatusCode}
	}
	return nil
}

// clock holds this machine's against the server's, and without one against what can't be.
func (d *doctor) clock(context.Context) finding {
	now := time.Now()
	const set = "set the clock by NTP (timedatectl set-ntp true)"
	if past, err := time.Parse(time.RFC3339, oldest); err == nil && now.Before(past) {
		return broken(set, "it shows %s, which is over", now.Format(time.DateTime))
	}
	if info, err := os.Stat(filepath.Join(d.Data, "store")); err == nil && info.ModTime().After(now.Add(offALot)) {
		return broken(set, "it shows %s, and the data was written at %s", now.Format(time.DateTime), info.ModTime().Format(time.DateTime))
	}
	if d.told == nil {
		return well("it shows %s; there is no server to compare it with", now.Format(time.DateTime))
	}
	ahead := d.told.ahead
	found := fmt.Sprintf("the server's is %s ahead, within %s", ahead.Round(time.Millisecond), d.told.off.Round(time.Millisecond))
	switch off := ahead.Abs() - d.told.off; {
	case off > offALot:
		return broken(set+" on both machines: tokens, retention and receipts follow it", "%s", found)
	case off > offABit:
		return odd(set+" on both machines", "%s", found)
	}
	return well("%s", found)
}

// version compares the server's with this program's.
func (d *doctor) version(context.Context) finding {
	switch {
	case d.told == nil:
		return moot("this is %s; no server says its own", version())
	case d.told.version != version():
		return odd("use the program of the server's version; restart the server where that is the older one", "the server is %s, this is %s", d.told.version, version())
	}
	return well("%s, as the server", version())
}

// signIn looks who the caller is there.
func (d *doctor) signIn(ctx context.Context) finding {
	if d.told == nil {
		return moot("no server to sign in to")
	}
	if d.at.token == "" {
		return odd("ubl login "+d.at.url, "nobody is signed in to %s", d.at.url)
	}
	server := d.p.client(d.at)
	server.tries = 1
	var me myself
	if err := server.call(ctx, "GET", "/api/whoami", nil, &me); err != nil {
		return broken(nextStep(err), "by %s: %v", d.at.by, err)
	}
	found := fmt.Sprintf("%s of %s, by %s", me.Role, me.TenantID, d.at.by)
	if me.ExpiresAt != nil && d.at.profile != "" && me.ExpiresAt.Std().Sub(d.p.now()) < endsSoon/2 {
		return odd("ubl login "+d.at.url, "%s, until %s", found, local(*me.ExpiresAt))
	}
	return well("%s", found)
}

// jobs looks for what the server was to do by itself and couldn't. Who asks sees their own
// tenant's.
func (d *doctor) jobs(ctx context.Context) finding {
	if d.told == nil || d.at.token == "" {
		return moot("nobody is signed in who could see them")
	}
	server := d.p.client(d.at)
	server.tries = 1
	var failed, pending struct {
		List []ubl.DeadLetter `json:"dead_letters"`
	}
	err := server.call(ctx, "GET", "/api/dead-letters", nil, &failed)
	if err == nil {
		err = server.call(ctx, "GET", "/api/dead-letters?pending=true", nil, &pending)
	}
	switch {
	case err != nil:
		return moot("owners of a tenant see its own: %v", err)
	case len(failed.List) > 0:
		return odd("ubl deadletters list", "%s failed for good, and %d fail so far", plural(len(failed.List), "job"), len(pending.List))
	case len(pending.List) > 0:
		return odd("ubl deadletters list --pending", "%s failed so far or late", plural(len(pending.List), "job"))
	}
	return well("none has failed, and none is late")
}

// proven is the public URL of the server that runs over the data directory, once that has proved
// that it is that one; "" where there is none with TLS.
func (d *doctor) proven(ctx context.Context) string {
	if d.here == nil {
		return ""
	}
	key, err := d.here.ownKey()
	if key == nil || err != nil || d.p.prove(ctx, d.here, key) != nil || !strings.HasPrefix(d.here.At, "https://") {
		return ""
	}
	return d.here.At
}

// public looks from outside, as far as this machine can.
func (d *doctor) public(ctx context.Context) finding {
	at := cmp.Or(strings.TrimSuffix(d.PublicURL, "/"), d.proven(ctx))
	if at == "" {
		return moot("none is given (--public-url)")
	}
	if err := checkURL(at); err != nil {
		return broken(nextStep(err), "--public-url: %v", err)
	}
	if _, err := askAbout(ctx, at); err != nil {
		next := nextStep(err)
		if next == "" {
			next = "see that the proxy passes requests on, with their host name, to the server"
		}
		return broken(next, "%s: %v", at, err)
	}
	ends, err := certificateEnds(ctx, at)
	switch {
	case err != nil:
		return broken("see the proxy's certificate", "%s: %v", at, err)
	case ends.IsZero() && !envelope.Loopback(hostOf(strings.TrimPrefix(at, "http://"))):
		return odd("put a proxy with TLS in front, and name it with --public-url https://…", "%s answers, without TLS", at)
	case !ends.IsZero() && time.Until(ends) < endsSoon:
		return odd("renew the proxy's certificate", "%s answers; its certificate ends %s", at, ends.Local().Format(time.DateOnly))
	}
	return well("%s answers", at)
}

// certificateEnds is when the certificate of an https address does; the zero time for http.
func certificateEnds(ctx context.Context, at string) (time.Time, error) {
	host, secure := strings.CutPrefix(at, "https://")
	if !secure {
		return time.Time{}, nil
	}
	host, _, _ = strings.Cut(host, "/")
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "443")
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := new(tls.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return time.Time{}, err
	}
	defer conn.Close()
	if secured, ok := conn.(*tls.Conn); ok && len(secured.ConnectionState().PeerCertificates) > 0 {
		return secured.ConnectionState().PeerCertificates[0].NotAfter, nil
	}
	return time.Time{}, nil
}

// peers looks whether the other nodes' ports can be reached over TCP. Gossip takes UDP on
// the same ports, which nobody can look at from outside.
func (d *doctor) peers(ctx context.Context) finding {
	if len(d.Join) == 0 {
		return moot("none are given (--join)")
	}
	var away []string
	for _, peer := range d.Join {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", peer)
		cancel()
		if err != nil {
			away = append(away, peer)
			continue
		}
		_ = conn.Close()
	}
	if len(away) > 0 {
		return broken("see that these nodes run, and that firewalls let TCP and UDP through to their --cluster-listen", "%d of %d can't be reached: %s", len(away), len(d.Join), strings.Join(away, ", "))
	}
	return well("%s answer", plural(len(d.Join), "node"))
}
