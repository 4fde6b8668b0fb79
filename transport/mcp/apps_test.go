package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/transport/mcp"
)

const extensionApps = "io.modelcontextprotocol/ui"

// shows are the capabilities of a client that shows pages of these types.
func shows(types ...string) *sdk.ClientOptions {
	c := &sdk.ClientCapabilities{}
	c.AddExtension(extensionApps, map[string]any{"mimeTypes": types})
	return &sdk.ClientOptions{Capabilities: c}
}

// TestApps: a client that shows views hears of them, in both eras; no other does, and its list has
// the bytes that it had before.
func TestApps(t *testing.T) {
	page := func(name string) string {
		if name != "room" && name != "receipt" {
			return ""
		}
		return "<!doctype html><title>" + name + "</title>"
	}
	w := newWorld(t, func(o *mcp.Options) { o.View = page })
	without := newWorld(t)
	for _, version := range []string{"", "2025-06-18"} {
		for name, tt := range map[string]struct {
			options *sdk.ClientOptions
			hears   bool
		}{
			"shows apps":         {shows("text/html;profile=mcp-app"), true},
			"shows another type": {shows("text/uri-list"), false},
			"shows nothing":      {&sdk.ClientOptions{}, false},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				s := w.connect(t, w.url+"/mcp/messenger,agreements", "ana", version, tt.options)
				_, told := s.InitializeResult().Capabilities.Extensions[extensionApps]
				if told != tt.hears {
					t.Errorf("the server says that it has views: %v", told)
				}
				tools := toolsOf(t, s)
				views := map[string]string{}
				for _, tool := range tools {
					if ui, ok := tool.Meta["ui"].(map[string]any); ok {
						views[tool.Name] = ui["resourceUri"].(string)
					}
				}
				if !tt.hears {
					plain := toolsOf(t, without.connect(t, without.url+"/mcp/messenger,agreements", "ana", version, nil))
					if got, want := encoded(t, tools), encoded(t, plain); got != want {
						t.Errorf("a client that shows no view pays for them: %d bytes, not %d", len(got), len(want))
					}
					return
				}
				if len(views) != 2 || views["messenger.history"] != "ui://ubl/room" || views["receipt.get"] != "ui://ubl/receipt" {
					t.Fatalf("views are %v", views)
				}
				for tool, uri := range views {
					read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
					if err != nil {
						t.Fatalf("the view of %s: %v", tool, err)
					}
					c := read.Contents[0]
					ui, _ := c.Meta["ui"].(map[string]any)
					if c.MIMEType != "text/html;profile=mcp-app" || c.URI != uri || !strings.Contains(c.Text, "<!doctype html>") || ui["csp"] == nil {
						t.Errorf("%s is %+v", uri, c)
					}
				}
				if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://ubl/other"}); err == nil {
					t.Error("a view that there isn't can be read")
				}
			})
		}
	}
}

// TestAppsNoPage: a server without pages names none.
func TestAppsNoPage(t *testing.T) {
	w := newWorld(t)
	s := w.connect(t, w.url+"/mcp/messenger", "ana", "", shows("text/html;profile=mcp-app"))
	for _, tool := range toolsOf(t, s) {
		if tool.Meta["ui"] != nil {
			t.Errorf("%s has a view", tool.Name)
		}
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://ubl/room"}); err == nil {
		t.Error("a view that there isn't can be read")
	}
}

func toolsOf(t *testing.T, s *sdk.ClientSession) (tools []*sdk.Tool) {
	t.Helper()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
