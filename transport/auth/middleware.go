package auth

import (
	"errors"
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// Middleware lets only authenticated requests through to next, with the
// [envelope.Caller] in their context, whom their tenant has yet to let in.
// Everyone else gets an error in the envelope. Cookies don't count: it is for what
// programs use.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	return a.guard(next, programs)
}

// MiddlewareForBrowsers is Middleware for what pages of this server use as well:
// where no header names the caller, the cookie of their session does. It does so for
// requests of this server's own pages only, whatever the method: even reading leaves
// receipts.
func (a *Authenticator) MiddlewareForBrowsers(next http.Handler) http.Handler {
	return a.guard(next, func(r *http.Request) (credential, error) {
		c, err := credentialOf(r, &a.cookies)
		if err == nil && c.session {
			err = a.provesOwnPage(r)
		}
		return c, err
	})
}

// finder picks the one credential of a request that counts.
type finder func(*http.Request) (credential, error)

func (a *Authenticator) guard(next http.Handler, find finder) http.Handler {
	return a.guardAt(next, find, nowhere)
}

// nowhere is where no access token of an agent is good.
func nowhere(*http.Request) string { return "" }

// guardAt is guard where at says which URL's access tokens count.
func (a *Authenticator) guardAt(next http.Handler, find finder, at func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, e, err := a.authenticate(r.Context(), r, find, at(r))
		if err == nil && e.session != nil {
			err = a.keepSession(w, r, e.session)
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		e.live.Add(1)
		defer e.live.Add(-1)
		next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
	})
}

// headerActsFor is where a page says whom it shows: the id of the tenant, a "|" and
// the id of the user, which have none themselves.
const headerActsFor = "X-Ubl-As"

// keepSession is what a request owes to having come with a cookie, which browsers
// send unasked: the session must be of whom the page shows where it says so, nobody
// on the way keeps the answer, no other site's page may embed it, and a cookie that
// gets old is followed by a fresh one.
func (a *Authenticator) keepSession(w http.ResponseWriter, r *http.Request, s *sessionClaims) error {
	if err := ofWhomShown(r, s); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	next := s.next(a.now())
	if next == nil {
		return nil
	}
	return a.giveCookie(w, next)
}

// ofWhomShown refuses the cookie of somebody who has signed in meanwhile, in another
// tab: the page would show them another's rooms, and send in their name.
func ofWhomShown(r *http.Request, s *sessionClaims) error {
	for _, shown := range r.Header.Values(headerActsFor) {
		if shown != string(s.TenantID)+"|"+string(s.UserID) {
			return badToken("somebody else is signed in here now")
		}
	}
	return nil
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
