package portal

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"ubl"
)

// authority is an authorization server as far as the portal needs to know it.
type authority struct {
	issuer       string // "" where its addresses were set by an owner
	authorize    string
	token        string
	register     string // "" where it takes no new clients
	style        oauth2.AuthStyle
	scopes       []string
	namesItself  bool // it puts its issuer into its answers (RFC 9207)
	takesRefresh bool // it knows the scope offline_access
	inside       bool // whoever named it is inside, and so may it be (see namedClient)
}

// authorityOf finds the authorization server that users of a server sign in to: as an owner has set it,
// else as the server's protected-resource metadata (RFC 9728) and that server's
// own (RFC 8414) say.
func (p *Portal) authorityOf(ctx context.Context, t ubl.TenantID, s *ubl.Server) (*authority, error) {
	if s.TokenURL != "" && s.AuthorizeURL != "" {
		return &authority{authorize: s.AuthorizeURL, token: s.TokenURL, scopes: s.Scopes}, nil
	}
	asked := challenge(ctx, p.plainClient(t), s.URL)
	client := p.namedClient(t, asked.inside)
	issuer, scopes := p.protectorOf(ctx, client, s.URL, asked)
	if err := p.checkURL("the authorization server", issuer); err != nil {
		return nil, err
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "couldn't learn where to sign in to the server").Because(err)
	}
	if meta == nil { // servers of 2025-03-26 say nothing and have fixed paths
		meta = &oauthex.AuthServerMeta{
			Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register",
		}
	}
	a := &authority{
		issuer: meta.Issuer, authorize: cmp.Or(s.AuthorizeURL, meta.AuthorizationEndpoint), token: cmp.Or(s.TokenURL, meta.TokenEndpoint),
		register: meta.RegistrationEndpoint, style: styleOf(meta.TokenEndpointAuthMethodsSupported), scopes: s.Scopes,
		namesItself: meta.AuthorizationResponseIssParameterSupported, takesRefresh: slices.Contains(meta.ScopesSupported, "offline_access"),
		inside: asked.inside,
	}
	if len(a.scopes) == 0 {
		a.scopes = scopes
	}
	if err := a.check(p); err != nil {
		return nil, err
	}
	return a, a.checkMixUp(s)
}

// checkMixUp refuses metadata that could bring one provider's code to another (RFC 9700,
// section 4.4): addresses of other hosts than the issuer's. An owner agrees to such an address by
// setting it. A provider that names itself in its answers needs no such check (see checkIssuer).
func (a *authority) checkMixUp(s *ubl.Server) error {
	var elsewhere []string
	for _, e := range []struct{ setting, set, found string }{
		{"authorize_url", s.AuthorizeURL, a.authorize}, {"token_url", s.TokenURL, a.token},
	} {
		if e.set == "" && originOf(e.found) != originOf(a.issuer) {
			elsewhere = append(elsewhere, fmt.Sprintf("%s at %q", e.setting, hostOf(e.found)))
		}
	}
	if a.namesItself || len(elsewhere) == 0 {
		return nil
	}
	return ubl.Errorf(ubl.CodeConflict, "the server's issuer %q has %s, and doesn't name itself in its answers: a sign-in could be handed to somebody else. "+
		"An owner who knows that these belong together removes the server and adds it with these addresses set", hostOf(a.issuer), strings.Join(elsewhere, " and "))
}

// check holds the addresses that were found against the rules for those that are set.
func (a *authority) check(p *Portal) error {
	for _, address := range []string{a.authorize, a.token, a.register} {
		if address == "" {
			continue
		}
		if err := p.checkURL("the authorization server", address); err != nil {
			return err
		}
	}
	return nil
}

// styleOf is how the token endpoint wants the client's secret.
func styleOf(methods []string) oauth2.AuthStyle {
	switch {
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	case slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// protectorOf is the authorization server that a server names, and the scopes it
// wants. A server that names none is its own.
func (p *Portal) protectorOf(ctx context.Context, client *http.Client, server string, asked challenged) (issuer string, scopes []string) {
	hint, wanted := asked.page, asked.scopes
	if p.checkURL("the page of metadata", hint) != nil {
		hint = ""
	}
	for _, page := range metadataPages(hint, server) {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, page.url, page.resource, client)
		if err != nil || meta == nil || len(meta.AuthorizationServers) == 0 {
			continue
		}
		if len(wanted) == 0 {
			wanted = meta.ScopesSupported
		}
		return strings.TrimSuffix(meta.AuthorizationServers[0], "/"), wanted
	}
	return originOf(server), wanted
}

// challenged is what a server says to someone without credentials.
type challenged struct {
	page   string // of its metadata
	scopes []string
	inside bool // the server is on this machine or in a private network
}

// challenge asks the server without credentials: its refusal says where its
// metadata is, and which scopes it wants. Where the server is shows the connection
// that it answers on: what its name leads to may be another address every time.
func challenge(ctx context.Context, client *http.Client, server string) (asked challenged) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) { asked.inside = isInside(c.Conn) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server, nil)
	if err != nil {
		return asked
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return asked
	}
	resp.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return asked
	}
	for _, c := range challenges {
		asked.page = cmp.Or(asked.page, c.Params["resource_metadata"])
		if c.Scheme == "bearer" && len(asked.scopes) == 0 {
			asked.scopes = strings.Fields(c.Params["scope"])
		}
	}
	return asked
}

// metadataPage is where metadata may be, and about what it must be.
type metadataPage struct{ url, resource string }

// metadataPages lists them as MCP's authorization chapter orders them.
func metadataPages(hint, server string) []metadataPage {
	const well = "/.well-known/oauth-protected-resource"
	var pages []metadataPage
	if hint != "" {
		pages = append(pages, metadataPage{hint, server})
	}
	u, err := url.Parse(server)
	if err != nil {
		return pages
	}
	root := u.Scheme + "://" + u.Host
	return append(pages, metadataPage{root + well + "/" + strings.TrimLeft(u.Path, "/"), server}, metadataPage{root + well, root})
}

// registered is a client that an authorization server knows.
type registered struct {
	id, secret string
	style      oauth2.AuthStyle
}

// register has the authorization server take the portal as a new client (RFC 7591).
func (p *Portal) register(ctx context.Context, t ubl.TenantID, a *authority) (*registered, error) {
	if a.register == "" {
		return nil, ubl.Errorf(ubl.CodeConflict, "the authorization server registers no clients: an owner must set a client_id")
	}
	kind := "web"
	if u, err := url.Parse(p.publicURL); err == nil && isLoopback(u.Hostname()) {
		kind = "native"
	}
	answer, err := oauthex.RegisterClient(ctx, a.register, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{p.redirectURL()}, ClientName: "UBL", ApplicationType: kind, Scope: strings.Join(a.scopes, " "),
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
	}, p.namedClient(t, a.inside))
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "couldn't register with the authorization server").Because(fmt.Errorf("couldn't register: %w", err))
	}
	style := oauth2.AuthStyleInParams
	if answer.TokenEndpointAuthMethod == "client_secret_basic" {
		style = oauth2.AuthStyleInHeader
	}
	return &registered{answer.ClientID, answer.ClientSecret, style}, nil
}
