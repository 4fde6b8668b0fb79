package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// maxForm bounds an answer to the page, in bytes.
const maxForm = 256 << 10

// toolConnect is the tool that lets an agent in.
const toolConnect = "tenant.agent.connect"

// code is what was allowed, as the client brings it back. The Tenant has the hash, and says
// whether it still holds: also one that comes late shows that somebody has a copy.
type code struct {
	Agent     string `json:"a"` // the client id of the service
	Client    string `json:"c"`
	Redirect  string `json:"r"` // its hash
	Challenge string `json:"p"` // of PKCE
	Resource  string `json:"u"`
	Secret    string `json:"s"`
}

// consent takes the answer to the page.
func (s *Server) consent(authenticate func(http.Handler) http.Handler) http.HandlerFunc {
	return envelope.Refusing(authenticate, http.HandlerFunc(s.answer), s.fail).ServeHTTP
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	c := envelope.CallerOf(r.Context())
	if !isPerson(c) {
		s.fail(w, r, noPerson())
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, ubl.Errorf(ubl.CodeValidation, "the form did not come in whole"))
		return
	}
	f, err := s.formOf(c, r.PostForm["form"])
	if err != nil {
		s.fail(w, r, err)
		return
	}
	chosen := choicesOf(r.PostForm)
	switch {
	case r.PostForm.Get("answer") == "deny":
		s.leave(w, r, f, withAnswer(f.Redirect, f.Issuer, f.State, "error", accessDenied, "error_description", "the person said no"), "", nil)
	case f.Session != c.TokenID: // they have confirmed that it is them, or signed in again
		s.show(w, r, http.StatusOK, f, chosen, "Your sign-in is a new one. Look once more, then allow it")
	case r.PostForm.Get("answer") != "allow":
		s.show(w, r, http.StatusBadRequest, f, chosen, "Choose Allow or Deny")
	case c.Confirmed(ubl.TimeOf(s.Now())) != nil:
		s.show(w, r, http.StatusForbidden, f, chosen, "This needs a recent sign-in. Confirm that it’s you, then allow it")
	default:
		s.allow(w, r, f, chosen)
	}
}

// formOf reads the form that a page of ours has asked this person with.
func (s *Server) formOf(c *envelope.Caller, sent []string) (*form, error) {
	var f form
	switch {
	case len(sent) != 1 || s.read(formKind, sent[0], &f) != nil:
		return nil, ubl.Errorf(ubl.CodeValidation, "this is no form of this server: begin again in the program that wants in")
	case f.TenantID != c.Identity.TenantID || f.UserID != c.Identity.UserID:
		return nil, ubl.Errorf(ubl.CodeForbidden, "somebody else is signed in here now: begin again in the program that wants in")
	case ubl.TimeOf(s.Now()) >= f.Ends:
		return nil, ubl.Errorf(ubl.CodeValidation, "this took too long: begin again in the program that wants in")
	}
	return &f, nil
}

// allow lets the agent in, adds it to the places that were chosen, and hands the client its code.
func (s *Server) allow(w http.ResponseWriter, r *http.Request, f *form, chosen *choices) {
	sets, err := s.Sets(r.Context(), f.Path)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	places, err := s.places(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	mandate, problem := chosen.mandate(sets, places)
	if problem != "" {
		s.show(w, r, http.StatusBadRequest, f, chosen, problem)
		return
	}
	agent, text, err := s.connect(r.Context(), f, chosen, mandate)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	into := slices.DeleteFunc(places, func(p place) bool { return !slices.Contains(chosen.Place, p.ID) })
	missing := s.addTo(r.Context(), agent.UserID, into)
	s.leave(w, r, f, withAnswer(f.Redirect, f.Issuer, f.State, "code", text), agent.Name, missing)
}

// connect makes the agent, with a code for its client. A form that was sent before is refused:
// the Tenant answers with the agent that it led to.
func (s *Server) connect(ctx context.Context, f *form, chosen *choices, m ubl.Mandate) (*ubl.ServiceToken, string, error) {
	c := envelope.CallerOf(ctx)
	clientID, err := s.NewAgent(c.Identity.TenantID)
	if err != nil {
		return nil, "", err
	}
	secret, err := s.draw()
	if err != nil {
		return nil, "", err
	}
	text, err := s.stamp(codeKind, code{
		Agent: clientID, Client: f.Client, Redirect: challengeOf(f.Redirect), Challenge: f.Challenge,
		Resource: f.Resource, Secret: secret,
	})
	if err != nil {
		return nil, "", err
	}
	expires := ubl.TimeOf(s.Now().Add(time.Duration(chosen.Days) * 24 * time.Hour))
	c = c.Anew(true, toolConnect)
	c.Uses(toolConnect, ubl.Creations)
	agent, err := ubl.Ask[*ubl.ServiceToken](envelope.WithCaller(ctx, c), s.Asker, ubl.TenantName(c.Identity.TenantID), ubl.ConnectAgent{
		Request: envelope.Command(ctx, "oauth:"+f.Once), ClientID: clientID, Name: chosen.Name, Client: f.Client,
		Resource: f.Resource, CodeHash: hashOf(text), Mandate: m, ExpiresAt: &expires,
	})
	if err == nil && agent.ClientID != clientID || ubl.CodeOf(err) == ubl.CodeIdempotencyConflict {
		err = ubl.Errorf(ubl.CodeConflict, "you have answered this already: go back to the program, or begin again there")
	}
	return agent, text, err
}

// addTo has the person add the agent to places, as they would anybody, and tells where they
// couldn't.
func (s *Server) addTo(ctx context.Context, agent ubl.UserID, places []place) (missing []notAdded) {
	for _, p := range places {
		args, err := json.Marshal(map[string]string{p.argument: p.ID, "user_id": string(agent)})
		if err == nil {
			_, err = s.Use(ctx, p.invite, args)
		}
		if err != nil {
			missing = append(missing, notAdded{p.Name, ubl.AsError(err).Message})
		}
	}
	return missing
}

// leave sends the browser to the client. To a program with a scheme of its own a button leads,
// as browsers want it, and so it does where there is something to read before.
func (s *Server) leave(w http.ResponseWriter, r *http.Request, f *form, to, agent string, missing []notAdded) {
	if len(missing) == 0 && sourceOf(f.Redirect) != "" {
		redirect(w, r, to, http.StatusSeeOther)
		return
	}
	s.page(w, http.StatusOK, doneTemplate, donePage{Agent: agent, Missing: missing, To: asURL(to), Leads: leadsTo(f.Redirect), Client: shown(f.Name, f.Host)})
}
