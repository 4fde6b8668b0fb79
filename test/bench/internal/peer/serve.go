// Package peer holds the programs UBL is measured against that are written in
// Go: the bare program, the front of an embedded NATS JetStream, the bare
// fan-out program and the bare group-commit loop. Each runs as a process of
// its own, started through a subcommand of the benchmark.
//
// They have no authentication, no actors, no limits and no history: each is
// what one would write first, with the usual libraries, for its part of the
// work. They are yardsticks for what UBL's features cost, not rivals with the
// same features, and no ceiling: who encodes atoms by hand, or lets more events
// gather for one write, can be faster.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// MessagesPath is where every peer takes a send: UBL's own path, so that the
// load generator sends the same bytes to all.
const MessagesPath = "/api/rooms/r:general/messages"

// maxBody bounds a request's body, as UBL does.
const maxBody = 1 << 20

// stopTimeout is how long open requests get to end; streams never end by
// themselves and are cut after it.
const stopTimeout = 2 * time.Second

// serve listens on a free loopback port, tells it on out in the words UBL
// uses, and serves until ctx is done.
func serve(ctx context.Context, out io.Writer, handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("couldn't listen: %w", err)
	}
	if _, err := fmt.Fprintf(out, "listening on http://%s\n", listener.Addr()); err != nil {
		listener.Close()
		return fmt.Errorf("couldn't tell the address: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("couldn't serve: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil {
		if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("couldn't stop serving: %w", err)
		}
	}
	return nil
}
