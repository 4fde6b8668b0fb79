package auth

import (
	"encoding/hex"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"ubl"
	"ubl/transport/envelope"
)

// passkeyLogin is signing in with a passkey.
const passkeyLogin ceremony = "passkey"

// beginPasskeyLogin asks the browser for a passkey of this server, whosever.
func (a *Authenticator) beginPasskeyLogin(p *passkeys, w http.ResponseWriter, r *http.Request) error {
	challenge, err := a.draw(drawnBytes)
	if err != nil {
		return err
	}
	options, session, err := p.web.BeginDiscoverableLogin(webauthn.WithChallenge(challenge))
	if err != nil {
		return err
	}
	if err := a.beginCeremony(w, r, passkeyLogin, passkeyTime, session.Challenge, session); err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, options)
	return nil
}

// signInAnswer tells a page whom it has signed in.
type signInAnswer struct {
	UserID   ubl.UserID   `json:"user_id"`
	Email    string       `json:"email"`
	TenantID ubl.TenantID `json:"tenant_id"`
}

// finishPasskeyLogin begins the session of whoever has signed the challenge, once
// their tenant lets them in. That they did is receipted before.
func (a *Authenticator) finishPasskeyLogin(p *passkeys, w http.ResponseWriter, r *http.Request) error {
	data, err := readJSON(w, r)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(data)
	if err != nil {
		return badPasskey(err)
	}
	var session webauthn.SessionData
	if err := a.endCeremony(w, r, passkeyLogin, answer.Response.CollectedClientData.Challenge, &session); err != nil {
		return err
	}
	known, err := a.verifyPasskey(r, p, session, answer)
	if err != nil {
		return err
	}
	if err := a.letIn(r, known.Who, ubl.Enter{}); err != nil {
		return err
	}
	if err := a.usePasskey(r, known, session.Challenge, answer); err != nil {
		return err
	}
	if err := a.startSession(w, r, known.Who, ubl.SignInPasskey); err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, signInAnswer{known.Who.UserID, known.Who.Email, known.Who.TenantID})
	return nil
}

// verifyPasskey finds the passkey that was used, and checks what it has signed:
// challenge, origin, relying party, presence and verification of its owner, and
// that the handle is theirs.
func (a *Authenticator) verifyPasskey(r *http.Request, p *passkeys, session webauthn.SessionData, answer *protocol.ParsedCredentialAssertionData) (*ubl.PasskeyRecord, error) {
	known, err := ubl.Ask[*ubl.PasskeyRecord](r.Context(), a.asker, ubl.TenantName(ubl.CoreTenant), ubl.FindPasskey{CredentialID: answer.RawID})
	if err != nil {
		return nil, unknownPasskey(err)
	}
	_, err = p.web.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) {
		return holder{handle: known.Handle, keys: []*ubl.PasskeyRecord{known}}, nil
	}, session, answer)
	if err != nil {
		return nil, badPasskey(err)
	}
	return known, nil
}

// unknownPasskey says so to whoever tried one that was removed: their device still
// offers it.
func unknownPasskey(err error) error {
	if ubl.CodeOf(err) != ubl.CodeNotFound {
		return err
	}
	return ubl.Errorf(ubl.CodeUnauthorized, "this passkey is not known here, or was removed").Because(err)
}

// usePasskey receipts the sign-in. Its key is the challenge's, so that a challenge
// serves once on all nodes; what is drawn for the attempt tells a second from the
// same question asked again between nodes.
func (a *Authenticator) usePasskey(r *http.Request, known *ubl.PasskeyRecord, challenge string, answer *protocol.ParsedCredentialAssertionData) error {
	attempt, err := a.draw(drawnBytes)
	if err != nil {
		return err
	}
	req := a.request(r.Context(), ubl.Platform())
	req.Key = "passkey:" + challenge
	data := answer.Response.AuthenticatorData
	_, err = a.asker.Ask(r.Context(), ubl.TenantName(ubl.CoreTenant), ubl.UsePasskey{
		Request: req, PasskeyID: known.ID, SignCount: int64(data.Counter), BackedUp: data.Flags.HasBackupState(),
		Attempt: hex.EncodeToString(attempt),
	})
	if ubl.CodeOf(err) == ubl.CodeIdempotencyConflict {
		return badPasskey(err)
	}
	return unknownPasskey(err)
}

// letIn has somebody's tenant let them in before they get a session: who was shut
// out gets none, nor who was an operator once. How they come in is as in [ubl.Enter],
// which is told here who they are. The request is counted first, since coming in may be
// put on record.
func (a *Authenticator) letIn(r *http.Request, who ubl.Identity, in ubl.Enter) error {
	if err := a.mayHaveSession(who); err != nil {
		return err
	}
	if err := a.charge(r, who); err != nil {
		return err
	}
	in.Request = a.request(r.Context(), who)
	return envelope.Entry(r.Context(), in, func(in ubl.Enter) error {
		_, err := a.asker.Ask(r.Context(), ubl.TenantName(who.TenantID), in)
		return err
	})
}
