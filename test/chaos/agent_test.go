//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"ubl"
)

// agent is a user's program that speaks MCP. It has at most one request under
// way.
type agent struct {
	client *client
	path   string // of the server, or of the portal
	modern bool   // of the era without sessions
	// session is that of the older era, begun at one node and used at all.
	session string
}

// about is what an agent says of itself.
type about struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

const (
	modernProtocol = "2026-07-28"
	legacyProtocol = "2025-11-25"
)

// agent makes the i-th agent: both paths and both eras have their turn.
func (c *client) agent(i int) *agent {
	return &agent{client: c, path: []string{"/mcp", "/portal/mcp"}[i%2], modern: i/2%2 == 1}
}

// use calls a tool through node after node until one answers, and decodes what
// it answers into out. The key may stand in the arguments instead.
func (a *agent) use(ctx context.Context, tool, key string, args, out any) error {
	if !a.modern && a.session == "" {
		if err := a.client.through(ctx, a.begin); err != nil {
			return err
		}
	}
	return a.client.through(ctx, func(ctx context.Context, n *node) error { return a.call(ctx, n, tool, key, args, out) })
}

// begin opens the session.
func (a *agent) begin(ctx context.Context, n *node) error {
	resp, _, err := a.post(ctx, n, "initialize", "", "", map[string]any{
		"protocolVersion": legacyProtocol, "capabilities": map[string]any{}, "clientInfo": about{"chaos", "1"},
	})
	if err != nil {
		return err
	}
	if a.session = resp.Header.Get("Mcp-Session-Id"); a.session == "" {
		return errors.New("a session has no id")
	}
	return nil
}

// call calls a tool of one node once.
func (a *agent) call(ctx context.Context, n *node, tool, key string, args, out any) error {
	params := map[string]any{"name": tool, "arguments": args}
	if a.modern {
		const prefix = "io.modelcontextprotocol/"
		params["_meta"] = map[string]any{prefix + "protocolVersion": modernProtocol,
			prefix + "clientInfo": about{"chaos", "1"}, prefix + "clientCapabilities": map[string]any{}}
	}
	_, data, err := a.post(ctx, n, "tools/call", tool, key, params)
	if err != nil {
		return err
	}
	var answer struct {
		Result struct {
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
		} `json:"result"`
		Error *struct {
			Message string `json:"message"`
			Data    struct {
				Code ubl.Code `json:"code"`
			} `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return err
	}
	if e := answer.Error; e != nil {
		return &statusError{e.Data.Code.Status(), fmt.Sprintf("%s: %s", e.Data.Code, e.Message)}
	}
	if answer.Result.IsError {
		var failed struct {
			Code    ubl.Code          `json:"code"`
			Message string            `json:"message"`
			Details map[string]string `json:"details"`
		}
		if err := json.Unmarshal(answer.Result.Structured, &failed); err != nil {
			return err
		}
		said := fmt.Sprintf("%s: %s", failed.Code, failed.Message)
		for _, place := range slices.Sorted(maps.Keys(failed.Details)) {
			said += "; " + place + ": " + failed.Details[place]
		}
		return &statusError{failed.Code.Status(), said}
	}
	return json.Unmarshal(answer.Result.Structured, out)
}

// post sends a JSON-RPC request and reads the answer.
func (a *agent) post(ctx context.Context, n *node, method, name, key string, params any) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	resp, err := a.client.open(ctx, n, "POST", a.path, request, func(h http.Header) {
		if a.headers(h, method, name); key != "" {
			h.Set("Idempotency-Key", key)
			h.Set("UBL-Session", "s:"+key)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &statusError{resp.StatusCode, string(data)}
	}
	return resp, data, err
}

func (a *agent) headers(h http.Header, method, name string) {
	h.Set("Accept", "application/json, text/event-stream")
	if a.modern {
		h.Set("MCP-Protocol-Version", modernProtocol)
		h.Set("Mcp-Method", method)
		h.Set("Mcp-Name", name)
	} else if a.session != "" {
		h.Set("MCP-Protocol-Version", legacyProtocol)
		h.Set("Mcp-Session-Id", a.session)
	}
}
