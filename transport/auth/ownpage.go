package auth

import (
	"net/http"
	"net/url"
	"strings"

	"ubl"
)

// ownPages refuses requests that would change something and that a browser says
// another site's page made.
func (a *Authenticator) ownPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.sites.Check(r); err != nil {
			a.refuse(w, r, notOwnPage().Because(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// provesOwnPage lets a cookie count only where the browser says that a page of this
// server made the request, or the person themselves did. Every method needs that: a
// link on another site must not even read in its visitor's name.
//
// Browsers say so in Sec-Fetch-Site, but old ones don't, and none does over plain
// http to a name other than localhost. There the proof is one of: an Origin that is
// ours; the header in which our pages say whom they show, which other sites' pages
// can't send; a Referer that is ours. A request with none of them has no proof.
func (a *Authenticator) provesOwnPage(r *http.Request) error {
	switch site := fetchSite(r); {
	case site == "same-origin", site == "none":
		return nil
	case site != "":
	case len(r.Header["Origin"]) > 0:
		if len(r.Header["Origin"]) == 1 && a.ours(r, r.Header["Origin"][0]) {
			return nil
		}
	case len(r.Header[headerActsFor]) > 0, a.ours(r, r.Referer()):
		return nil
	}
	return notOwnPage()
}

// fetchSite is what a browser says in Sec-Fetch-Site, "" where it says nothing. It says
// it once: of several headers a proxy may have added one, and none counts.
func fetchSite(r *http.Request) string {
	said := r.Header["Sec-Fetch-Site"]
	if len(said) > 1 {
		return "cross-site"
	}
	return strings.Join(said, "")
}

// ours reports whether a page's address is one of this server: of the host that the
// request asks, or of the public URL.
func (a *Authenticator) ours(r *http.Request, page string) bool {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return u.Host == r.Host || u.Scheme+"://"+u.Host == a.origin
}

func notOwnPage() *ubl.Error {
	return ubl.Errorf(ubl.CodeOriginNotAllowed, "only pages of this server may use its cookie; programs send a token")
}
