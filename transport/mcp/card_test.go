package mcp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl/transport/mcp"
)

// TestCards: who knows the host alone finds the catalogue, by it the cards, and by each an MCP
// server of that address. Forms are those of the working group's schema.
func TestCards(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.PublicURL = "https://ubl.example.com" })
	get := func(path, mediaType string, into any) {
		t.Helper()
		rec := httptest.NewRecorder()
		w.Cards().ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != http.StatusOK || rec.Header().Get("Content-Type") != mediaType || !strings.Contains(rec.Header().Get("Cache-Control"), "max-age") {
			t.Fatalf("%s is answered %d %v", path, rec.Code, rec.Header())
		}
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	type card struct {
		Schema                     string `json:"$schema"`
		Name, Version, Description string
		Remotes                    []struct {
			Type, URL                 string
			SupportedProtocolVersions []string
		}
	}
	for _, path := range []string{"/.well-known/ai-catalog.json", "/.well-known/mcp/catalog.json"} {
		var catalog struct {
			Entries []struct{ Identifier, Type, URL string }
		}
		get(path, "application/ai-catalog+json", &catalog)
		if len(catalog.Entries) != 2 {
			t.Fatalf("%s lists %v", path, catalog.Entries)
		}
		for _, e := range catalog.Entries {
			var c card
			at, ours := strings.CutPrefix(e.URL, "https://ubl.example.com")
			get(at, "application/mcp-server-card+json", &c)
			if !ours || !strings.HasPrefix(e.Identifier, "urn:air:ubl.example.com:ubl") || e.Type != "application/mcp-server-card+json" {
				t.Errorf("%s has the entry %+v", path, e)
			}
			if !strings.HasPrefix(c.Name, "com.example.ubl/ubl") || c.Version == "" || len(c.Description) > 100 ||
				c.Schema != "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json" {
				t.Errorf("%s is %+v", at, c)
			}
			if r := c.Remotes[0]; r.Type != "streamable-http" || r.URL+"/server-card" != e.URL || len(r.SupportedProtocolVersions) < 2 {
				t.Errorf("%s leads to %+v", at, r)
			}
		}
	}
	var c card
	if get("/.well-known/mcp/server-card.json", "application/mcp-server-card+json", &c); c.Remotes[0].URL != "https://ubl.example.com/portal/mcp" {
		t.Errorf("the well-known card leads to %v", c.Remotes)
	}
}

// TestCardsWithoutAPublicURL follow the host that was asked, by name and by number.
func TestCardsWithoutAPublicURL(t *testing.T) {
	w := newWorld(t)
	for host, name := range map[string]string{"localhost:8080": "localhost/ubl", "127.0.0.1:8080": "127.0.0.1/ubl", "[::1]:8080": "localhost/ubl"} {
		rec, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/mcp/server-card", nil)
		r.Host = host
		w.Cards().ServeHTTP(rec, r)
		if !strings.Contains(rec.Body.String(), `"name":"`+name+`"`) || !strings.Contains(rec.Body.String(), `"url":"http://`+host+`/mcp"`) {
			t.Errorf("asked at %s it is %s", host, rec.Body)
		}
	}
}
