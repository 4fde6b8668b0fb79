package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"ubl/test/bench/internal/fanload"
	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/loadtest"
	"ubl/test/bench/internal/mcpload"
)

// begin runs a server until the test ends and returns its HOST:PORT.
func begin(t *testing.T, run func(ctx context.Context, out io.Writer) error) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, writer)
		writer.CloseWithError(io.EOF)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(reader).ReadString('\n')
	_, host, ok := strings.Cut(strings.TrimSpace(line), "listening on http://")
	if !ok {
		t.Fatalf("it said %q, %v", line, err)
	}
	return host
}

func TestServersNumberEverySend(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, out io.Writer, dir string) error{
		"bare": RunBare, "jetstream": RunJetStream,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			host := begin(t, func(ctx context.Context, out io.Writer) error { return run(ctx, out, dir) })
			r, err := loadtest.Enough(1, func(p load.Plan) (load.Result, error) {
				return load.Run(t.Context(), load.Options{Hosts: []string{host}, Path: MessagesPath, Body: load.Body, Number: load.RoomSeq, Writers: 8, Plan: p})
			})
			if err != nil || r.Sends == 0 || r.Refused > 0 || !r.Distinct || !r.Gapless {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

func TestFanReachesEveryStream(t *testing.T) {
	const frame = 1000
	for _, dir := range []string{"", t.TempDir()} {
		host := begin(t, func(ctx context.Context, out io.Writer) error { return RunFan(ctx, out, dir, frame) })
		r, err := fanload.Run(t.Context(), fanload.Options{
			Host: host, PostPath: MessagesPath, EventsPath: EventsPath,
			Streams: 20, Messages: 50, Writers: 4, Limit: time.Minute,
		})
		if err != nil || r.Deliveries != 1000 || r.FrameBytes != frame {
			t.Errorf("in %q: got %+v, %v", dir, r, err)
		}
	}
}

// The bare MCP server takes both eras, and has sessions in the older one.
func TestMCP(t *testing.T) {
	host := begin(t, RunMCP)
	for _, protocol := range mcpload.Protocols() {
		for tool, arguments := range map[string]string{EchoTool: `{"text":"hello"}`, WhoamiTool: `{}`} {
			r, err := loadtest.Enough(1, func(p load.Plan) (load.Result, error) {
				return mcpload.Run(t.Context(), mcpload.Options{
					Target: mcpload.Target{Host: host, Path: MCPPath, Protocol: protocol},
					Tool:   tool, Arguments: json.RawMessage(arguments), Writers: 2, Plan: p,
				})
			})
			if err != nil || r.Sends == 0 || r.Refused > 0 {
				t.Errorf("%s %s: %+v, %v", protocol, tool, r, err)
			}
		}
	}
	idle := new(mcpload.Idle)
	defer idle.Close()
	if err := idle.Add(t.Context(), mcpload.Target{Host: host, Path: MCPPath, Protocol: mcpload.Legacy}, 1); err != nil {
		t.Error(err)
	}
}

func TestLoop(t *testing.T) {
	r, err := RunLoop(t.Context(), t.TempDir(), 4, 100*time.Millisecond)
	for longer := 400 * time.Millisecond; err == nil && r.CommitsPerSecond == 0 && longer < time.Minute; longer *= 4 { // a slow disk
		r, err = RunLoop(t.Context(), t.TempDir(), 4, longer)
	}
	if err != nil || r.CommitsPerSecond <= 0 || r.TransactionsPerSecond > r.CommitsPerSecond {
		t.Errorf("got %+v, %v", r, err)
	}
}
