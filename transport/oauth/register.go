package oauth

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
)

// maxMetadata bounds what a client says of itself, in bytes.
const maxMetadata = 16 << 10

// said is what a client says of itself (RFC 7591), as far as it matters here.
type said struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Auth      string   `json:"token_endpoint_auth_method"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
}

// check refuses what this server can't do for a client.
func (c *said) check() *problem {
	switch {
	case len(c.Grants) > 0 && !slices.Contains(c.Grants, grantCode):
		return wrong(invalidMetadata, "grant_types: authorization_code, with refresh_token or without")
	case len(c.Responses) > 0 && !slices.Contains(c.Responses, "code"):
		return wrong(invalidMetadata, "response_types: code")
	}
	return checkRedirects(c.Redirects)
}

// name is what the client calls itself, as far as it can be shown.
func (c *said) name() string {
	name := strings.TrimSpace(ubl.ShownName(c.Name))
	for utf8.RuneCountInString(name) > maxClientName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	return name
}

// registration is the answer: the client as it is known from now on.
type registration struct {
	ID        string   `json:"client_id"`
	IssuedAt  int64    `json:"client_id_issued_at"`
	Secret    string   `json:"client_secret,omitempty"`
	Expires   *int64   `json:"client_secret_expires_at,omitempty"`
	Name      string   `json:"client_name,omitempty"`
	Redirects []string `json:"redirect_uris"`
	Auth      string   `json:"token_endpoint_auth_method"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Scope     string   `json:"scope"`
}

// register makes a client known, without remembering it: all is in the id.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	answer, err := s.registers(w, r)
	if err != nil {
		s.tell(w, r, err)
		return
	}
	s.write(w, http.StatusCreated, answer)
}

func (s *Server) registers(w http.ResponseWriter, r *http.Request) (*registration, error) {
	if err := s.Count(r); err != nil {
		return nil, err
	}
	var asked said
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, wrong(invalidMetadata, "the body is application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMetadata))
	if err != nil || json.Unmarshal(data, &asked) != nil {
		return nil, wrong(invalidMetadata, "the body is not a JSON object of 16 KiB at most, with members of the types that RFC 7591 names")
	}
	if p := asked.check(); p != nil {
		return nil, p
	}
	if asked.Auth == "" { // what RFC 7591 says it then is
		asked.Auth = authBasic
	}
	if !slices.Contains(authMethods(), asked.Auth) {
		return nil, wrong(invalidMetadata, "token_endpoint_auth_method: none, client_secret_post or client_secret_basic")
	}
	c := registered{Name: asked.name(), Redirects: asked.Redirects, Auth: asked.Auth, At: ubl.TimeOf(s.Now())}
	id, err := s.stamp(clientKind, c)
	if err != nil {
		return nil, err
	}
	out := &registration{
		ID: id, IssuedAt: c.At.Std().Unix(), Name: c.Name, Redirects: c.Redirects, Auth: c.Auth,
		Grants: []string{grantCode, grantRefresh}, Responses: []string{"code"}, Scope: s.Scope,
	}
	if c.Auth != authNone {
		out.Secret, out.Expires = s.secretOf(id), new(int64(0))
	}
	return out, nil
}
