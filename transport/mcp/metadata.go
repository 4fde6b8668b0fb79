package mcp

import (
	"net/http"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// MetadataPath is where the metadata of /mcp and /portal/mcp are, the path of
// the resource behind it (RFC 9728). By itself it is that of /mcp.
const MetadataPath = "/.well-known/oauth-protected-resource"

// resourceNames are the names of what there are metadata of, by path.
var resourceNames = map[string]string{"/mcp": "UBL", "/portal/mcp": "UBL portal"}

// Metadata serves [MetadataPath] and what is below it: whom to ask for a token.
// Anyone may read it, from any page. Without an issuer there is none.
func (s *Server) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		path := strings.TrimPrefix(r.URL.Path, MetadataPath)
		if path == "" {
			path = "/mcp"
		}
		name, ok := resourceNames[path]
		if !ok || len(s.opts.Issuers) == 0 {
			envelope.WriteError(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing at this path"))
			return
		}
		w.Header().Set("Cache-Control", "max-age=300")
		envelope.Write(w, http.StatusOK, metadata{
			Resource: s.base(r) + path, Name: name, Servers: s.opts.Issuers, Methods: []string{"header"},
		})
	})
}

// metadata is a protected resource as RFC 9728 describes it.
type metadata struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Servers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
}

// base is where the server is reached from outside.
func (s *Server) base(r *http.Request) string {
	if s.opts.PublicURL != "" {
		return strings.TrimSuffix(s.opts.PublicURL, "/")
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host
}

// Challenge makes authentication tell whom it turns away where the metadata are.
// What gets through sees the response that came in.
func (s *Server) Challenge(authenticate func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	if len(s.opts.Issuers) == 0 {
		return authenticate
	}
	return func(next http.Handler) http.Handler {
		let := authenticate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, ok := w.(*challenged); ok {
				w = c.ResponseWriter
			}
			next.ServeHTTP(w, r)
		}))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			let.ServeHTTP(&challenged{ResponseWriter: w, url: s.base(r) + MetadataPath + r.URL.Path}, r)
		})
	}
}

// challenged is a response that says of the metadata if it is a 401.
type challenged struct {
	http.ResponseWriter
	url string
}

// WriteHeader adds to what authentication has said.
func (c *challenged) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		h := c.Header()
		said, sep := h.Get("WWW-Authenticate"), ", "
		if !strings.Contains(said, " ") {
			said, sep = "Bearer", " "
		}
		h.Set("WWW-Authenticate", said+sep+`resource_metadata="`+c.url+`"`)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap lets an http.ResponseController reach deadlines and flushing.
func (c *challenged) Unwrap() http.ResponseWriter { return c.ResponseWriter }
