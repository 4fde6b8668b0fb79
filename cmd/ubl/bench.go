package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/transport/auth"
)

// benchTenant is the tenant that measurements write into: the default owner's.
const benchTenant = ubl.TenantID("t:localhost")

// benchCmd measures the real store and actors, without HTTP.
type benchCmd struct {
	format
	Writers       int    `default:"64" help:"How many send at once."`
	Seconds       int    `default:"5" help:"For how long."`
	Bytes         int    `default:"100" help:"How long each text is."`
	PrepareRooms  int    `help:"Instead of measuring, make a data directory with so many rooms." placeholder:"N"`
	PrepareEvents int    `help:"Instead of measuring, make a data directory with a year behind it: so many events of a tenant, and of tenant 0." placeholder:"N"`
	Data          string `type:"path" help:"With --prepare-rooms and --prepare-events: the directory to make." placeholder:"DIR"`
	Quiet         bool   `help:"Tell no progress."`
}

// Run measures, or makes a directory to measure with.
func (c *benchCmd) Run(ctx context.Context, p *program) error {
	prepares := c.PrepareRooms > 0 || c.PrepareEvents > 0
	switch {
	case c.Writers < 1 || c.Writers > 10_000 || c.Seconds < 1 || c.Bytes < 1 || c.Bytes > ubl.MaxMessageBytes || c.PrepareRooms < 0 || c.PrepareEvents < 0:
		return usagef("--writers is 1 to 10000, --seconds 1 or more, --bytes 1 to %d", ubl.MaxMessageBytes)
	case prepares && c.Data == "":
		return usagef("--prepare-rooms and --prepare-events need --data")
	case prepares:
		return c.prepare(ctx, p)
	case c.Data != "":
		return usagef("measurements use a directory of their own; --data goes with --prepare-rooms and --prepare-events")
	}
	dir, err := os.MkdirTemp("", "ubl-bench-*")
	if err != nil {
		return fmt.Errorf("couldn't make a directory: %w", err)
	}
	var r benchResult
	err = p.withNode(ctx, dir, func(n *node) error {
		r, err = c.measure(ctx, p, n)
		return err
	})
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return err
	}
	return c.print(p, r)
}

// benchResult is what is printed with --json.
type benchResult struct {
	Writers        int     `json:"writers"`
	Seconds        float64 `json:"seconds"`
	Bytes          int     `json:"bytes"`
	Sends          int64   `json:"sends"`
	SendsPerSecond float64 `json:"sends_per_second"`
	P50            int64   `json:"p50_us"`
	P99            int64   `json:"p99_us"`
}

func (c *benchCmd) print(p *program, r benchResult) error {
	if c.JSON {
		return json.NewEncoder(p.out).Encode(r)
	}
	_, err := fmt.Fprintf(p.out, "%d writers to one room, %d bytes each: %.0f sends/s, p50 %d µs, p99 %d µs (every answer durable and receipted)\n",
		r.Writers, r.Bytes, r.SendsPerSecond, r.P50, r.P99)
	return err
}

// benchUser is who writes and owns the rooms: whoever has a token that "ubl
// token owner@localhost" makes.
func benchUser() ubl.Identity {
	const email = "owner@localhost"
	return ubl.Identity{UserID: ubl.UserIDFor(auth.LocalIssuer, email, false), Email: email, EmailDomain: ubl.EmailDomain(email),
		TenantID: benchTenant, Issuer: auth.LocalIssuer, Subject: email}
}

func benchRequest(what string, n int64) ubl.Request {
	id := fmt.Sprintf("bench:%s:%d", what, n)
	return ubl.Request{Who: benchUser(), ID: id, Key: id}
}

// measure has the writers send to one room until time is up.
func (c *benchCmd) measure(ctx context.Context, p *program, n *node) (benchResult, error) {
	if _, err := n.actors.Ask(ctx, ubl.TenantName(benchTenant), ubl.Enter{Request: benchRequest("enter", 0), Act: true}); err != nil {
		return benchResult{}, fmt.Errorf("couldn't begin: %w", err)
	}
	g := p.progress("measuring", "seconds", c.Quiet || c.JSON)
	defer g.end()
	start := p.now()
	end := start.Add(time.Duration(c.Seconds) * time.Second)
	ctx, cancel := context.WithDeadline(ctx, end.Add(closeTimeout))
	defer cancel()
	text := strings.Repeat("x", c.Bytes)
	took := make([][]time.Duration, c.Writers)
	failed := make([]error, c.Writers)
	var writers sync.WaitGroup
	for w := range c.Writers {
		writers.Go(func() { took[w], failed[w] = write(ctx, p, n.actors, w, text, end) })
	}
	writers.Wait()
	return c.result(slices.Concat(took...), p.now().Sub(start)), errors.Join(failed...)
}

// write sends one message after the other and returns how long each took.
func write(ctx context.Context, p *program, rt *actors.Runtime, writer int, text string, end time.Time) (took []time.Duration, err error) {
	to := ubl.RoomName(benchTenant, ubl.GeneralRoom)
	for n := int64(0); ctx.Err() == nil; n++ {
		begun := p.now()
		if begun.After(end) {
			break
		}
		if _, err := rt.Ask(ctx, to, ubl.SendMessage{Request: benchRequest(fmt.Sprint(writer), n), Text: text}); err != nil {
			return took, fmt.Errorf("couldn't send: %w", err)
		}
		took = append(took, p.now().Sub(begun))
	}
	return took, ctx.Err()
}

func (c *benchCmd) result(took []time.Duration, seconds time.Duration) benchResult {
	slices.Sort(took)
	at := func(q float64) int64 {
		if len(took) == 0 {
			return 0
		}
		return took[int(q*float64(len(took)-1))].Microseconds()
	}
	return benchResult{Writers: c.Writers, Seconds: seconds.Seconds(), Bytes: c.Bytes, Sends: int64(len(took)),
		SendsPerSecond: float64(len(took)) / seconds.Seconds(), P50: at(.5), P99: at(.99)}
}
