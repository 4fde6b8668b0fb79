package mcpload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/bench/internal/load"
)

// RunSDK is Run with the SDK's own client, one for each writer. It costs the
// generator far more, and is what programs use.
func RunSDK(ctx context.Context, o Options) (load.Result, error) {
	var open []io.Closer
	defer func() {
		for _, c := range open {
			c.Close() // what it says on leaving is no figure
		}
	}()
	var calls atomic.Uint64
	sends := make([]load.Send, o.Writers)
	for i := range sends {
		session, err := o.connect(ctx)
		if err != nil {
			return load.Result{}, fmt.Errorf("couldn't start a writer: %w", err)
		}
		open = append(open, session)
		sends[i] = o.callSDK(session, &calls)
	}
	return load.Loop(ctx, o.Plan, sends)
}

// connect connects a client, which must get the protocol that was asked for.
func (o Options) connect(ctx context.Context) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: clientName, Version: clientVersion}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   o.url(),
		HTTPClient: &http.Client{Transport: bearer{o.Token, new(http.Transport)}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: o.Protocol})
	if err != nil {
		return nil, err
	}
	if got := session.InitializeResult().ProtocolVersion; got != o.Protocol {
		return nil, errors.Join(fmt.Errorf("the server speaks %s, not %s", got, o.Protocol), session.Close())
	}
	return session, nil
}

func (o Options) callSDK(session *mcp.ClientSession, calls *atomic.Uint64) load.Send {
	params := &mcp.CallToolParams{Name: o.Tool, Arguments: o.Arguments}
	return func(ctx context.Context) (uint64, error) {
		result, err := session.CallTool(ctx, params)
		if err != nil {
			return 0, &load.Refusal{Reply: err.Error()}
		}
		if result.IsError {
			return 0, &load.Refusal{Reply: "the tool answered that it failed"}
		}
		return calls.Add(1), nil
	}
}
