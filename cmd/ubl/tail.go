package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/r3labs/sse/v2"
	"gopkg.in/cenkalti/backoff.v1"

	"ubl"
)

const (
	// maxEvent is the largest event that is read: a message and its envelope
	// are far below it, but above the library's own limit.
	maxEvent = 1 << 20
	// silence is how long a stream may say nothing; the server sends a comment
	// every 15 s.
	silence = 45 * time.Second
)

// tailCmd follows a room. A stream that breaks is taken up where it ended, so
// that every message is shown once.
type tailCmd struct {
	remote
	format
	oneRoom
	Since *since `aliases:"from" help:"Begin after this message (0 shows all), at this time, or so long ago. Without it, only what is new." placeholder:"SEQ|TIME|AGO" config:"-"`
	Limit int    `aliases:"count" help:"End after so many messages; 0 for never." config:"-"`
}

// Run follows until ctx ends, which is no failure.
func (c *tailCmd) Run(ctx context.Context, p *program) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	if c.Limit < 0 {
		return usagef("--limit is not negative")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	t := &tail{cmd: c, server: server, room: room, p: p, from: &people{server: server}}
	err = t.begin(ctx)
	if err == nil {
		err = t.follow(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tail is one room being followed.
type tail struct {
	cmd    *tailCmd
	server *client
	room   ubl.RoomID
	p      *program
	from   *people
	last   int64 // the newest message shown
	shown  int
	broke  error // why the stream can't be taken up again
}

// begin finds out where to begin. Without --since that is the room's newest
// message: a stream that breaks before its first event can then be taken up,
// too.
func (t *tail) begin(ctx context.Context) (err error) {
	if t.cmd.Since != nil {
		t.last = t.cmd.Since.seq
		if moment, timed := t.cmd.Since.moment(t.p.now()); timed {
			t.last, err = t.server.before(ctx, t.room, moment)
		}
		return err
	}
	var answer struct {
		Room ubl.Room `json:"room"`
	}
	err = t.server.call(ctx, "GET", "/api/rooms/"+string(t.room), nil, &answer)
	t.last = answer.Room.LastSeq
	return inRoom(err)
}

// errEnough ends a tail that has shown what was asked for.
var errEnough = errors.New("enough")

// follow connects again and again. The library's own retries go on after ctx
// has ended, and it takes up after events that it got half of; here each
// connection is one subscription, after the last whole message.
func (t *tail) follow(ctx context.Context) error {
	for n := 1; ; n++ {
		before := t.shown
		err := t.subscribe(ctx)
		switch {
		case errors.Is(t.broke, errEnough):
			return nil
		case t.broke != nil:
			return t.broke
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if t.shown > before {
			n = 1
		}
		if err != nil {
			fmt.Fprintf(t.p.err, "ubl: %v; trying again\n", reason(err))
		}
		t.server.pause(ctx, longer(time.Second, n, 15*time.Second))
	}
}

// subscribe reads one stream to its end.
func (t *tail) subscribe(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := sse.NewClient(t.url(), sse.ClientMaxBufferSize(maxEvent))
	c.Connection = &http.Client{Transport: impatient(), CheckRedirect: t.server.http.CheckRedirect}
	c.Headers["Authorization"] = "Bearer " + t.server.token
	c.ReconnectStrategy = &backoff.StopBackOff{}
	c.ResponseValidator = t.validate
	return c.SubscribeRawWithContext(ctx, func(e *sse.Event) {
		if t.broke == nil {
			t.broke = t.event(ctx, e)
		}
		if t.broke != nil {
			cancel()
		}
	})
}

func (t *tail) url() string {
	return t.server.base + "/api/events/rooms/" + string(t.room) + "?from_seq=" + strconv.FormatInt(t.last, 10)
}

// validate ends the tail where trying again can't help.
func (t *tail) validate(_ *sse.Client, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	defer resp.Body.Close()
	err := errorOf(resp)
	if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
		t.broke = err
	}
	return err
}

// event shows one event. Without data it is a comment; half an event, which
// the library passes on where a connection broke, is not valid JSON and will
// come again.
func (t *tail) event(ctx context.Context, e *sse.Event) error {
	var envelope struct {
		Event   string `json:"event"`
		Payload struct {
			Message       json.RawMessage `json:"message"`
			Entry         json.RawMessage `json:"entry"`
			AvailableFrom int64           `json:"available_from"`
		} `json:"payload"`
	}
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &envelope) != nil {
		return nil
	}
	switch envelope.Event {
	case ubl.EventMessageCreated:
		return t.show(ctx, envelope.Payload.Message, e.Data, t.cmd.printMessages)
	case ubl.EventEntryCreated:
		return t.show(ctx, envelope.Payload.Entry, e.Data, t.cmd.printEntries)
	case ubl.EventGap:
		fmt.Fprintf(t.p.err, "ubl: older messages are no longer kept; going on from %d\n", envelope.Payload.AvailableFrom)
		t.last = envelope.Payload.AvailableFrom - 1
	}
	return nil
}

// printer prints messages or entries.
type printer func(context.Context, io.Writer, *people, ...json.RawMessage) error

// show shows a message or an entry that was not shown before.
func (t *tail) show(ctx context.Context, raw, event json.RawMessage, print printer) error {
	var m struct {
		RoomSeq int64 `json:"room_seq"`
	}
	if json.Unmarshal(raw, &m) != nil || m.RoomSeq <= t.last {
		return nil
	}
	if t.cmd.JSON {
		raw = event
	}
	if err := print(ctx, t.p.out, t.from, raw); err != nil {
		return err
	}
	t.last = m.RoomSeq
	if t.shown++; t.shown == t.cmd.Limit {
		return errEnough
	}
	return nil
}

// impatient gives up connections on which nothing comes, not even comments.
func impatient() http.RoundTripper {
	dial := (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	return &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &alarmed{conn}, nil
		},
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// alarmed is a connection whose every read has a deadline.
type alarmed struct{ net.Conn }

func (a *alarmed) Read(b []byte) (int, error) {
	if err := a.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return a.Conn.Read(b)
}
