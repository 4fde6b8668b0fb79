package oauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"ubl/transport/envelope"
)

// request is what a client wants of a person, checked.
type request struct {
	client    *client
	redirect  string
	state     string
	challenge string // of PKCE, by S256
	resource  string // the URL of the MCP server
	path      string // its path, which chooses what the client's query did
	issuer    string // this server, as the client knows it
}

// Limits of a request, in bytes.
const (
	maxQuery = 16 << 10
	maxState = 4 << 10
)

// readRequest reads the query of an authorization. A request without a client or a redirect URI
// is one that nobody may be sent back for: then its redirect is "".
func (s *Server) readRequest(r *http.Request) (*request, error) {
	req := &request{issuer: s.issuer(r)}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(r.URL.RawQuery) > maxQuery {
		return req, wrong(invalidRequest, "the address is not one of an authorization, or is too long")
	}
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(q[name]) != 1 || q.Get(name) == "" {
			return req, wrong(invalidRequest, name+" is missing, or there twice")
		}
	}
	if req.client, err = s.clientOf(r, q.Get("client_id")); err != nil {
		return req, err
	}
	if !req.client.redirectsTo(q.Get("redirect_uri")) {
		return req, wrong(invalidRequest, "redirect_uri is not one of the client's")
	}
	req.redirect = q.Get("redirect_uri")
	if len(q["state"]) == 1 && len(q.Get("state")) <= maxState {
		req.state = q.Get("state")
	}
	named, query, _ := strings.Cut(q.Get("resource"), "?")
	if issuer, path, ok := s.resource(r, named); ok && len(query) <= maxURL && !strings.Contains(query, "#") {
		req.resource, req.path, req.issuer = named, s.PathOf(path, query), issuer
	}
	return req, req.check(q)
}

// clientOf finds the client with an id: in the id itself, or in the document that it leads to.
func (s *Server) clientOf(r *http.Request, id string) (*client, error) {
	if isDocument(id) {
		return s.documents.find(r.Context(), id, s.From(r), func() error { return s.Count(r) })
	}
	return s.registeredClient(id)
}

// check refuses what the client is to hear of.
func (req *request) check(q url.Values) error {
	for name, values := range q {
		if len(values) > 1 && name != "resource" {
			return wrong(invalidRequest, "a parameter is there twice")
		}
	}
	switch {
	case len(q.Get("state")) > maxState:
		return wrong(invalidRequest, "state: 4 KiB at most")
	case q.Has("request") || q.Has("request_uri"):
		return wrong(notRequestable, "request and request_uri are not known here")
	case q.Get("response_type") != "code":
		return wrong(unsupportedType, "response_type: code")
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return wrong(invalidRequest, "response_mode: query")
	case q.Get("code_challenge_method") != "S256":
		return wrong(invalidRequest, "code_challenge_method: S256, which PKCE takes here alone")
	case !isChallenge(q.Get("code_challenge")):
		return wrong(invalidRequest, "code_challenge: the base64url of a SHA-256, as RFC 7636 has it")
	case len(q["resource"]) != 1 || req.resource == "":
		return wrong(invalidTarget, "resource: the URL of one MCP server here, as its metadata name it")
	}
	req.challenge = q.Get("code_challenge")
	return nil
}

func isChallenge(text string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) == 32
}

// refused answers a request that can't be asked of anybody. Only a program on this machine is
// told at once: anybody can register a page, and our address must not lead there by itself.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, req *request, err error) {
	p, later := problemOf(err)
	if req.redirect == "" {
		s.fail(w, r, err)
		return
	}
	to := withAnswer(req.redirect, req.issuer, req.state, "error", p.Code, "error_description", p.Says)
	if local(req.redirect) {
		redirect(w, r, to, http.StatusFound)
		return
	}
	envelope.SetHints(w.Header(), http.StatusBadRequest, later)
	s.page(w, http.StatusBadRequest, doneTemplate, donePage{Refused: p.Says, To: asURL(to), Leads: leadsTo(req.redirect), Client: req.client.shown()})
}

// redirect sends a browser elsewhere, which isn't told where it comes from.
func redirect(w http.ResponseWriter, r *http.Request, to string, status int) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, status)
}
