package oauth

import (
	"net/http"

	"ubl"
)

// revoke ends an agent by one of its tokens (RFC 7009): both kinds end the whole grant. Who
// brings a token that is none is told that it is good no more, which is so.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if err := s.revokes(w, r); err != nil {
		s.tell(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

func (s *Server) revokes(w http.ResponseWriter, r *http.Request) error {
	q, err := readForm(w, r)
	if err != nil {
		return err
	}
	label, err := s.caller(r, q)
	if err != nil {
		return err
	}
	if q.Get("token") == "" {
		return wrong(invalidRequest, "token is missing")
	}
	agent, client := s.grantOf(q.Get("token"))
	if agent == "" {
		return nil
	}
	if client != label {
		return wrong(invalidGrant, "the token was given to another client")
	}
	head, err := s.command(r.Context())
	if err != nil {
		return err
	}
	_, err = s.Asker.Ask(r.Context(), ubl.TenantName(s.TenantOf(agent)), ubl.RevokeServiceToken{Request: head, ClientID: agent})
	if code := ubl.CodeOf(err); err != nil && code.Status() < http.StatusInternalServerError && code != ubl.CodeRateLimited {
		return nil // it had ended
	}
	return err
}

// grantOf is whose a token is, and of which client; "" for what is no token of ours.
func (s *Server) grantOf(token string) (agent, client string) {
	var t refreshToken
	if s.read(refreshKind, token, &t) == nil {
		return t.Agent, t.Client
	}
	if a, ok := s.Opened(token); ok {
		return a.Agent, a.Client
	}
	return "", ""
}
