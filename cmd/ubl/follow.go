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

// follower reads a room's stream. A stream that breaks is taken up where it ended, so that
// each entry comes once.
type follower struct {
	server *client
	room   ubl.RoomID
	last   int64 // room_seq of the newest entry that each has had
	// each has the entries behind last, in order. Its error ends the following.
	each  func(context.Context, happening) error
	note  func(string) // is told, for people, what is waited for or missing
	broke error        // why the stream can't be taken up again
}

// happening is an entry of a room, as its stream tells of it.
type happening struct {
	kind       string          // ubl.EventMessageCreated or ubl.EventEntryCreated
	raw, event json.RawMessage // the message or the entry, and the whole event
}

// head is the room_seq of a room's newest entry.
func (c *client) head(ctx context.Context, room ubl.RoomID) (int64, error) {
	var answer struct {
		Room ubl.Room `json:"room"`
	}
	err := c.call(ctx, "GET", "/api/rooms/"+string(room), nil, &answer)
	return answer.Room.LastSeq, err
}

// errEnough ends a following that has had what it was for.
var errEnough = errors.New("enough")

// follow connects again and again. The library's own retries go on after ctx
// has ended, and it takes up after events that it got half of; here each
// connection is one subscription, after the last whole message.
func (t *follower) follow(ctx context.Context) error {
	for n := 1; ; n++ {
		before := t.last
		err := t.subscribe(ctx)
		switch {
		case errors.Is(t.broke, errEnough):
			return nil
		case t.broke != nil:
			return t.broke
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if t.last > before {
			n = 1
		}
		if err != nil {
			t.note(fmt.Sprintf("%v; trying again", reason(err)))
		}
		t.server.pause(ctx, longer(time.Second, n, 15*time.Second))
	}
}

// subscribe reads one stream to its end.
func (t *follower) subscribe(ctx context.Context) error {
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

func (t *follower) url() string {
	return t.server.base + "/api/events/rooms/" + string(t.room) + "?from_seq=" + strconv.FormatInt(t.last, 10)
}

// validate ends the following where trying again can't help.
func (t *follower) validate(_ *sse.Client, resp *http.Response) error {
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

// event takes one event. Without data it is a comment; half an event, which
// the library passes on where a connection broke, is not valid JSON and will
// come again.
func (t *follower) event(ctx context.Context, e *sse.Event) error {
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
		return t.happened(ctx, happening{kind: envelope.Event, raw: envelope.Payload.Message, event: e.Data})
	case ubl.EventEntryCreated:
		return t.happened(ctx, happening{kind: envelope.Event, raw: envelope.Payload.Entry, event: e.Data})
	case ubl.EventGap:
		t.note(fmt.Sprintf("older messages are no longer kept; going on from %d", envelope.Payload.AvailableFrom))
		t.last = envelope.Payload.AvailableFrom - 1
	}
	return nil
}

// happened hands on an entry that is new.
func (t *follower) happened(ctx context.Context, h happening) error {
	var m struct {
		RoomSeq int64 `json:"room_seq"`
	}
	if json.Unmarshal(h.raw, &m) != nil || m.RoomSeq <= t.last {
		return nil
	}
	if err := t.each(ctx, h); err != nil {
		return err
	}
	t.last = m.RoomSeq
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
