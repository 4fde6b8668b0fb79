package auth

import (
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// waysAnswer says how one may sign in, and whether one has to.
type waysAnswer struct {
	Passkeys bool      `json:"passkeys"`
	OIDC     []wayOIDC `json:"oidc"`
	SignedIn bool      `json:"signed_in"`
}

// wayOIDC is a provider as the page shows it.
type wayOIDC struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (a *Authenticator) ways(w http.ResponseWriter, r *http.Request) error {
	_, err := a.whose(r)
	if code := ubl.CodeOf(err); err != nil && code != ubl.CodeUnauthorized && code != ubl.CodeOriginNotAllowed {
		return err
	}
	answer := waysAnswer{Passkeys: a.passkeys.offered(r), OIDC: []wayOIDC{}, SignedIn: err == nil}
	for _, p := range a.clients {
		answer.OIDC = append(answer.OIDC, wayOIDC{ID: p.id(), Name: p.host()})
	}
	envelope.Write(w, http.StatusOK, answer)
	return nil
}

// signOut ends the browser's session, if there is one, for a page of this server that
// shows its person, or shows nobody.
func (a *Authenticator) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := a.provesOwnPage(r); err != nil {
		return err
	}
	if e, err := a.sessionOf(r); err == nil {
		if err := ofWhomShown(r, e.session); err != nil {
			return err
		}
	}
	if c := a.sentSession(r); c != nil {
		if err := a.charge(r, c.identity()); err != nil {
			return err
		}
		if err := a.revokeSession(r, c); err != nil {
			return err
		}
	}
	a.cookies.clear(w)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// whose is the identity behind the request's session; unauthorized where there is
// none that holds, or it isn't that of whom the page shows.
func (a *Authenticator) whose(r *http.Request) (ubl.Identity, error) {
	e, err := a.shownSession(r)
	if err != nil {
		return ubl.Identity{}, err
	}
	return e.identity, nil
}

// shownSession is sessionOf for a request of the page that shows its person, or shows
// nobody.
func (a *Authenticator) shownSession(r *http.Request) (*entry, error) {
	e, err := a.sessionOf(r)
	if err == nil {
		err = ofWhomShown(r, e.session)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// sessionOf is the session of a request of this server's own pages.
func (a *Authenticator) sessionOf(r *http.Request) (*entry, error) {
	c, err := a.cookies.of(r)
	if err == nil {
		err = a.provesOwnPage(r)
	}
	if err != nil {
		return nil, err
	}
	e, _, err := a.resolve(r.Context(), c)
	return e, err
}
