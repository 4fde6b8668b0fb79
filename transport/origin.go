package transport

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// origins decides which web pages may use the server from a browser. Programs
// send no Origin and are not its business: they need a credential like
// everyone.
//
// A page may if its origin is on the list (or is the public URL's), or if it
// came from this server itself: origin and Host agree, and the Host is one
// that no stranger can have pointed here by DNS, which is an address or
// localhost.
type origins struct {
	allowed map[string]bool // scheme://host[:port], lower case
}

func newOrigins(allow []string, publicURL string) origins {
	o := origins{allowed: make(map[string]bool, len(allow)+1)}
	for _, origin := range append([]string{publicURL}, allow...) {
		if u, err := url.Parse(origin); err == nil && u.Host != "" {
			o.allowed[strings.ToLower(u.Scheme+"://"+u.Host)] = true
		}
	}
	return o
}

// The headers that scripts of allowed origins may send and read.
const (
	corsRequestHeaders  = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, UBL-Session, X-MCP-Readonly, X-MCP-Schemas, X-MCP-Toolsets, X-Request-Id, CF-Access-Client-Id, CF-Access-Client-Secret"
	corsResponseHeaders = "ETag, Location, Mcp-Session-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
	corsMethods         = "GET, POST, PUT, PATCH, DELETE"
)

// anyOrigin lets any page have a browser ask, since nothing that a browser sends by itself
// counts for what is behind it.
func anyOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", corsResponseHeaders)
		if preflight(r) {
			h.Set("Access-Control-Allow-Methods", "GET, POST")
			h.Set("Access-Control-Allow-Headers", corsRequestHeaders)
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check refuses what other people's pages make a browser send, and answers
// preflights.
func (o origins) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin, browser := originOf(r)
		if !browser {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Origin")
		listed := o.listed(origin)
		if !listed && !own(origin, r.Host) && (preflight(r) || changes(r.Method)) {
			envelope.WriteError(w, r, ubl.Errorf(ubl.CodeOriginNotAllowed, "pages of this origin may not use the server; see --allow-origin"))
			return
		}
		if listed {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", corsResponseHeaders)
		}
		if preflight(r) {
			w.Header().Set("Access-Control-Allow-Methods", corsMethods)
			w.Header().Set("Access-Control-Allow-Headers", corsRequestHeaders)
			w.Header().Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// preflight reports whether a browser asks what a page may send.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

func (o origins) listed(origin string) bool { return o.allowed[strings.ToLower(origin)] }

// Foreign tells requests that a web page of another origin made a browser send,
// for protocols that refuse them whatever the method. The arguments are those of
// [Options].
func Foreign(allow []string, publicURL string) func(*http.Request) bool {
	o := newOrigins(allow, publicURL)
	return func(r *http.Request) bool {
		origin, browser := originOf(r)
		return browser && !o.listed(origin) && !own(origin, r.Host)
	}
}

// originOf is the page's origin; "null" where a browser sent the request for
// another site's page but would not say for which.
func originOf(r *http.Request) (origin string, browser bool) {
	switch h := r.Header["Origin"]; {
	case len(h) == 1:
		return h[0], true
	case len(h) > 1:
		return "null", true
	}
	sites := r.Header["Sec-Fetch-Site"]
	return "null", len(sites) > 1 || slices.Contains(sites, "cross-site") || slices.Contains(sites, "same-site")
}

// own reports whether the page came from this very server.
func own(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host) && fixedHost(host)
}

// fixedHost reports whether no stranger's DNS can have made the name in a Host
// header: it is an address, or localhost.
func fixedHost(host string) bool {
	name := strings.ToLower((&url.URL{Host: host}).Hostname())
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name) != nil
}

func changes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}
