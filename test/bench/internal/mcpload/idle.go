package mcpload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"ubl/test/bench/internal/rawhttp"
)

// glance is how long Open looks for the end of a channel.
const glance = time.Millisecond

// Idle is sessions that do nothing: each has its channel open, on a connection
// of its own. The zero Idle has none. It is for one goroutine.
type Idle struct{ conns []net.Conn }

// Add opens n more sessions. In Legacy each begins with initialize and then has
// a GET; in Modern the request that listens is all there is.
func (i *Idle) Add(ctx context.Context, t Target, n int) error {
	for range n {
		if err := i.open(ctx, t); err != nil {
			return fmt.Errorf("couldn't open a session after %d: %w", len(i.conns), err)
		}
	}
	return nil
}

func (i *Idle) open(ctx context.Context, t Target) error {
	request, err := t.channel(ctx)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", t.Host)
	if err != nil {
		return err
	}
	i.conns = append(i.conns, conn)
	if err := conn.SetDeadline(time.Now().Add(beginTimeout)); err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	head, err := rawhttp.ReadHead(bufio.NewReader(conn))
	if err == nil && head.Status != http.StatusOK {
		err = fmt.Errorf("the channel was refused: %d", head.Status)
	}
	return err
}

// channel is the request that opens a session's channel.
func (t Target) channel(ctx context.Context) ([]byte, error) {
	if t.Protocol == Modern {
		const method = "subscriptions/listen"
		body, err := t.message(1, method, map[string]any{
			"notifications": map[string]bool{"toolsListChanged": true, "resourcesListChanged": true},
		})
		return rawhttp.Post(t.Host, t.Path, t.Token, body, t.headers(method, "", "")...), err
	}
	session, err := t.begin(ctx)
	if err == nil && session == "" {
		err = errors.New("the server keeps no sessions")
	}
	return rawhttp.Get(t.Host, t.Path, t.Token, "text/event-stream",
		sessionHeader+": "+session, "MCP-Protocol-Version: "+t.Protocol), err
}

// Open counts the channels that the server has not ended. What it tells on them
// is read and forgotten.
func (i *Idle) Open() int {
	open, buffer := 0, make([]byte, 4096)
	for _, conn := range i.conns {
		err := conn.SetReadDeadline(time.Now().Add(glance))
		for err == nil {
			_, err = conn.Read(buffer)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	return open
}

// Close closes all connections.
func (i *Idle) Close() {
	for _, conn := range i.conns {
		conn.Close() // nothing is under way
	}
}
