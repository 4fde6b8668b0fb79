package auth

import (
	"errors"
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// Middleware lets only authenticated requests through to next, with the
// [envelope.Caller] in their context, whom their tenant has yet to let in.
// Everyone else gets an error in the envelope.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, e, err := a.authenticate(r.Context(), r)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		e.live.Add(1)
		defer e.live.Add(-1)
		next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
	})
}

func (a *Authenticator) refuse(w http.ResponseWriter, r *http.Request, err error) {
	a.log.DebugContext(r.Context(), "couldn't authenticate", "request_id", envelope.RequestOf(r.Context()).ID, "error", err)
	if challenge := Challenge(err); challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	envelope.WriteError(w, r, err)
}

// Challenge is the WWW-Authenticate header that goes with err (RFC 6750), ""
// where err is not a matter of credentials.
func Challenge(err error) string {
	switch {
	case ubl.CodeOf(err) != ubl.CodeUnauthorized:
		return ""
	case errors.Is(err, errMissing):
		return "Bearer"
	}
	return `Bearer error="invalid_token"`
}
