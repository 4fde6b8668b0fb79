package portal

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"ubl"
)

// stateLife is how long a user may take to sign in.
const stateLife = 10 * time.Minute

// CallbackPath is where a browser comes back to after signing in.
const CallbackPath = "/api/portal/callback"

// state travels through the user's browser and back, sealed: any node can take it
// up, nobody can read or change it, and nothing has to be kept meanwhile. It works once.
type state struct {
	Tenant   ubl.TenantID `json:"t"`
	User     ubl.UserID   `json:"u"`
	Email    string       `json:"e,omitempty"`
	Domain   string       `json:"d,omitempty"`
	Service  bool         `json:"b,omitempty"`
	Unproven bool         `json:"y,omitempty"`
	Issuer   string       `json:"i"`
	Subject  string       `json:"s"`
	Server   string       `json:"v"`
	Verifier string       `json:"p"` // of PKCE
	// Origin is the server's: its grant is for no other.
	Origin string `json:"o"`
	// AuthIss is the authorization server that was asked, "" where an owner has set
	// its addresses. NamesItself says that its answer names it (RFC 9207).
	AuthIss     string   `json:"a,omitempty"`
	NamesItself bool     `json:"n,omitempty"`
	Ends        ubl.Time `json:"x"`
	Grant       grant    `json:"g"` // without tokens
}

func (s *state) who() ubl.Identity {
	return ubl.Identity{
		UserID: s.User, Email: s.Email, EmailDomain: s.Domain, IsService: s.Service, Unproven: s.Unproven,
		TenantID: s.Tenant, Issuer: s.Issuer, Subject: s.Subject,
	}
}

// statePurpose binds no more than the kind: who and what is inside.
var statePurpose = purpose{kind: "state"}

func (p *Portal) redirectURL() string { return strings.TrimSuffix(p.publicURL, "/") + CallbackPath }

// Connect begins a user's signing in to a server of [ubl.AuthUser] and answers
// where their browser has to go. Members; it changes nothing yet.
func (p *Portal) Connect(ctx context.Context, who ubl.Identity, serverID string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	a, err := p.openServer(ctx, who, serverID)
	if err != nil {
		return "", err
	}
	if a.Server.Auth != ubl.AuthUser || a.Server.Disabled {
		return "", ubl.Errorf(ubl.CodeConflict, "nobody signs in to this server")
	}
	authority, err := p.authorityOf(ctx, who.TenantID, &a.Server)
	if err != nil {
		return "", err
	}
	client := &registered{id: a.Server.ClientID, style: authority.style}
	if client.id == "" { // no owner has set one
		if client, err = p.register(ctx, who.TenantID, authority); err != nil {
			return "", err
		}
	}
	return p.signInURL(who, &a.Server, authority, client)
}

func (p *Portal) signInURL(who ubl.Identity, s *ubl.Server, at *authority, client *registered) (string, error) {
	verifier, err := p.draw()
	if err != nil {
		return "", err
	}
	st := state{
		Tenant: who.TenantID, User: who.UserID, Email: who.Email, Domain: who.EmailDomain, Service: who.IsService, Unproven: who.Unproven,
		Issuer: who.Issuer, Subject: who.Subject, Server: s.ServerID, Verifier: verifier,
		Origin: originOf(s.URL), AuthIss: at.issuer, NamesItself: at.namesItself, Ends: ubl.TimeOf(p.now()).Add(stateLife),
		Grant: grant{ClientID: client.id, ClientSecret: client.secret, Style: client.style, TokenURL: at.token, Inside: at.inside || s.TokenURL != ""},
	}
	sealed, err := p.sealState(&st)
	if err != nil {
		return "", err
	}
	scopes := at.scopes
	if at.takesRefresh && len(s.Scopes) == 0 {
		scopes = append(scopes[:len(scopes):len(scopes)], "offline_access")
	}
	cfg := oauth2.Config{ClientID: client.id, Endpoint: oauth2.Endpoint{AuthURL: at.authorize}, RedirectURL: p.redirectURL(), Scopes: scopes}
	return cfg.AuthCodeURL(sealed, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", s.URL)), nil
}

// draw is a random text of 43 characters.
func (p *Portal) draw() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(p.random, b[:]); err != nil {
		return "", fmt.Errorf("couldn't draw a random text: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

func (p *Portal) sealState(s *state) (string, error) {
	plain, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("couldn't write the state: %w", err)
	}
	sealed, err := p.sealer.seal(statePurpose, plain)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

var errState = ubl.Errorf(ubl.CodeValidation, "state: this sign-in didn't begin here, or took longer than %d minutes: begin again", int(stateLife/time.Minute))

func (p *Portal) openState(s string) (*state, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, errState
	}
	plain, err := p.sealer.open(statePurpose, sealed)
	if err != nil {
		return nil, errState
	}
	st := new(state)
	if err := json.Unmarshal(plain, st); err != nil || ubl.TimeOf(p.now()) > st.Ends {
		return nil, errState
	}
	return st, nil
}

// Pending tells what a state from [Portal.Connect] is about.
func (p *Portal) Pending(sealed string) (*ubl.SigningIn, error) {
	st, err := p.openState(sealed)
	if err != nil {
		return nil, err
	}
	return st.signingIn(), nil
}

func (s *state) signingIn() *ubl.SigningIn {
	return &ubl.SigningIn{TenantID: s.Tenant, UserID: s.User, Email: s.Email, Unproven: s.Unproven, IsService: s.Service,
		ServerID: s.Server, ServerHost: hostOf(s.Origin), TokenHost: hostOf(s.Grant.TokenURL)}
}

// hostOf is the host of an address, "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// begunFor reports whether somebody may end the sign-in: who began it, and for a service
// any person of its tenant. With another's account the one who began would act as them.
func (s *state) begunFor(by ubl.Identity) bool {
	return by.TenantID == s.Tenant && (by.UserID == s.User || s.Service && !by.IsService)
}

// Callback ends a sign-in: with the state of [Portal.Connect] and the code and
// issuer ("" for none) that the authorization server sent along, the user's grant
// is fetched and kept. by is the caller, whom their tenant has let in: others' states are
// refused, so that nobody hands over an account by following a link.
func (p *Portal) Callback(ctx context.Context, by ubl.Identity, sealed, code, issuer string) (*ubl.SigningIn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	st, err := p.openState(sealed)
	if err != nil {
		return nil, err
	}
	if !st.begunFor(by) {
		return nil, ubl.Errorf(ubl.CodeForbidden, "somebody else began this sign-in: nothing was connected. If it was you, sign in to UBL as who began it and reload this page")
	}
	if err := st.checkIssuer(issuer); err != nil {
		return nil, err
	}
	who := st.who()
	if _, err := p.enter(ctx, who); err != nil { // they may have been shut out meanwhile
		return nil, err
	}
	a, err := p.openServer(ctx, who, st.Server)
	if err != nil {
		return nil, err
	}
	if originOf(a.Server.URL) != st.Origin {
		return nil, ubl.Errorf(ubl.CodeConflict, "the server has another address by now: begin again")
	}
	if err := p.endOnce(ctx, sealed, a, st, code); err != nil {
		return nil, err
	}
	p.sessions.forget(ctx, placeOf(who, &a.Server))
	if a.Server.Status != ubl.ServerUp {
		p.background(func(ctx context.Context) { p.syncAs(ctx, who, st.Server) })
	}
	return st.signingIn(), nil
}

var errEnded = ubl.Errorf(ubl.CodeConflict, "this sign-in has ended already: begin again")

// endOnce turns the code into a grant that is kept, once for a state. This node refuses a
// second time before the code is shown to anybody; where another node was first, the Portal
// actor refuses to keep the grant, for the state is its key. One that failed may be tried again.
func (p *Portal) endOnce(ctx context.Context, sealed string, a *ubl.ServerAccess, st *state, code string) (err error) {
	id := ubl.BodyHash([]byte(sealed))
	if !p.signIns.begin(id, ubl.TimeOf(p.now()), st.Ends) {
		return errEnded
	}
	defer func() {
		if err != nil && ubl.CodeOf(err) != ubl.CodeConflict {
			p.signIns.failed(id)
		}
	}()
	if err := p.exchange(ctx, a, st, code); err != nil {
		return err
	}
	who := st.who()
	req, err := p.request(who)
	if err != nil {
		return err
	}
	req.Key = "sign-in:" + id
	if _, err = p.saveGrant(ctx, req, &a.Server, &st.Grant, false); ubl.CodeOf(err) == ubl.CodeIdempotencyConflict {
		return errEnded.Because(err)
	}
	return err
}

// signIns are those that have ended on this node or are about to, until their states are
// too old anyway.
type signIns struct {
	mu    sync.Mutex
	until map[string]ubl.Time
}

// begin takes a sign-in, unless it was taken before.
func (s *signIns) begin(id string, now, until ubl.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.until, func(_ string, until ubl.Time) bool { return until < now })
	if _, taken := s.until[id]; taken {
		return false
	}
	s.until[id] = until
	return true
}

// failed gives a sign-in back.
func (s *signIns) failed(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.until, id)
}

// Disconnect forgets what the user has signed in to a server with, and answers the
// server. Sessions that were opened with it end within a minute, on other nodes too.
// Members.
func (p *Portal) Disconnect(ctx context.Context, req ubl.Request, serverID string) (*ubl.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	a, err := p.openServer(ctx, req.Who, serverID)
	if err != nil {
		return nil, err
	}
	if _, err := p.asker.Ask(ctx, ubl.PortalName(req.Who.TenantID), ubl.SaveGrant{Request: req, ServerID: serverID}); err != nil {
		return nil, err
	}
	p.sessions.forget(ctx, placeOf(req.Who, &a.Server))
	a.Server.Connected = new(false)
	return &a.Server, nil
}

// checkIssuer refuses the answer of another authorization server than the one that
// was asked: an evil one can send its visitors on to an honest one, to be brought
// the honest one's code.
func (s *state) checkIssuer(issuer string) error {
	missing := issuer == "" && s.NamesItself
	other := issuer != "" && s.AuthIss != "" && issuer != s.AuthIss
	if missing || other {
		return ubl.Errorf(ubl.CodeValidation, "iss: not the authorization server that was asked")
	}
	return nil
}

// exchange turns the code into tokens.
func (p *Portal) exchange(ctx context.Context, a *ubl.ServerAccess, st *state, code string) error {
	cfg, err := p.configOf(st.Tenant, a, &st.Grant)
	if err != nil {
		return err
	}
	cfg.RedirectURL = p.redirectURL()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, p.namedClient(st.Tenant, st.Grant.Inside))
	token, err := cfg.Exchange(ctx, code, oauth2.VerifierOption(st.Verifier), oauth2.SetAuthURLParam("resource", a.Server.URL))
	if err != nil {
		if err = tokenError(err); ubl.CodeOf(err) == ubl.CodeForbidden {
			return ubl.Errorf(ubl.CodeForbidden, "the authorization server doesn't take the code: sign in again").Because(err)
		}
		return err
	}
	p.take(&st.Grant, token)
	return nil
}

// enter has the tenant say that the user still belongs to it, and as what.
func (p *Portal) enter(ctx context.Context, who ubl.Identity) (*ubl.Entered, error) {
	req, err := p.request(who)
	if err != nil {
		return nil, err
	}
	return ubl.Ask[*ubl.Entered](ctx, p.asker, ubl.TenantName(who.TenantID), ubl.Enter{Request: req, Act: true, NoFounding: true})
}

// stillOwner refuses who was removed or demoted since their request was let in.
func (p *Portal) stillOwner(ctx context.Context, who ubl.Identity) error {
	in, err := p.enter(ctx, who)
	if err == nil && in.Role != ubl.RoleOwner {
		err = errOwner
	}
	return err
}
