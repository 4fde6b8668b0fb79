package auth

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"ubl"
	"ubl/transport/envelope"
)

// passkeyConfirm is confirming a session with a passkey.
const passkeyConfirm ceremony = "confirm"

// confirming is the session that a confirmation is for. It ends with the confirmation,
// so that what is sealed for it serves once.
type confirming struct {
	JTI      string               `json:"jti"`
	TenantID ubl.TenantID         `json:"tenant_id"`
	UserID   ubl.UserID           `json:"user_id"`
	Email    string               `json:"email"`
	Passkey  webauthn.SessionData `json:"passkey,omitzero"`
}

func confirmingOf(s *sessionClaims) confirming {
	return confirming{JTI: s.ID, TenantID: s.TenantID, UserID: s.UserID, Email: s.Email}
}

// is reports whether a session is the one.
func (c confirming) is(s *sessionClaims) bool {
	return c.JTI == s.ID && c.TenantID == s.TenantID && c.UserID == s.UserID
}

// confirmAnswer says how the person of the session may confirm that it is them, and
// whether they needn't.
type confirmAnswer struct {
	Fresh   bool      `json:"fresh"`
	Passkey bool      `json:"passkey"`
	OIDC    []wayOIDC `json:"oidc"`
	Link    bool      `json:"link"`
}

func (a *Authenticator) confirmWays(w http.ResponseWriter, r *http.Request) error {
	e, err := a.shownSession(r)
	if err != nil {
		return err
	}
	s := e.session
	answer, err := a.waysOf(r, s)
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, answer)
	return nil
}

// waysOf are a person's own: their passkeys, the provider that they came by and, where
// they have neither or the provider doesn't say when it asks, a link.
func (a *Authenticator) waysOf(r *http.Request, s *sessionClaims) (*confirmAnswer, error) {
	own, err := a.ownPasskeys(r, s)
	if err != nil {
		return nil, err
	}
	out := &confirmAnswer{Fresh: a.confirmed(s) == nil, Passkey: len(own.List) > 0 && a.passkeys.offered(r), OIDC: []wayOIDC{}}
	for _, p := range a.clients {
		if p.URL == s.IdentityIssuer {
			out.OIDC = append(out.OIDC, wayOIDC{ID: p.id(), Name: p.host()})
		}
	}
	if a.printLink != nil && !s.told() {
		out.OIDC = []wayOIDC{}
	}
	out.Link = a.printLink != nil && !out.Passkey && len(out.OIDC) == 0
	return out, nil
}

// told reports whether the session's provider, if there is one, says when it asked who
// somebody is. One that doesn't can't confirm anybody; the first link shows that it didn't.
func (s *sessionClaims) told() bool { return s.provedAt() > 0 && s.Method != ubl.SignInLink }

// isFresh refuses a request whose session isn't good for sensitive acts.
func (a *Authenticator) isFresh(r *http.Request) error {
	e, err := a.shownSession(r)
	if err != nil {
		return err
	}
	return a.confirmed(e.session)
}

// confirmed asks that of a session as the guard of the API does.
func (a *Authenticator) confirmed(s *sessionClaims) error {
	c := envelope.Caller{Session: true, ProvedAt: s.provedAt()}
	return c.Confirmed(ubl.TimeOf(a.now()))
}

func (a *Authenticator) ownPasskeys(r *http.Request, s *sessionClaims) (*ubl.Passkeys, error) {
	return ubl.Ask[*ubl.Passkeys](r.Context(), a.asker, ubl.TenantName(ubl.CoreTenant), ubl.ListPasskeys{Who: s.identity()})
}

// sessionHere is the request's session, at the address that passkeys belong to.
func (a *Authenticator) sessionHere(r *http.Request) (*sessionClaims, error) {
	if err := a.passkeys.here(r); err != nil {
		return nil, err
	}
	e, err := a.shownSession(r)
	if err != nil {
		return nil, err
	}
	return e.session, nil
}

// beginConfirm asks the browser for one of the person's own passkeys.
func (a *Authenticator) beginConfirm(w http.ResponseWriter, r *http.Request) error {
	s, err := a.sessionHere(r)
	if err != nil {
		return err
	}
	own, err := a.ownPasskeys(r, s)
	if err != nil {
		return err
	}
	if len(own.List) == 0 {
		return ubl.Errorf(ubl.CodeConflict, "you have no passkey here: confirm another way")
	}
	challenge, err := a.draw(drawnBytes)
	if err != nil {
		return err
	}
	options, session, err := a.passkeys.web.BeginLogin(holder{handle: own.Handle, email: s.Email, keys: own.List}, webauthn.WithChallenge(challenge))
	if err != nil {
		return err
	}
	state := confirmingOf(s)
	state.Passkey = *session
	if err := a.beginCeremony(w, r, passkeyConfirm, passkeyTime, session.Challenge, state); err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, options)
	return nil
}

// finishConfirm confirms the session that asked for it, and no other, with a passkey of
// its person, and no other's.
func (a *Authenticator) finishConfirm(w http.ResponseWriter, r *http.Request) error {
	s, err := a.sessionHere(r)
	if err != nil {
		return err
	}
	data, err := readJSON(w, r)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(data)
	if err != nil {
		return wrongProof(err)
	}
	var began confirming
	if err := a.endCeremony(w, r, passkeyConfirm, answer.Response.CollectedClientData.Challenge, &began); err != nil {
		return err
	}
	if !began.is(s) {
		return errCeremony()
	}
	own, err := a.ownPasskeys(r, s)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(own.List, func(k *ubl.PasskeyRecord) bool { return string(k.CredentialID) == string(answer.RawID) })
	if n < 0 {
		return wrongProof(nil)
	}
	if _, err := a.passkeys.web.ValidateLogin(holder{handle: own.Handle, keys: own.List}, began.Passkey, answer); err != nil {
		return wrongProof(err)
	}
	if err := a.charge(r, s.identity()); err != nil {
		return err
	}
	if err := a.usePasskey(r, own.List[n], began.Passkey.Challenge, answer); err != nil {
		return err
	}
	return a.confirmSession(w, r, s, ubl.SignInPasskey, func() {
		envelope.Write(w, http.StatusOK, signInAnswer{s.UserID, s.Email, s.TenantID})
	})
}

// wrongProof is a refusal that leaves the session as it is.
func wrongProof(cause error) error {
	return ubl.Errorf(ubl.CodeForbidden, "that doesn't confirm who you are here: use a passkey of your own").Because(cause)
}

// confirmSession puts another session in the place of s, whose person has just proved
// who they are: once tenant 0 has receipted it, the browser gets its cookie, and s ends.
// It ends after the answer: streams end with it, and must come back with the new cookie.
func (a *Authenticator) confirmSession(w http.ResponseWriter, r *http.Request, s *sessionClaims, method ubl.SignInMethod, answer func()) error {
	if err := a.letIn(r, s.identity(), ubl.Enter{Act: true}); err != nil {
		return err
	}
	next, err := s.confirmed(a.now(), method, a.random)
	if err != nil {
		return err
	}
	if err := a.admit(r.Context(), next.known(), ""); err != nil {
		return err
	}
	if err := a.giveCookie(w, next); err != nil {
		return err
	}
	answer()
	_ = http.NewResponseController(w).Flush() // a writer that can't is a test's
	a.endSession(r.WithContext(context.WithoutCancel(r.Context())))
	return nil
}
