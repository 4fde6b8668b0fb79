package mcp

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// checkProtocol holds the version in the header against the one in _meta. Only
// requests must have the latter.
func checkProtocol(h http.Header, v *visit, m *message) error {
	if m.ID == nil {
		return nil
	}
	said := m.Meta.Protocol
	switch {
	case said == "" && v.modern:
		return invalid("params._meta.io.modelcontextprotocol/protocolVersion", "is missing")
	case said == "":
		return nil
	case h.Get(headerProtocol) == "":
		return mismatch("header MCP-Protocol-Version is missing, and _meta names a version")
	case h.Get(headerProtocol) != said:
		return mismatch("header MCP-Protocol-Version and _meta name different versions")
	case !supported(said):
		return unsupported(said)
	}
	return nil
}

// checkHeaders holds the headers of 2026-07-28, which proxies read, against the
// message, and looks for what that era wants in _meta.
func checkHeaders(h http.Header, v *visit, m *message, known method) error {
	if !v.modern {
		return nil
	}
	switch {
	case h.Get(headerMethod) == "":
		return mismatch("header Mcp-Method is missing")
	case h.Get(headerMethod) != m.Method:
		return mismatch("header Mcp-Method and the body name different methods")
	case known.named && h.Get(headerName) == "":
		return mismatch("header Mcp-Name is missing")
	case known.named && h.Get(headerName) != m.named():
		return mismatch("header Mcp-Name and the body name different things")
	case m.Meta.Capabilities.Kind() != '{':
		return invalid("params._meta.io.modelcontextprotocol/clientCapabilities", "is missing, or no object")
	}
	return nil
}

// named is what Mcp-Name repeats.
func (m *message) named() string {
	switch m.Method {
	case methodResourcesRead:
		return m.URI
	case methodTasksGet, methodTasksUpdate, methodTasksCancel:
		return m.TaskID
	}
	return m.Name
}

func mismatch(what string) error {
	e := rpcErrorf(codeHeaderMismatch, "%s", what)
	e.status = http.StatusBadRequest
	return e
}

// object is args as an object: none is an empty one.
func object(args jsontext.Value, place string) (jsontext.Value, error) {
	switch {
	case len(args) == 0 || args.Kind() == 'n':
		return jsontext.Value("{}"), nil
	case args.Kind() != '{':
		return nil, invalid(place, "expected an object")
	}
	return args, nil
}
