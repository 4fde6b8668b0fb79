package public

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"ubl"
	"ubl/transport/public/commons"
)

// What agents read of a commons by MCP, at /public/{tenant}/{container}/mcp. Its tools read by paths of
// REST, so that they have its copies and limits.

// protocolHeaders are those that clients of MCP send, from web pages too.
const protocolHeaders = "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, X-Request-Id"

// reader reads a commons for one request.
type reader struct {
	h   *Handler
	at  string // the path of its container
	may func() error
}

// Read implements [commons.Reader].
func (r reader) Read(ctx context.Context, path string, query url.Values, into any) error {
	p, err := parse(r.at+"/api/v1"+path, query.Encode())
	if err != nil {
		return err
	}
	a, _, err := r.h.look(ctx, p, r.may)
	if err != nil {
		return err
	}
	return json.Unmarshal(a.body, into)
}

// serveAgents answers a request of MCP. Where the commons shows nothing it is answered as every other
// path that leads nowhere.
func (h *Handler) serveAgents(w http.ResponseWriter, r *http.Request, p place, ask func() error) (outcome, error) {
	head := w.Header()
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions:
		head.Set("Allow", http.MethodPost+", "+http.MethodOptions)
		head.Set("Access-Control-Allow-Methods", http.MethodPost)
		head.Set("Access-Control-Allow-Headers", protocolHeaders)
		head.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return asked, nil
	default:
		head.Set("Allow", http.MethodPost+", "+http.MethodOptions)
		return refused, ubl.Errorf(ubl.CodeMethodNotAllowed, "agents post to a commons; there are no sessions, and no streams")
	}
	all := p
	all.kind = overview
	a, how, err := h.look(r.Context(), all, ask)
	if err != nil {
		return how, err
	}
	v := &commons.Visit{
		Container: p.container, Overview: &ubl.KnowledgeOverview{}, Reader: reader{h, "/" + string(p.tenant) + "/" + string(p.container), ask},
		Count: func() error { _, err := h.Count(r); return err },
	}
	if err := json.Unmarshal(a.body, v.Overview); err != nil {
		return failed, err
	}
	h.agents.Serve(w, r, v)
	return how, nil
}

// forAgents reports whether a path may be the one for agents: others take no other methods.
func forAgents(path string) bool { return strings.HasSuffix(path, "/mcp") }

// links tell where else a container is read (RFC 8288): by REST as it is described, and by MCP.
func (h *Handler) links(r *http.Request, p place) string {
	at := "/" + string(p.tenant) + "/" + string(p.container)
	if !h.At(r) {
		at = Prefix + at
	}
	return "<" + at + `/api/v1/openapi.json>; rel="service-desc"; type="application/json", <` + at + `/mcp>; rel="service"; title="MCP"`
}
