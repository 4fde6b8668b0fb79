package oauth

import (
	"net/http"
	"net/url"
	"strings"

	"ubl/transport/envelope"
)

// metadata serves what a client has to know of the server (RFC 8414), under whatever host it
// was asked. Older clients look for it behind the path of the MCP server.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	if path := strings.TrimPrefix(r.URL.Path, MetadataPath); path != "" && !s.Resource(path) {
		nothing(w, r)
		return
	}
	issuer := s.issuer(r)
	w.Header().Set("Cache-Control", "max-age=300")
	envelope.Write(w, http.StatusOK, serverMetadata{
		Issuer:      issuer,
		Authorize:   s.browsersAt(issuer) + authorizePath,
		Token:       issuer + tokenPath,
		Register:    issuer + registerPath,
		Revoke:      issuer + revokePath,
		Responses:   []string{"code"},
		Modes:       []string{"query"},
		Grants:      []string{grantCode, grantRefresh},
		Auth:        authMethods(),
		RevokeAuth:  authMethods(),
		Challenges:  []string{"S256"},
		Scopes:      []string{s.Scope, scopeOffline},
		Documents:   true,
		NamesItself: true,
	})
}

// serverMetadata are the members of RFC 8414, RFC 9207 and of Client ID Metadata Documents.
type serverMetadata struct {
	Issuer      string   `json:"issuer"`
	Authorize   string   `json:"authorization_endpoint"`
	Token       string   `json:"token_endpoint"`
	Register    string   `json:"registration_endpoint"`
	Revoke      string   `json:"revocation_endpoint"`
	Responses   []string `json:"response_types_supported"`
	Modes       []string `json:"response_modes_supported"`
	Grants      []string `json:"grant_types_supported"`
	Auth        []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuth  []string `json:"revocation_endpoint_auth_methods_supported"`
	Challenges  []string `json:"code_challenge_methods_supported"`
	Scopes      []string `json:"scopes_supported"`
	Documents   bool     `json:"client_id_metadata_document_supported"`
	NamesItself bool     `json:"authorization_response_iss_parameter_supported"`
}

// scopeOffline is what some clients ask for to get refresh tokens. They get them anyway.
const scopeOffline = "offline_access"

// browsersAt is where people sign in to who is known as issuer. Cookies and passkeys belong
// to one host: on this machine it is the one that sign-in links lead to, by whatever name of
// the machine a client came.
func (s *Server) browsersAt(issuer string) string {
	if s.PublicURL == "" && envelope.SameOrigin(issuer, s.Browsers) {
		return s.Browsers
	}
	return issuer
}

// withoutQuery is a resource as tokens name it: by which query a client chooses its tools makes no
// other server.
func withoutQuery(resource string) string {
	at, _, _ := strings.Cut(resource, "?")
	return at
}

// resource reads the URL of an MCP server of ours, which has no query: under the public URL, or
// where there is none under the host that was asked, or any name of this machine for who asked one.
func (s *Server) resource(r *http.Request, text string) (issuer, path string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Contains(text, "#") || len(text) > maxURL || u.RawPath != "" {
		return "", "", false
	}
	issuer, path = u.Scheme+"://"+u.Host, u.Path
	ours := issuer == s.issuer(r) || s.PublicURL == "" && envelope.SameOrigin(issuer, s.issuer(r))
	return issuer, path, ours && s.Resource(path)
}
