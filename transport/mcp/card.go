package mcp

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ubl/transport/envelope"
)

// Cards tell clients that know a host alone which MCP servers are there, before they sign in
// (SEP-2127, and its working group's discovery document). They say how to connect, never what
// there is to use.
const (
	cardType    = "application/mcp-server-card+json"
	catalogType = "application/ai-catalog+json"
	cardSchema  = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
	cardSuffix  = "/server-card"
)

// CardPaths are where [Server.Cards] is to be mounted: the catalogue by both of its names, each
// server's card at the place that is reserved for it, and the portal's where many look.
var CardPaths = []string{
	"/.well-known/ai-catalog.json", "/.well-known/mcp/catalog.json",
	"/.well-known/mcp/server-card.json", "/mcp" + cardSuffix, "/portal/mcp" + cardSuffix,
}

// card is a server's.
type card struct {
	Schema      string       `json:"$schema"`
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Version     string       `json:"version"`
	Description string       `json:"description"`
	Icons       []cardIcon   `json:"icons"`
	Remotes     []cardRemote `json:"remotes"`
}

type cardIcon struct {
	Src   string   `json:"src"`
	Type  string   `json:"mimeType"`
	Sizes []string `json:"sizes"`
}

type cardRemote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions"`
}

// catalogEntry leads to a card.
type catalogEntry struct {
	Identifier string `json:"identifier"`
	Name       string `json:"displayName"`
	Type       string `json:"type"`
	URL        string `json:"url"`
}

// Cards serves [CardPaths]. Anyone may read them, from any page.
func (s *Server) Cards() http.Handler {
	return envelope.Only(http.MethodGet, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := envelope.Base(s.opts.PublicURL, r)
		w.Header().Set("Cache-Control", "public, max-age=3600")
		path, isCard := strings.CutSuffix(r.URL.Path, cardSuffix)
		switch {
		case isCard:
			envelope.WriteAs(w, http.StatusOK, cardType, s.card(base, path))
		case r.URL.Path == "/.well-known/mcp/server-card.json":
			envelope.WriteAs(w, http.StatusOK, cardType, s.card(base, "/portal/mcp"))
		default:
			envelope.WriteAs(w, http.StatusOK, catalogType, catalogOf(base))
		}
	}))
}

// card is that of the server at a path below base.
func (s *Server) card(base, path string) card {
	return card{
		Schema: cardSchema, Name: reversed(hostOf(base)) + "/" + cardName(path), Title: resourceName(path), Version: s.opts.Version,
		Description: "Rooms, documents and tools that people and agents share; every action leaves a receipt.",
		Icons:       []cardIcon{{Src: base + "/ui/icon-192.png", Type: "image/png", Sizes: []string{"192x192"}}},
		Remotes:     []cardRemote{{Type: "streamable-http", URL: base + path, Versions: versions()}},
	}
}

// cardName is a server's at a path, behind the host's.
func cardName(path string) string {
	if path == "/mcp" {
		return "ubl"
	}
	return "ubl-portal"
}

func catalogOf(base string) any {
	entries := []catalogEntry{}
	for _, path := range []string{"/portal/mcp", "/mcp"} {
		entries = append(entries, catalogEntry{
			Identifier: "urn:air:" + hostOf(base) + ":" + cardName(path), Name: resourceName(path), Type: cardType, URL: base + path + cardSuffix,
		})
	}
	return struct {
		Version string         `json:"specVersion"`
		Entries []catalogEntry `json:"entries"`
	}{"1.0", entries}
}

// hostOf is the host of a base URL, as names of servers may have it.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || strings.Contains(u.Hostname(), ":") {
		return "localhost"
	}
	return u.Hostname()
}

// reversed is a domain's name from its end, and an address as it is.
func reversed(host string) string {
	if net.ParseIP(host) != nil {
		return host
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}
