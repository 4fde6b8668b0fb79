package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
	"ubl/transport/envelope"
)

// Signing a command line in:
//
//	POST cli/begin    the command's name for itself, the address that it asks, and the
//	                  hash of that with a secret that it keeps; the answer is the
//	                  request, sealed, and a code to compare
//	GET  /signin/cli  a page in the person's browser: who asks what address, the code, for whom
//	POST /signin/cli  the person agrees, with a fresh proof of who they are: tenant 0
//	                  records a one-time link under the secret's hash
//	POST cli/token    the command shows the secret until that link is there, and gets a
//	                  token. One commit admits it and uses up the link
//
// Nothing is kept before the person agrees, so any node answers any of these. The token
// carries the whole identity as a session's cookie does, under an audience of its own: it is
// a bearer token, listed by its label and revoked like any other. A person who was sent a
// stranger's request is warned by the page, which other sites' links don't open.
//
// A false server could pass a true one's link and code on, and take the token itself. So the
// command opens no link but one of the address that it asked (see [envelope.SameOrigin]), and a server
// takes no request for an address that isn't its own. A request is agreed to once.
const (
	// CLIBeginPath and CLITokenPath are what the command line asks, cliPath is where it
	// sends the person.
	CLIBeginPath = "/auth/cli/begin"
	CLITokenPath = "/auth/cli/token"
	cliPath      = "/signin/cli"

	// cliAudience keeps these tokens apart from sessions and from those that a key's
	// holder makes.
	cliAudience = "ubl-cli"
	// cliTime is how long a request waits for the person, cliTaken how long an agreed one
	// waits for its command.
	cliTime  = 10 * time.Minute
	cliTaken = 2 * time.Minute
	// cliTokenTime is how long the token holds: as long as a session may.
	cliTokenTime = sessionMost

	cliRequestSeal = "cli request"
	cliGrantSeal   = "cli grant"
	// codeBytes is how much of a code is drawn, secretText how long challenge and secret
	// are: 32 bytes in base64url.
	codeBytes  = 4
	secretText = 43
	// maxCLIForm bounds what is sent, in bytes.
	maxCLIForm = 8 << 10
)

// cliRequest is what a command asks for. It goes through the person's browser, sealed.
type cliRequest struct {
	Name      string   `json:"name"`
	At        string   `json:"at"` // the origin that the command asked
	Code      string   `json:"code"`
	Challenge string   `json:"challenge"`
	Ends      ubl.Time `json:"ends"`
}

// CLIBegun answers a command that begins.
type CLIBegun struct {
	// Link is where the person agrees: at the server's public address, where their session
	// is, or a path where it knows none. Code is what they compare.
	Link    string `json:"link"`
	Code    string `json:"code"`
	Seconds int    `json:"seconds"` // until when
}

// CLIToken is what the command gets in the end.
type CLIToken struct {
	Token     string       `json:"token"`
	JTI       string       `json:"jti"`
	Email     string       `json:"email"`
	UserID    ubl.UserID   `json:"user_id"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	ExpiresAt ubl.Time     `json:"expires_at"`
}

// CLIChallenge is the hash by which a command's secret is known before it is shown, for the
// origin that the command asks alone.
func CLIChallenge(secret, at string) string {
	sum := sha256.Sum256([]byte(secret + "\n" + at))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// cliLink is the one-time link's hash. No code of a sign-in link has it.
func cliLink(challenge string) string { return hashSecret("cli " + challenge) }

func secretLike(s string) bool {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(s) == secretText && len(decoded) == sha256.Size
}

// beginCLI seals a command's request.
func (a *Authenticator) beginCLI(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Name      string `json:"name"`
		At        string `json:"at"`
		Challenge string `json:"challenge"`
	}
	if err := readInto(w, r, &in); err != nil {
		return err
	}
	if !secretLike(in.Challenge) {
		return ubl.Errorf(ubl.CodeValidation, "challenge is the SHA-256 of a secret and the address, in base64url")
	}
	if err := a.ownOrigin(r, in.At); err != nil {
		return err
	}
	if err := ubl.CheckName(in.Name); err != nil {
		return err
	}
	code, err := a.drawCode()
	if err != nil {
		return err
	}
	plain, err := json.Marshal(cliRequest{Name: in.Name, At: in.At, Code: code, Challenge: in.Challenge, Ends: ubl.TimeOf(a.now().Add(cliTime))})
	if err != nil {
		return err
	}
	sealed, err := a.seal(cliRequestSeal, plain)
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, CLIBegun{Link: a.origin + cliPath + "?request=" + url.QueryEscape(sealed), Code: code, Seconds: int(cliTime / time.Second)})
	return nil
}

// drawCode is eight letters and digits that nobody mistakes for one another, as ABCD-2345.
func (a *Authenticator) drawCode() (string, error) {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789" // 32 of them
	drawn, err := a.draw(2 * codeBytes)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, d := range drawn {
		if i == codeBytes {
			b.WriteByte('-')
		}
		b.WriteByte(letters[int(d)%len(letters)])
	}
	return b.String(), nil
}

// requested opens a request that still holds.
func (a *Authenticator) requested(sealed string) (*cliRequest, error) {
	var req cliRequest
	plain, err := a.unseal(cliRequestSeal, sealed)
	if err == nil {
		err = json.Unmarshal(plain, &req)
	}
	if err != nil || req.Ends <= ubl.TimeOf(a.now()) {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such request, or it is too old").Because(err)
	}
	return &req, nil
}

// showCLI is the page on which a person sees who asks. A look changes nothing.
func (a *Authenticator) showCLI(w http.ResponseWriter, r *http.Request) error {
	sealed := r.URL.Query().Get("request")
	req, err := a.requested(sealed)
	if err != nil {
		return err
	}
	page := cliPage{Name: req.Name, At: req.At, Code: req.Code, Request: sealed}
	e, err := a.sessionOf(r)
	switch code := ubl.CodeOf(err); {
	case err == nil:
		if err := a.cliWays(r, e.session, &page); err != nil {
			return err
		}
	case code == ubl.CodeUnauthorized: // the page says how to sign in
	default:
		return err
	}
	envelope.WritePage(w, http.StatusOK, cliTemplate, page)
	return nil
}

// cliWays puts to the page who is signed in, and how they confirm where that is due.
func (a *Authenticator) cliWays(r *http.Request, s *sessionClaims, page *cliPage) error {
	page.Email, page.Tenant, page.Days = s.Email, shortTenant(s.TenantID), int(cliTokenTime/(24*time.Hour))
	if a.confirmed(s) == nil {
		page.Fresh = true
		return nil
	}
	ways, err := a.waysOf(r, s)
	if err != nil {
		return err
	}
	page.Passkey = ways.Passkey
	for _, p := range ways.OIDC {
		page.Provider = p.Name
		page.ProviderPath = "/auth/oidc/" + p.ID + "/start?confirm=1"
	}
	return nil
}

// agreeCLI records that the person of the session agrees, for the command alone that keeps
// the secret.
func (a *Authenticator) agreeCLI(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxCLIForm)
	sealed := r.PostFormValue("request")
	req, err := a.requested(sealed)
	if err != nil {
		return err
	}
	e, err := a.sessionOf(r)
	if err != nil {
		return err
	}
	if err := a.confirmed(e.session); err != nil {
		return err
	}
	if err := a.letIn(r, e.identity, ubl.Enter{Act: true}); err != nil {
		return err
	}
	hash := cliLink(req.Challenge)
	grant, err := a.sealGrant(e.identity, req.Name, hash)
	if err != nil {
		return err
	}
	_, err = a.asker.Ask(r.Context(), ubl.TenantName(ubl.CoreTenant), ubl.OfferLink{
		Request: a.request(r.Context(), ubl.Platform()),
		Link: ubl.OneTimeLink{
			Hash: hash, UserID: e.identity.UserID, TenantID: e.identity.TenantID, Email: e.identity.Email,
			// Known for as long as the request holds, so that nobody agrees to it again.
			ExpiresAt: max(req.Ends, ubl.TimeOf(a.now().Add(cliTaken))), Sealed: grant,
		},
	})
	if ubl.CodeOf(err) == ubl.CodeConflict {
		return ubl.Errorf(ubl.CodeConflict, "this request was agreed to before, which counts once").Because(err)
	}
	if err != nil {
		return err
	}
	envelope.WritePage(w, http.StatusOK, cliTemplate, cliPage{Name: req.Name, Done: true})
	return nil
}

// tokenForCLI gives the command its token, once the person has agreed. Until then the answer
// is not_found: of what never was, is too old or was given there is no telling apart.
func (a *Authenticator) tokenForCLI(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Secret string `json:"secret"`
		At     string `json:"at"`
	}
	if err := readInto(w, r, &in); err != nil {
		return err
	}
	if !secretLike(in.Secret) {
		return ubl.Errorf(ubl.CodeValidation, "secret is 32 bytes in base64url")
	}
	if err := a.ownOrigin(r, in.At); err != nil {
		return err
	}
	hash := cliLink(CLIChallenge(in.Secret, in.At))
	c, err := a.granted(r.Context(), hash)
	if err != nil {
		return err
	}
	if err := a.mayHaveSession(c.identity()); err != nil {
		return err
	}
	if err := a.charge(r, c.identity()); err != nil {
		return err
	}
	if err := a.admit(r.Context(), c.bearer(), hash); err != nil {
		return err
	}
	token, err := a.key().sign(c)
	if err != nil {
		return err
	}
	envelope.Write(w, http.StatusOK, CLIToken{Token: token, JTI: c.ID, Email: c.Email, UserID: c.UserID, TenantID: c.TenantID, ExpiresAt: ubl.TimeOf(c.Expiry.Time())})
	return nil
}

// sealGrant is the token to be, sealed in the one-time link until its command comes for it.
func (a *Authenticator) sealGrant(who ubl.Identity, label, hash string) (string, error) {
	c, err := newSession(who, "", label, a.now(), a.random)
	if err != nil {
		return "", err
	}
	c.Audience = jwt.Audience{cliAudience}
	c.Expiry = jwt.NewNumericDate(c.Began.Time().Add(cliTokenTime))
	plain, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return a.seal(cliGrantSeal+hash, plain)
}

// granted is the token to be under a hash.
func (a *Authenticator) granted(ctx context.Context, hash string) (*sessionClaims, error) {
	l, err := ubl.Ask[*ubl.OneTimeLink](ctx, a.asker, ubl.TenantName(ubl.CoreTenant), ubl.FindLink{Who: ubl.Platform(), Hash: hash})
	if err != nil {
		return nil, err
	}
	c := new(sessionClaims)
	plain, err := a.unseal(cliGrantSeal+hash, l.Sealed)
	if err == nil {
		err = json.Unmarshal(plain, c)
	}
	if err == nil && !a.now().Before(c.Began.Time().Add(cliTaken)) {
		err = errors.New("the command came too late")
	}
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such sign-in").Because(err)
	}
	return c, nil
}

// readInto reads a JSON body.
func readInto(w http.ResponseWriter, r *http.Request, into any) error {
	data, err := readJSON(w, r)
	if err == nil && json.Unmarshal(data, into) != nil {
		err = ubl.Errorf(ubl.CodeValidation, "the body is not of the expected form")
	}
	return err
}

// noCLI says why not.
func (a *Authenticator) noCLI(w http.ResponseWriter, r *http.Request, err error) {
	e := ubl.AsError(err)
	page := cliPage{Gone: e.Code == ubl.CodeNotFound, Elsewhere: e.Code == ubl.CodeOriginNotAllowed, Problem: e.Message}
	if e.Code.Status() >= http.StatusInternalServerError {
		a.log.WarnContext(r.Context(), "couldn't answer a command line's sign-in", "error", err)
	}
	envelope.SetHints(w.Header(), e.Code.Status(), e.RetryAfter())
	envelope.WritePage(w, e.Code.Status(), cliTemplate, page)
}
