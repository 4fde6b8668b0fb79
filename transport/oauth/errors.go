package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// problem is an error as OAuth tells it: a code of its own, and words for who wrote the
// client. It never holds what was sent.
type problem struct {
	Code string `json:"error"`
	Says string `json:"error_description"`
	// status is that of an answer to a program; 0 for 400.
	status int
}

// The codes of RFC 6749, 7591, 7009 and 8707 that are used here.
const (
	invalidRequest  = "invalid_request"
	invalidClient   = "invalid_client"
	invalidGrant    = "invalid_grant"
	invalidTarget   = "invalid_target"
	invalidRedirect = "invalid_redirect_uri"
	invalidMetadata = "invalid_client_metadata"
	accessDenied    = "access_denied"
	serverError     = "server_error"
	unavailable     = "temporarily_unavailable"
	unsupportedType = "unsupported_response_type"
	unsupportedFlow = "unsupported_grant_type"
	notRequestable  = "request_not_supported"
)

func (p *problem) Error() string { return p.Code + ": " + p.Says }

func wrong(code, says string) *problem { return &problem{Code: code, Says: says} }

// notThisClient refuses a client, whatever is wrong: a client that hears of it registers anew.
func notThisClient(says string) *problem {
	return &problem{Code: invalidClient, Says: says, status: http.StatusUnauthorized}
}

// problemOf is what a program is told of err. What a tenant says no to is a grant that isn't
// good; all else is ours, and may be tried again.
func problemOf(err error) (p *problem, retryAfter int) {
	if p, ok := errors.AsType[*problem](err); ok {
		return p, 0
	}
	e := ubl.AsError(err)
	switch status := e.Code.Status(); {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return &problem{unavailable, e.Message, status}, e.RetryAfter()
	case status >= http.StatusInternalServerError:
		return &problem{serverError, "the server has a problem of its own", status}, 0
	}
	return wrong(invalidGrant, "it was used already, has ended, or was never given"), 0
}

// tell answers a program that something is wrong (RFC 6749, 5.2).
func (s *Server) tell(w http.ResponseWriter, r *http.Request, err error) {
	p, later := problemOf(err)
	if p.status >= http.StatusInternalServerError {
		s.Log.WarnContext(r.Context(), "couldn't answer an OAuth client", "request_id", envelope.RequestOf(r.Context()).ID, "error", err)
	}
	status := p.status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if status == http.StatusTooManyRequests {
		envelope.Hold(r.Context())
	}
	envelope.SetHints(w.Header(), status, later)
	if status == http.StatusUnauthorized && r.Header.Get("Authorization") != "" { // as it tried
		w.Header().Set("WWW-Authenticate", `Basic realm="oauth"`)
	}
	s.write(w, status, p)
}

// write answers a program. Nobody on the way keeps it.
func (s *Server) write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	envelope.Write(w, status, v)
}

// withAnswer is a redirect URI with an answer of the server in its query, and who answers
// (RFC 9207). What was in the query stays.
func withAnswer(redirect, issuer, state string, pairs ...string) string {
	q := url.Values{"iss": {issuer}}
	if state != "" {
		q.Set("state", state)
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	sep := "?"
	if strings.Contains(redirect, "?") {
		sep = "&"
	}
	return redirect + sep + q.Encode()
}
