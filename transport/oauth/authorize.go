package oauth

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	// signInPath is where the app signs somebody in, and leads on from.
	signInPath = "/ui/sign-in"
	// formTime is how long a page may lie open.
	formTime = time.Hour
)

// form is what a page asked, of whom, in which session. It comes back with the answer.
type form struct {
	Client    string       `json:"client"` // its label
	Name      string       `json:"name"`   // as it was shown
	Host      string       `json:"host,omitempty"`
	Redirect  string       `json:"redirect"`
	State     string       `json:"state,omitempty"`
	Challenge string       `json:"challenge"`
	Resource  string       `json:"resource"`
	Path      string       `json:"path"`
	Issuer    string       `json:"issuer"`
	Session   string       `json:"session"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	UserID    ubl.UserID   `json:"user_id"`
	Once      string       `json:"once"`
	Ends      ubl.Time     `json:"ends"`
}

type requestKey struct{}

// authorize asks the person at the browser what a client wants, once they have a session.
func (s *Server) authorize(authenticate func(http.Handler) http.Handler) http.HandlerFunc {
	ask := envelope.Refusing(authenticate, http.HandlerFunc(s.ask), s.notIn)
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := s.readRequest(r)
		if err != nil {
			s.refused(w, r, req, err)
			return
		}
		ask.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, req)))
	}
}

// notIn answers whom authentication has turned away: who isn't signed in is led to where one
// does that, and back. Whom another site's link has brought here is asked to go on by
// themselves, since their cookie doesn't count for it.
func (s *Server) notIn(w http.ResponseWriter, r *http.Request, err error) {
	req, _ := r.Context().Value(requestKey{}).(*request)
	w.Header().Del("WWW-Authenticate")
	switch ubl.CodeOf(err) {
	case ubl.CodeUnauthorized:
		redirect(w, r, signInPath+"?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
	case ubl.CodeOriginNotAllowed:
		s.page(w, http.StatusOK, doorTemplate, doorPage{Client: req.client.shown(), Leads: leadsTo(req.redirect), Here: asURL(r.URL.RequestURI())})
	default:
		s.fail(w, r, err)
	}
}

// ask shows the person what they would allow.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	req, _ := r.Context().Value(requestKey{}).(*request)
	c := envelope.CallerOf(r.Context())
	if req == nil || !isPerson(c) {
		s.fail(w, r, noPerson())
		return
	}
	f := &form{
		Client: req.client.label(), Name: req.client.Name, Host: req.client.Host, Redirect: req.redirect, State: req.state,
		Challenge: req.challenge, Resource: req.resource, Path: req.path, Issuer: req.issuer,
	}
	s.show(w, r, http.StatusOK, f, nil, "")
}

// isPerson reports whether somebody is at a browser of ours. Programs with a token allow nothing.
func isPerson(c *envelope.Caller) bool { return c != nil && c.Session && !c.Identity.IsService }

func noPerson() error {
	return ubl.Errorf(ubl.CodeForbidden, "only a person who is signed in at a browser can let an agent in")
}

// show writes the page that asks, for the session at hand: with what the person has chosen
// before, nil for nothing yet, and what is wrong with that.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, f *form, chosen *choices, problem string) {
	page, err := s.consentPage(r, f, chosen, problem)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	envelope.WriteFormPage(w, status, consentTemplate, page, sourceOf(f.Redirect))
}

func (s *Server) consentPage(r *http.Request, f *form, chosen *choices, problem string) (*consentPage, error) {
	c := envelope.CallerOf(r.Context())
	once, err := s.draw()
	if err != nil {
		return nil, err
	}
	again := *f
	again.Session, again.TenantID, again.UserID = c.TokenID, c.Identity.TenantID, c.Identity.UserID
	again.Once, again.Ends = once, ubl.TimeOf(s.Now().Add(formTime))
	stamped, err := s.stamp(formKind, again)
	if err != nil {
		return nil, err
	}
	sets, err := s.Sets(r.Context(), f.Path)
	if err != nil {
		return nil, err
	}
	places, err := s.places(r.Context())
	if err != nil {
		return nil, err
	}
	if chosen == nil {
		chosen = firstChoices(f, sets)
	}
	return &consentPage{
		Form: stamped, Problem: problem, Email: c.Identity.Email, Tenant: shortTenant(c.Identity.TenantID),
		Client: shown(f.Name, f.Host), Host: f.Host, Leads: leadsTo(f.Redirect), Local: local(f.Redirect),
		Sets: chosen.sets(sets), Places: chosen.places(places), Confirms: chosen.confirms(), Chosen: chosen,
		Stale: c.Confirmed(ubl.TimeOf(s.Now())) != nil,
	}, nil
}
