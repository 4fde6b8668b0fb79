package mcp

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCP Apps (SEP-1865, 2026-01-26): pages of ours that clients show in place of an answer's JSON.
const (
	extensionApps = "io.modelcontextprotocol/ui"
	mimeApp       = "text/html;profile=mcp-app"
	appURI        = "ui://ubl/" // view
	metaApp       = "ui"
)

// viewOf are the tools whose answers a view shows, and which.
var viewOf = map[string]string{toolHistory: "room", toolReceipt: "receipt"}

// showsApps reports whether a client whose capabilities have this extension shows views.
func showsApps(extension jsontext.Value) bool {
	var app struct {
		MIMETypes []string `json:"mimeTypes"`
	}
	return len(extension) > 0 && json.Unmarshal(extension, &app) == nil && slices.Contains(app.MIMETypes, mimeApp)
}

// viewMeta names the view of a tool, nil for one without.
func viewMeta(tool string) sdk.Meta {
	view, ok := viewOf[tool]
	if !ok {
		return nil
	}
	return sdk.Meta{metaApp: map[string]string{"resourceUri": appURI + view}}
}

// view is the page that a URI names. Everyone may read it: it has nobody's data, and shows what
// the client's own calls were answered.
func (s *Server) view(uri string) (*sdk.ResourceContents, bool) {
	name, ok := strings.CutPrefix(uri, appURI)
	if !ok || s.opts.View == nil {
		return nil, false
	}
	page := s.opts.View(name)
	if page == "" {
		return nil, false
	}
	// No origin is named: the page may ask nobody for anything.
	meta := sdk.Meta{metaApp: map[string]any{"csp": map[string]any{"connectDomains": []string{}, "resourceDomains": []string{}}, "prefersBorder": true}}
	return &sdk.ResourceContents{URI: uri, MIMEType: mimeApp, Text: page, Meta: meta}, true
}
