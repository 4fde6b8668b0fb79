package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/mcpload"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

const (
	serversPath = "/api/portal/servers"
	toolsPath   = "/api/portal/tools"
	// upstreamID stands before the names of the other server's tools.
	upstreamID    = "bare"
	upstreamTool  = upstreamID + "." + peer.EchoTool
	echoArguments = `{"text":"` + load.Text + `"}`
)

// portal holds calls of another server's tool through UBL against direct ones.
func (s *Suite) portal(ctx context.Context) {
	var sections []report.Section
	for _, callers := range report.PortalCallers() {
		sections = append(sections, report.PortalOf(callers))
	}
	s.ways(ctx, sections, s.startPortal, []way{
		{report.Direct, func(ctx context.Context, st *stage) error {
			return s.callers(ctx, report.Direct, st.upstream, peer.MCPPath, peer.EchoTool)
		}},
		{report.Hop, func(ctx context.Context, st *stage) error {
			return s.callers(ctx, report.Hop, st.ubl, portalPath, upstreamTool)
		}},
	})
}

// callers drives the tool with few and with many.
func (s *Suite) callers(ctx context.Context, subject report.Subject, t *target, path, tool string) error {
	for _, n := range report.PortalCallers() {
		err := s.call(ctx, report.PortalOf(n), subject, t, n, calling{
			generator: "sdkload", path: path, protocol: mcpload.Modern, tool: tool, arguments: echoArguments,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startPortal starts a bare MCP server, and UBL with its tool open to everyone.
func (s *Suite) startPortal(ctx context.Context, dir string) (*stage, error) {
	if s.UBLMissing != "" {
		return nil, errors.New(s.UBLMissing)
	}
	upstream, err := s.startPeer(ctx, report.BareMCP, "mcp")
	if err != nil {
		return nil, err
	}
	t, err := s.startUBL(ctx, dir, keeper)
	if err != nil {
		return nil, errors.Join(err, upstream.server.Stop())
	}
	st := &stage{ubl: t, upstream: upstream}
	if err := join(t, upstream.server.Host); err != nil {
		return nil, errors.Join(err, t.server.Complaint(), st.stop())
	}
	return st, nil
}

// join makes the other server known to UBL and lets everyone use its tool.
func join(t *target, upstream string) error {
	server := fmt.Sprintf(`{"server_id":%q,"name":"Bare","url":"http://%s%s"}`, upstreamID, upstream, peer.MCPPath)
	if err := request(t, http.MethodPost, serversPath, server, http.StatusCreated); err != nil {
		return fmt.Errorf("couldn't add the server: %w", err)
	}
	if err := request(t, http.MethodPut, toolsPath+"/"+upstreamTool+"/access", `{"allowed":true}`, http.StatusOK); err != nil {
		return fmt.Errorf("couldn't open the tool: %w", err)
	}
	return nil
}

// request makes one request that must get the status.
func request(t *target, method, path, body string, want int) error {
	conn, err := rawhttp.Dial(t.server.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, reply, err := conn.Do(rawhttp.Request(method, t.server.Host, path, t.token, []byte(body)))
	if err != nil {
		return err
	}
	if status != want {
		return fmt.Errorf("%d %.300s", status, reply)
	}
	return nil
}
