package mcp

import (
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// MetadataPath is where the metadata of /mcp and /portal/mcp are, the path of
// the resource behind it (RFC 9728). By itself it is that of /mcp.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Scope is the one scope that there is. What a token may do is said by the mandate that a
// person gave with it.
const Scope = "mcp"

// resources are the paths at which there is an MCP server, and what is narrower below them.
var resources = regexp.MustCompile(`^(/portal)?/mcp(/[A-Za-z0-9._:,-]{1,256}){0,2}$`)

// Resource reports whether a path is that of an MCP server of ours.
// A segment of dots is no name: programs take it away before they send the request.
func Resource(address string) bool {
	return resources.MatchString(address) && path.Clean(address) == address
}

// queries are those that an address of ours may have, to choose tools, as clients write them.
var queries = regexp.MustCompile(`^` + word + `=[A-Za-z0-9._:,%+-]*(&` + word + `=[A-Za-z0-9._:,%+-]*)*$`)

const (
	word = `(` + querySets + `|` + queryReadOnly + `|` + querySchemas + `)`
	// maxChoice bounds such a query, in bytes.
	maxChoice = 1024
)

// choosing is the query of an address, with its question mark, as the metadata name it: letter by
// letter, since clients want the resource to be the very address that they know (RFC 9728, 3.3).
// Where it says anything but a choice of tools it is left out.
func choosing(u *url.URL) string {
	if _, err := url.ParseQuery(u.RawQuery); err != nil || len(u.RawQuery) > maxChoice || !queries.MatchString(u.RawQuery) {
		return ""
	}
	return "?" + u.RawQuery
}

// resourceName is what to call it.
func resourceName(path string) string {
	base, portal := strings.CutPrefix(path, "/portal")
	name := "UBL"
	if portal {
		name = "UBL portal"
	}
	if narrower := strings.TrimPrefix(base, "/mcp"); narrower != "" {
		name += " (" + strings.ReplaceAll(narrower[1:], "/", ", ") + ")"
	}
	return name
}

// Metadata serves [MetadataPath] and what is below it: whom to ask for a token.
// Anyone may read it, from any page. Clients ask the first server that is named, so
// that is this one where it gives tokens; providers follow, whose tokens it takes too.
func (s *Server) Metadata() http.Handler {
	return envelope.Only(http.MethodGet, http.HandlerFunc(s.metadata))
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, MetadataPath)
	if path == "" {
		path = "/mcp"
	}
	servers := s.servers(r)
	if !Resource(path) || len(servers) == 0 {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing at this path"))
		return
	}
	w.Header().Set("Cache-Control", "max-age=300")
	envelope.Write(w, http.StatusOK, metadata{
		Resource: envelope.Base(s.opts.PublicURL, r) + path + choosing(r.URL), Name: resourceName(path), Servers: servers,
		Methods: []string{"header"}, Scopes: []string{Scope},
	})
}

// servers are those whose tokens are taken.
func (s *Server) servers(r *http.Request) []string {
	if !s.opts.Authorizes {
		return s.opts.Issuers
	}
	return append([]string{envelope.Base(s.opts.PublicURL, r)}, s.opts.Issuers...)
}

// metadata is a protected resource as RFC 9728 describes it.
type metadata struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Servers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
	Scopes   []string `json:"scopes_supported"`
}

// Challenge makes authentication speak the protocol to whom it turns away, and tell them
// where the metadata are.
func (s *Server) Challenge(authenticate func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler { return envelope.Refusing(authenticate, next, s.turnAway) }
}

// turnAway answers a request that never came to the door.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	if ubl.CodeOf(err) == ubl.CodeUnauthorized && len(s.servers(r)) > 0 {
		h := w.Header()
		said, sep := h.Get("WWW-Authenticate"), ", "
		if !strings.Contains(said, " ") {
			said, sep = "Bearer", " "
		}
		h.Set("WWW-Authenticate", said+sep+`resource_metadata="`+envelope.Base(s.opts.PublicURL, r)+MetadataPath+r.URL.Path+choosing(r.URL)+`", scope="`+Scope+`"`)
	}
	s.refuse(w, r, nil, err)
}
