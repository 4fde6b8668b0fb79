package mcpload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// beginTimeout bounds each step of beginning a session.
const beginTimeout = 20 * time.Second

// begin begins a session and returns its id: "" in Modern, which has none, and
// of servers that keep none.
func (t Target) begin(ctx context.Context) (string, error) {
	if t.Protocol == Modern {
		return "", nil
	}
	session, err := t.post(ctx, 1, "initialize", "", map[string]any{
		"protocolVersion": t.Protocol, "capabilities": struct{}{},
		"clientInfo": map[string]string{"name": clientName, "version": clientVersion},
	})
	if err != nil {
		return "", err
	}
	_, err = t.post(ctx, 0, "notifications/initialized", session, map[string]any{})
	return session, err
}

// post sends a message in no hurry and returns the session that the reply names.
func (t Target) post(ctx context.Context, id int, method, session string, params map[string]any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTimeout)
	defer cancel()
	body, err := t.message(id, method, params)
	if err != nil {
		return "", err
	}
	reply, err := exchange(ctx, t, body, session)
	if err != nil {
		return "", fmt.Errorf("couldn't send %s: %w", method, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err == nil && reply.StatusCode/100 != http.StatusOK/100 {
		err = errors.New(reply.Status)
	}
	if err != nil {
		return "", fmt.Errorf("%s failed: %w: %.200s", method, err, text)
	}
	return reply.Header.Get(sessionHeader), nil
}

// exchange posts a body as an MCP client does.
func exchange(ctx context.Context, t Target, body []byte, session string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	r.Header.Set("MCP-Protocol-Version", t.Protocol)
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	return bearer{t.Token, http.DefaultTransport}.RoundTrip(r)
}

// bearer adds the token to each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}
