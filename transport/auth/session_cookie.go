package auth

import (
	"errors"
	"net/http"
	"net/url"
	"time"
)

// The session's cookie. Under TLS its name has the prefix that browsers accept
// from this very host alone, so that no neighbour can slip in a cookie of its own.
const (
	cookieName   = "ubl"
	secureCookie = "__Host-" + cookieName
)

// cookies says how this server's cookies look.
type cookies struct{ secure bool }

// cookiesFor follows from where browsers reach the server, however that is spelled.
func cookiesFor(publicURL string) cookies {
	u, err := url.Parse(publicURL)
	return cookies{secure: err == nil && u.Scheme == "https"}
}

func (c cookies) name() string {
	if c.secure {
		return secureCookie
	}
	return cookieName
}

// set has the browser keep a session until it idles out.
func (c cookies) set(w http.ResponseWriter, value string, lasts time.Duration) {
	c.write(w, value, int(lasts/time.Second))
}

// clear has the browser forget its session.
func (c cookies) clear(w http.ResponseWriter) { c.write(w, "", -1) }

// write needs an answer that nobody keeps for another request.
func (c cookies) write(w http.ResponseWriter, value string, maxAge int) {
	w.Header().Set("Cache-Control", "no-store")
	http.SetCookie(w, &http.Cookie{
		Name: c.name(), Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// of is the session that a browser sent. Two of one name come from two places,
// of which one isn't us: neither is believed.
func (c cookies) of(r *http.Request) (credential, error) {
	switch sent := r.CookiesNamed(c.name()); {
	case len(sent) == 0:
		return credential{}, badToken("the request carries no credentials").Because(errMissing)
	case len(sent) > 1:
		return credential{}, notValid(errors.New("the session's cookie is there twice"))
	case len(sent[0].Value) > maxCredential:
		return credential{}, badToken("the credentials are longer than 8 KiB")
	default:
		s, err := tokenOf(sent[0].Value)
		s.session = true
		return s, err
	}
}
