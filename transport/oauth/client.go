package oauth

import (
	"crypto/hmac"
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// How clients prove who they are where they fetch tokens: not at all, or with a secret in
// the header or in the form.
const (
	authNone  = "none"
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
)

func authMethods() []string { return []string{authNone, authPost, authBasic} }

// Limits of a client's metadata.
const (
	maxRedirects    = 10
	maxURL          = 512
	maxClientName   = 100
	maxRedirectText = 2048 // of all redirect URIs together
)

// client is a program that people let act for them.
type client struct {
	ID        string // as it sends it
	Name      string // as it calls itself, "" for not at all
	Redirects []string
	// Host is where its document is, which says who it is; "" for one that registered
	// itself, of which nobody knows anything.
	Host string
	Auth string // of authMethods
}

// label is what the tenant remembers of the client: its document's address, or a hash.
func (c *client) label() string {
	if c.Host != "" {
		return c.ID
	}
	return "registered:" + hashOf(c.ID)[:32]
}

// registered is a client that registered itself, as its id has it.
type registered struct {
	Name      string   `json:"n,omitempty"`
	Redirects []string `json:"r"`
	Auth      string   `json:"a"`
	At        ubl.Time `json:"t"`
}

// registeredClient reads a client id that this server has given.
func (s *Server) registeredClient(id string) (*client, error) {
	var c registered
	if err := s.read(clientKind, id, &c); err != nil {
		return nil, notThisClient("the client is not known here: register it again")
	}
	return &client{ID: id, Name: c.Name, Redirects: c.Redirects, Auth: c.Auth}, nil
}

// secretOf is a registered client's secret. It follows from its id, so that nothing is kept.
func (s *Server) secretOf(id string) string {
	return base64.RawURLEncoding.EncodeToString(mac(s.Keys(string(secretKind))[0], id))
}

// knowsSecret reports whether a secret is the client's.
func (s *Server) knowsSecret(id, secret string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return err == nil && s.made(secretKind, id, sum)
}

// checkRedirects refuses redirect URIs that no client should have.
func checkRedirects(list []string) *problem {
	all := 0
	for _, text := range list {
		all += len(text)
	}
	if len(list) == 0 || len(list) > maxRedirects || all > maxRedirectText {
		return wrong(invalidRedirect, "redirect_uris: 1 to 10, of 512 bytes each and 2048 together")
	}
	for _, text := range list {
		if !goodRedirect(text) {
			return wrong(invalidRedirect, "redirect_uris: https, http to this machine (127.0.0.1, [::1], localhost), or a private scheme with a dot, as com.example.app; without user or fragment")
		}
	}
	return nil
}

// programs are schemes of programs that people use, which have no dot in them.
var programs = []string{"claude", "code-oss", "codex", "cursor", "goose", "jetbrains", "kiro", "lmstudio", "raycast", "trae", "vscode", "vscode-insiders", "vscodium", "warp", "windsurf", "zed"}

// Schemes of other programs are names of their makers, turned round (RFC 8252, section 7.1).
// So no scheme passes that a browser or a system knows, but for those that begin like systemScheme.
var (
	ownScheme    = regexp.MustCompile(`^[a-z][a-z0-9+-]{0,62}(\.[a-z0-9+-]{1,63}){1,8}$`)
	systemScheme = regexp.MustCompile(`^(ms-|x-apple)`)
)

// goodRedirect: a page over TLS, a program that listens on the person's own machine, or one
// that has a scheme of its own (RFC 8252).
func goodRedirect(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxURL || u.User != nil || u.Fragment != "" || strings.Contains(text, "#") || !plainText(text) || u.Opaque != "" {
		return false
	}
	switch u.Scheme {
	case "https":
		return goodHost(u)
	case "http":
		return goodHost(u) && envelope.Loopback(u.Hostname())
	}
	own := ownScheme.MatchString(u.Scheme) && !systemScheme.MatchString(u.Scheme) || slices.Contains(programs, u.Scheme)
	return own && (u.Host != "" || u.Path != "")
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

// goodHost reports whether a URL's host is a plain name or an address in figures, and its port,
// if it has one, a port. Other characters would mean something in a header that names the host.
func goodHost(u *url.URL) bool {
	host, port := u.Hostname(), u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); strings.HasSuffix(u.Host, ":") || port != "" && (err != nil || n == 0) {
		return false
	}
	if strings.HasPrefix(u.Host, "[") {
		ip, err := netip.ParseAddr(host)
		return err == nil && ip.Is6() && ip.Zone() == ""
	}
	return hostName.MatchString(host)
}

// plainText reports whether a URL has the characters that one may have, and no others.
func plainText(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("\"<>\\^`{|}", c) })
}

// redirectsTo reports whether a client may have people sent to a URI: it is one of its own,
// letter by letter, but for the port of the person's own machine, which the program finds
// when it starts.
func (c *client) redirectsTo(text string) bool {
	if !goodRedirect(text) {
		return false
	}
	return slices.ContainsFunc(c.Redirects, func(own string) bool {
		return own == text || withoutPort(own) != "" && withoutPort(own) == withoutPort(text)
	})
}

// withoutPort is a redirect URI to the person's own machine without its port, "" for any other.
func withoutPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !envelope.Loopback(u.Hostname()) {
		return ""
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() {
		host = "[" + host + "]"
	}
	_, rest, _ := strings.Cut(text[len("http://"):], u.Host)
	return "http://" + host + rest
}

// local reports whether a redirect URI leads to a program on the person's own machine by a port.
func local(redirect string) bool { return withoutPort(redirect) != "" }

// sameText compares in a time that tells nothing.
func sameText(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }
