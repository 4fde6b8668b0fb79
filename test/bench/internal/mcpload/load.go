package mcpload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// Options say what to call, and who does.
type Options struct {
	Target
	Tool      string
	Arguments json.RawMessage
	Numbered  bool // each reply has the room_seq of a message; else replies are counted here
	Writers   int
	load.Plan
}

// Run repeats one tools/call, by as many writers, until the time is up. Each has
// one keep-alive connection and, in Legacy, a session of its own.
func Run(ctx context.Context, o Options) (load.Result, error) {
	var conns []*rawhttp.Conn
	defer func() {
		for _, c := range conns {
			c.Close() // nothing is under way
		}
	}()
	var calls atomic.Uint64
	sends := make([]load.Send, o.Writers)
	for i := range sends {
		request, err := o.request(ctx)
		if err != nil {
			return load.Result{}, fmt.Errorf("couldn't start a writer: %w", err)
		}
		conn, err := rawhttp.Dial(o.Host)
		if err != nil {
			return load.Result{}, fmt.Errorf("couldn't start a writer: %w", err)
		}
		conns = append(conns, conn)
		sends[i] = o.call(conn, request, &calls)
	}
	return load.Loop(ctx, o.Plan, sends)
}

// request is the bytes of the call, in a session of its own where there are
// sessions.
func (o Options) request(ctx context.Context) ([]byte, error) {
	session, err := o.begin(ctx)
	if err != nil {
		return nil, err
	}
	const method = "tools/call"
	body, err := o.message(1, method, map[string]any{"name": o.Tool, "arguments": o.Arguments})
	if err != nil {
		return nil, err
	}
	return rawhttp.Post(o.Host, o.Path, o.Token, body, o.headers(method, o.Tool, session)...), nil
}

// call repeats the request. Replies are looked through and not decoded, as load
// does it with REST's.
func (o Options) call(conn *rawhttp.Conn, request []byte, calls *atomic.Uint64) load.Send {
	return func(context.Context) (uint64, error) {
		status, body, err := conn.Do(request)
		if err != nil {
			return 0, err
		}
		if status != http.StatusOK || !bytes.Contains(body, []byte(`"structuredContent":`)) || bytes.Contains(body, []byte(`"isError":true`)) {
			return 0, &load.Refusal{Reply: fmt.Sprintf("%d %.200s", status, body)}
		}
		if o.Numbered {
			return load.RoomSeq(body)
		}
		return calls.Add(1), nil
	}
}
