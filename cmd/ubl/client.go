package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// maxAnswer bounds an answer that is read whole: a page of history is far
	// below it.
	maxAnswer = 32 << 20
	// tries is how often a request is sent before its failure is told. Its key
	// makes repetitions harmless.
	tries = 4
	// maxPause bounds the pause between two.
	maxPause = 5 * time.Second
	// maxToken bounds a token file.
	maxToken = 16 << 10
)

// client talks to a server's REST API as one user.
type client struct {
	base  string
	token string
	http  *http.Client
	pause func(context.Context, time.Duration)
	err   io.Writer // where it tells why it waits
	tries int       // how often a request is sent
	// patient says that a refusal for the rate of requests is waited for as often as it comes.
	patient bool
}

// client makes the client that the flags describe.
func (r *remote) client(p *program) (*client, error) {
	at, err := r.target(p)
	if err != nil {
		return nil, err
	}
	return p.client(at), nil
}

// client makes a client of a target.
func (p *program) client(at *target) *client {
	if u, err := url.Parse(at.url); at.token != "" && err == nil && u.Scheme == "http" && !envelope.Loopback(u.Hostname()) {
		fmt.Fprintln(p.err, "ubl: warning: the token travels without TLS")
	}
	return &client{base: at.url, token: at.token, pause: pause, err: p.err, tries: tries, http: &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ResponseHeaderTimeout: time.Minute,
		},
		CheckRedirect: stay,
	}}
}

// stay follows no redirect: it leads to somebody else, who isn't to have the token, and whose
// health says nothing.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// apiError is an error that the server answered.
type apiError struct {
	status int
	body   envelope.ErrorBody
}

func (e *apiError) Error() string {
	var b strings.Builder
	said := e.body.Error.Message
	if len(e.body.Error.Details) > 0 {
		said = strings.TrimSuffix(said, "; see details") // they follow
	}
	b.WriteString(clean(said))
	for _, where := range slices.Sorted(maps.Keys(e.body.Error.Details)) {
		fmt.Fprintf(&b, "; %s: %s", clean(where), clean(e.body.Error.Details[where]))
	}
	fmt.Fprintf(&b, " (%s, request %s)", clean(string(e.body.Error.Code)), clean(e.body.RequestID))
	return b.String()
}

// errorOf reads an answer that is none of the good ones.
func errorOf(resp *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	e := &apiError{status: resp.StatusCode}
	if err != nil || json.Unmarshal(data, &e.body) != nil || e.body.Error.Code == "" {
		return &foreignError{resp.StatusCode}
	}
	return e
}

// foreignError is an answer that isn't a UBL server's: that of a proxy, or of another program.
type foreignError struct{ status int }

func (e *foreignError) Error() string {
	return fmt.Sprintf("the server answered %d, and not as a UBL server would: is --url right?", e.status)
}

// unsureError is of a request that was perhaps carried out: the same again needs the same key.
type unsureError struct{ error }

func (e *unsureError) Unwrap() error { return e.error }

// unsure reports whether a request that failed was perhaps carried out.
func unsure(err error, written bool) bool {
	if refusal, ok := errors.AsType[*apiError](err); ok {
		return refusal.body.Error.Code == ubl.CodeUnavailable || refusal.body.Error.Code == ubl.CodeInternal
	}
	if foreign, ok := errors.AsType[*foreignError](err); ok {
		return foreign.status >= http.StatusInternalServerError
	}
	return err != nil && written
}

// call sends a request, again where that may help, and decodes the answer.
func (c *client) call(ctx context.Context, method, path string, body, answer any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	perhaps := false // whatever a later try says: one before may have been carried out
	for n := 1; ; n++ {
		var written atomic.Bool
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { written.Store(true) }})
		wait, err := c.once(traced, method, path, data, answer)
		perhaps = perhaps || unsure(err, written.Load())
		if err == nil || wait == 0 || n >= c.tries || ctx.Err() != nil {
			if err != nil && perhaps {
				return &unsureError{err}
			}
			return err
		}
		if e, ok := errors.AsType[*apiError](err); ok && n == 1 && e.body.Error.Code == ubl.CodeUnavailable {
			fmt.Fprintf(c.err, "ubl: %s; trying again…\n", clean(e.body.Error.Message))
		}
		if e, ok := errors.AsType[*apiError](err); ok && c.patient && e.body.Error.Code == ubl.CodeRateLimited {
			n = 0 // nothing has failed
		}
		c.pause(ctx, longer(wait, n, maxPause))
	}
}

// longer is how long to wait after the nth failure: what the server asked for, twice
// as long each time up to most, and up to a quarter more, so that clients which failed
// together don't come back together.
func longer(wait time.Duration, n int, most time.Duration) time.Duration {
	for ; n > 1 && wait < most; n-- {
		wait *= 2
	}
	wait = min(wait, most)
	return wait + rand.N(wait/4+1)
}

// once sends a request. wait is how long to wait before it is worth trying
// again, 0 for never.
func (c *client) once(ctx context.Context, method, path string, body []byte, answer any) (wait time.Duration, err error) {
	resp, err := c.open(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return time.Second, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return retryAfter(resp), errorOf(resp)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return time.Second, fmt.Errorf("couldn't read the answer: %w", err)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return 0, errors.New("the answer is not as a UBL server's would be")
	}
	return 0, nil
}

// open sends a request and returns the open answer, whatever its status.
func (c *client) open(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.ContentLength != 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("couldn't reach the server: %w", reason(err))
	}
	return resp, nil
}

// reason is a transport error without the method and URL around it.
func reason(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// retryAfter is how long to wait after a refusal for load; 0 for any other.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}

// pause waits, or less where ctx ends.
func pause(ctx context.Context, d time.Duration) { every(ctx, d) }

// inRoom says what to do where the caller has no such room.
func inRoom(err error) error {
	if refusal, ok := errors.AsType[*apiError](err); ok && (refusal.body.Error.Code == ubl.CodeNotFound || refusal.body.Error.Code == ubl.CodeNotAMember) {
		return thenDo(err, "\"ubl rooms\" lists your rooms, and those that you may join")
	}
	return err
}

// roomID takes a room with or without its prefix.
func roomID(s string) (ubl.RoomID, error) {
	if !strings.HasPrefix(s, "r:") {
		s = "r:" + s
	}
	if id := ubl.RoomID(s); id.Valid() {
		return id, nil
	}
	return "", usagef("ROOM is not the id of a room, like r:general or general")
}
