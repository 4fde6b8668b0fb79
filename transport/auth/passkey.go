package auth

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"ubl"
)

const (
	// passkeyTime is how long somebody may take to use or make a passkey.
	passkeyTime = 5 * time.Minute
	// maxPasskeyBody bounds what a browser sends of one, in bytes.
	maxPasskeyBody = 64 << 10
)

// passkeys is WebAuthn for the one origin that browsers reach this server at.
//
// Whoever uses a passkey has to show the device that it is them, by finger, face
// or PIN (user verification is required): nothing else is asked of them, and
// without it whoever finds a key or an open laptop would be its owner. Passkeys
// are discoverable, so that nobody types an address. Which make of device holds
// one isn't asked for (no attestation): all are welcome.
type passkeys struct {
	web    *webauthn.WebAuthn
	origin string
}

// newPasskeys is nil where browsers have no passkeys for the address: it must be
// https with a name, or localhost.
func newPasskeys(publicURL string) (*passkeys, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("couldn't use the public URL: %w", err)
	}
	host := strings.ToLower(u.Hostname())
	if host == "" || net.ParseIP(host) != nil || u.Scheme != "https" && !localhost(host) {
		return nil, nil
	}
	p := &passkeys{origin: u.Scheme + "://" + strings.ToLower(u.Host)}
	timeout := webauthn.TimeoutConfig{Timeout: passkeyTime, TimeoutUVD: passkeyTime}
	p.web, err = webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "UBL", RPOrigins: []string{p.origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Some password managers add what nobody asked for. It means nothing here.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't use the public URL for passkeys: %w", err)
	}
	return p, nil
}

func localhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// withPasskeys is for pages at the address that passkeys belong to.
func (a *Authenticator) withPasskeys(h func(*passkeys, http.ResponseWriter, *http.Request) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := a.passkeys.here(r); err != nil {
			return err
		}
		return h(a.passkeys, w, r)
	}
}

// here refuses pages of another address than the one that passkeys belong to: the
// browser would refuse them later, and not say how to go on.
func (p *passkeys) here(r *http.Request) error {
	if p == nil {
		return ubl.Errorf(ubl.CodeNotFound, "there are no passkeys here: they need a --public-url of https with a name, or localhost")
	}
	if origin := r.Header.Get("Origin"); origin != "" && !protocol.IsOriginInHaystack(origin, []string{p.origin}) {
		return ubl.Errorf(ubl.CodeOriginNotAllowed, "passkeys work at %s only: open that address", p.origin)
	}
	return nil
}

// offered reports whether the page that asks can use passkeys. Without TLS nobody stands
// between it and the server, so that it is where the request says: 127.0.0.1 isn't
// localhost to a browser. A proxy with TLS may call the server whatever it likes.
func (p *passkeys) offered(r *http.Request) bool {
	return p != nil && (strings.HasPrefix(p.origin, "https://") || strings.EqualFold("http://"+r.Host, p.origin))
}

// holder is a person as the library knows them.
type holder struct {
	handle []byte
	email  string
	keys   []*ubl.PasskeyRecord
}

// WebAuthnID implements [webauthn.User].
func (h holder) WebAuthnID() []byte { return h.handle }

// WebAuthnName implements [webauthn.User]: what the person picks the account by.
func (h holder) WebAuthnName() string { return h.email }

// WebAuthnDisplayName implements [webauthn.User].
func (h holder) WebAuthnDisplayName() string { return h.email }

// WebAuthnCredentials implements [webauthn.User].
func (h holder) WebAuthnCredentials() []webauthn.Credential {
	var out []webauthn.Credential
	for _, k := range h.keys {
		c := webauthn.Credential{
			ID: k.CredentialID, PublicKey: k.PublicKey,
			Flags: webauthn.CredentialFlags{BackupEligible: k.BackupEligible, BackupState: k.BackedUp},
		}
		for _, t := range k.Transports {
			c.Transport = append(c.Transport, protocol.AuthenticatorTransport(t))
		}
		out = append(out, c)
	}
	return out
}

// badPasskey is a refusal that doesn't say what was wrong with what was sent.
func badPasskey(cause error) error {
	return ubl.Errorf(ubl.CodeUnauthorized, "the passkey was not accepted: begin again").Because(cause)
}

// readJSON reads a body of a few kilobytes.
func readJSON(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, ubl.Errorf(ubl.CodeUnsupportedMedia, "the body must be of the type application/json")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPasskeyBody))
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes, or didn't arrive", maxPasskeyBody).Because(err)
	}
	if !json.Valid(data) {
		return nil, ubl.Errorf(ubl.CodeValidation, "the body is not JSON")
	}
	return data, nil
}
