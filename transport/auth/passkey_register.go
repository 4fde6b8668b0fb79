package auth

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"ubl"
	"ubl/transport/envelope"
)

// passkeyMaking is registering a passkey.
const passkeyMaking ceremony = "newkey"

// making is what the browser brings back: for whom the passkey is made. Somebody
// else may have signed in meanwhile.
type making struct {
	TenantID ubl.TenantID         `json:"tenant_id"`
	UserID   ubl.UserID           `json:"user_id"`
	Session  webauthn.SessionData `json:"session"`
}

// beginPasskey asks the browser to make a passkey for the person who is signed in, and
// has lately proved who they are. Only a session will do: an agent with a person's token
// must not come to stay.
func (a *Authenticator) beginPasskey(p *passkeys, w http.ResponseWriter, r *http.Request) error {
	if err := a.isFresh(r); err != nil {
		return err
	}
	who, err := a.present(r)
	if err != nil {
		return err
	}
	h, err := a.holderOf(r, who)
	if err != nil {
		return err
	}
	challenge, err := a.draw(drawnBytes)
	if err != nil {
		return err
	}
	options, session, err := p.web.BeginRegistration(h,
		webauthn.WithExclusions(webauthn.Credentials(h.WebAuthnCredentials()).CredentialDescriptors()),
		func(o *protocol.PublicKeyCredentialCreationOptions) error {
			o.Challenge = challenge
			return nil
		})
	if err != nil {
		return err
	}
	state := making{who.TenantID, who.UserID, *session}
	if err := a.beginCeremony(w, r, passkeyMaking, passkeyTime, session.Challenge, state); err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, options)
	return nil
}

// present is who is signed in, once their tenant has let them in to act.
func (a *Authenticator) present(r *http.Request) (ubl.Identity, error) {
	who, err := a.whose(r)
	if err == nil {
		err = a.letIn(r, who, ubl.Enter{Act: true})
	}
	return who, err
}

// holderOf is a person with the passkeys that they have, and their handle or, for
// one who never had any, a fresh one.
func (a *Authenticator) holderOf(r *http.Request, who ubl.Identity) (holder, error) {
	own, err := ubl.Ask[*ubl.Passkeys](r.Context(), a.asker, ubl.TenantName(ubl.CoreTenant), ubl.ListPasskeys{Who: who})
	if err != nil {
		return holder{}, err
	}
	if len(own.List) >= ubl.MaxPasskeys {
		return holder{}, ubl.Errorf(ubl.CodeConflict, "nobody has more than %d passkeys: remove one first", ubl.MaxPasskeys)
	}
	h := holder{handle: own.Handle, email: who.Email, keys: own.List}
	if h.handle == nil {
		h.handle, err = a.draw(ubl.PasskeyHandle)
	}
	return h, err
}

// passkeyMade is the body that ends a registration. The credential has members
// that are the browser's business.
type passkeyMade struct {
	Name       string          `json:"name"`
	Credential json.RawMessage `json:"credential"`
}

type passkeyAnswer struct {
	Passkey *ubl.Passkey `json:"passkey"`
}

// finishPasskey records the passkey of whoever is signed in still.
func (a *Authenticator) finishPasskey(p *passkeys, w http.ResponseWriter, r *http.Request) error {
	who, err := a.present(r)
	if err != nil {
		return err
	}
	made, answer, err := readMade(w, r)
	if err != nil {
		return err
	}
	var began making
	if err := a.endCeremony(w, r, passkeyMaking, answer.Response.CollectedClientData.Challenge, &began); err != nil {
		return err
	}
	if began.TenantID != who.TenantID || began.UserID != who.UserID {
		return errCeremony()
	}
	credential, err := p.web.CreateCredential(holder{handle: began.Session.UserID}, began.Session, answer)
	if err != nil {
		return badNewPasskey(err)
	}
	req := a.request(r.Context(), who)
	req.Key = "passkey:" + began.Session.Challenge
	key, err := ubl.Ask[*ubl.Passkey](r.Context(), a.asker, ubl.TenantName(ubl.CoreTenant), ubl.RegisterPasskey{
		Request: req, Name: made.Name, Handle: began.Session.UserID, Authenticator: authenticatorOf(credential),
	})
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusCreated, passkeyAnswer{key})
	return nil
}

// badNewPasskey is a refusal that doesn't say what was wrong with what was sent.
// The session is fine.
func badNewPasskey(cause error) error {
	return ubl.Errorf(ubl.CodeValidation, "the passkey was not accepted: begin again").Because(cause)
}

// readMade reads the body, and the credential in it.
func readMade(w http.ResponseWriter, r *http.Request) (*passkeyMade, *protocol.ParsedCredentialCreationData, error) {
	data, err := readJSON(w, r)
	if err != nil {
		return nil, nil, err
	}
	made := &passkeyMade{}
	body := json.NewDecoder(bytes.NewReader(data))
	body.DisallowUnknownFields()
	if err := body.Decode(made); err != nil {
		return nil, nil, ubl.Errorf(ubl.CodeValidation, "the body has other members than name, a text, and credential").Because(err)
	}
	if err := ubl.CheckName(made.Name); err != nil {
		return nil, nil, err
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(made.Credential)
	if err != nil {
		return nil, nil, badNewPasskey(err)
	}
	return made, answer, nil
}

// authenticatorOf is what is kept of a credential. Its transports are the
// browser's word: each counts once, and only if WebAuthn knows it.
func authenticatorOf(c *webauthn.Credential) ubl.Authenticator {
	out := ubl.Authenticator{
		CredentialID: c.ID, PublicKey: c.PublicKey, SignCount: int64(c.Authenticator.SignCount),
		BackupEligible: c.Flags.BackupEligible, BackedUp: c.Flags.BackupState,
	}
	for _, t := range []protocol.AuthenticatorTransport{
		protocol.Internal, protocol.Hybrid, protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard,
	} {
		if slices.Contains(c.Transport, t) {
			out.Transports = append(out.Transports, string(t))
		}
	}
	return out
}
