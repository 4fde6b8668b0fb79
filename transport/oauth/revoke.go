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
	of, ok := s.grantOf(q.Get("token"))
	if !ok {
		return nil
	}
	if of.Client != label {
		return wrong(invalidGrant, "the token was given to another client")
	}
	head, err := s.command(r.Context())
	if err != nil {
		return err
	}
	_, err = s.Asker.Ask(r.Context(), ubl.TenantName(s.TenantOf(of.Agent)), ubl.RevokeAgent{Request: head, ClientID: of.Agent, Client: of.Client, FamilyHash: of.Family})
	if code := ubl.CodeOf(err); err != nil && code.Status() < http.StatusInternalServerError && code != ubl.CodeRateLimited {
		return nil // it had ended
	}
	return err
}

// grantOf is what a token says that is one of ours, of either kind.
func (s *Server) grantOf(token string) (Access, bool) {
	var t refreshToken
	if s.read(refreshKind, token, &t) == nil {
		return Access{Agent: t.Agent, Client: t.Client, Family: hashOf(t.Family)}, true
	}
	return s.Opened(token)
}
