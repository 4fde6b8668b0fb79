package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// The grants that there are.
const (
	grantCode    = "authorization_code"
	grantRefresh = "refresh_token"
)

// maxTokenForm bounds a request for a token, in bytes.
const maxTokenForm = 64 << 10

// refreshToken is what a client fetches the next access token with. The Tenant has the hashes
// of both secrets: the newest Own, and the Family that all of a grant share.
type refreshToken struct {
	Agent    string `json:"a"`
	Client   string `json:"c"`
	Resource string `json:"u"`
	Family   string `json:"f"`
	Own      string `json:"o"`
}

// tokens is the answer of the token endpoint (RFC 6749, 5.1).
type tokens struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"` // in seconds
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// token gives a client its tokens.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	answer, err := s.tokens(w, r)
	if err != nil {
		s.tell(w, r, err)
		return
	}
	s.write(w, http.StatusOK, answer)
}

func (s *Server) tokens(w http.ResponseWriter, r *http.Request) (*tokens, error) {
	q, err := readForm(w, r)
	if err != nil {
		return nil, err
	}
	label, err := s.caller(r, q)
	if err != nil {
		return nil, err
	}
	switch q.Get("grant_type") {
	case grantCode:
		return s.redeem(r.Context(), q, label)
	case grantRefresh:
		return s.refresh(r.Context(), q, label)
	}
	return nil, wrong(unsupportedFlow, "grant_type: authorization_code or refresh_token")
}

// readForm reads a program's form, in which each parameter is there once.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, wrong(invalidRequest, "the body is application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxTokenForm)
	if err := r.ParseForm(); err != nil {
		return nil, wrong(invalidRequest, "the body is not a form, or is too large")
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, wrong(invalidRequest, "a parameter is there twice")
		}
	}
	return r.PostForm, nil
}

// caller is which client asks, as the Tenant remembers it. A client with a document has no
// secret, and is known by its address: what it brings was given to that address alone.
func (s *Server) caller(r *http.Request, q url.Values) (label string, err error) {
	id, secret := q.Get("client_id"), q.Get("client_secret")
	if user, pass, ok := r.BasicAuth(); ok {
		if secret != "" {
			return "", wrong(invalidRequest, "the client's secret is in the header and in the form")
		}
		user, uerr := url.QueryUnescape(user)
		pass, perr := url.QueryUnescape(pass)
		if uerr != nil || perr != nil || id != "" && id != user {
			return "", notThisClient("the header and the form name two clients")
		}
		id, secret = user, pass
	}
	switch {
	case id == "":
		return "", notThisClient("client_id is missing")
	case isDocument(id):
		if _, ok := documentURL(id); !ok || secret != "" {
			return "", notThisClient("the client is not known here, or has no secret")
		}
		return id, nil
	}
	c, err := s.registeredClient(id)
	if err != nil {
		return "", err
	}
	switch {
	case c.Auth == authNone && secret == "": // it has none
	case c.Auth == authNone, !s.knowsSecret(id, secret):
		return "", notThisClient("the client has not proven who it is as it registered")
	}
	return c.label(), nil
}

// redeem turns a code into the first tokens.
func (s *Server) redeem(ctx context.Context, q url.Values, label string) (*tokens, error) {
	text := q.Get("code")
	var c code
	switch {
	case text == "" || q.Get("code_verifier") == "":
		return nil, wrong(invalidRequest, "code and code_verifier go together")
	case s.read(codeKind, text, &c) != nil:
		return nil, wrong(invalidGrant, "the code is not one")
	case c.Client != label:
		return nil, wrong(invalidGrant, "the code was given to another client")
	case q.Get("redirect_uri") != "" && !sameText(c.Redirect, challengeOf(q.Get("redirect_uri"))): // OAuth 2.1 leaves it out
		return nil, wrong(invalidGrant, "redirect_uri is not the one that the code was asked with")
	case !sameText(c.Challenge, challengeOf(q.Get("code_verifier"))):
		return nil, wrong(invalidGrant, "code_verifier doesn't go with the code")
	case q.Get("resource") != "" && withoutQuery(q.Get("resource")) != c.Resource:
		return nil, wrong(invalidTarget, "resource is not the one that the code was asked with")
	}
	next, err := s.first(c)
	if err != nil {
		return nil, err
	}
	head, err := s.command(ctx)
	if err != nil {
		return nil, err
	}
	return s.give(ctx, next, ubl.RedeemAgentCode{
		Request: head, ClientID: c.Agent, Client: c.Client, CodeHash: hashOf(text),
		FamilyHash: hashOf(next.Family), RefreshHash: hashOf(next.Own),
	})
}

// refresh turns a refresh token into the next tokens.
func (s *Server) refresh(ctx context.Context, q url.Values, label string) (*tokens, error) {
	var t refreshToken
	switch {
	case q.Get("refresh_token") == "":
		return nil, wrong(invalidRequest, "refresh_token is missing")
	case s.read(refreshKind, q.Get("refresh_token"), &t) != nil:
		return nil, wrong(invalidGrant, "the refresh token is not one")
	case t.Client != label:
		return nil, wrong(invalidGrant, "the refresh token was given to another client")
	case q.Get("resource") != "" && withoutQuery(q.Get("resource")) != t.Resource:
		return nil, wrong(invalidTarget, "resource is not the one that the refresh token is for")
	}
	next := t.next()
	head, err := s.command(ctx)
	if err != nil {
		return nil, err
	}
	return s.give(ctx, next, ubl.RefreshAgent{
		Request: head, ClientID: t.Agent, Client: t.Client,
		FamilyHash: hashOf(t.Family), RefreshHash: hashOf(t.Own), NewHash: hashOf(next.Own),
	})
}

// first is the refresh token that a grant begins with: both secrets are drawn.
func (s *Server) first(c code) (t refreshToken, err error) {
	t = refreshToken{Agent: c.Agent, Client: c.Client, Resource: c.Resource}
	if t.Family, err = s.draw(); err != nil {
		return t, err
	}
	t.Own, err = s.draw()
	return t, err
}

// next is the refresh token after another, always the same one: a client whose calls refresh at
// once with one token gets one next token, from any node, under any of the node's keys. Who holds
// a token can work out the secret of the next, but not stamp it.
func (t refreshToken) next() refreshToken {
	t.Own = base64.RawURLEncoding.EncodeToString(mac([]byte(t.Family), "the next after "+t.Own))
	return t
}

// give asks the agent's tenant, and writes the tokens that go with its yes.
func (s *Server) give(ctx context.Context, next refreshToken, cmd ubl.Command) (*tokens, error) {
	caller, err := ubl.Ask[*ubl.ServiceCaller](ctx, s.Asker, ubl.TenantName(s.TenantOf(next.Agent)), cmd)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	expires := now.Add(AccessTTL)
	if end := caller.ExpiresAt.Std(); caller.ExpiresAt != 0 && end.Before(expires) {
		expires = end
	}
	access, err := s.Sign(Access{Issuer: originOf(next.Resource), Resource: next.Resource, Agent: next.Agent, Client: next.Client, Family: hashOf(next.Family), UserID: caller.Identity.UserID, Expires: expires})
	if err != nil {
		return nil, err
	}
	refresh, err := s.stamp(refreshKind, next)
	if err != nil {
		return nil, err
	}
	return &tokens{Access: access, Type: "Bearer", Expires: int64(expires.Sub(now) / time.Second), Refresh: refresh, Scope: s.Scope}, nil
}

// command is the head of a question that the server asks for itself. Its key is drawn: by one
// that a client chooses, a second use of a code could look like the first one repeated.
func (s *Server) command(ctx context.Context) (ubl.Request, error) {
	key, err := s.draw()
	return ubl.Request{Who: ubl.Platform(), ID: envelope.RequestOf(ctx).ID, Key: "oauth:" + key}, err
}

// originOf is the server that a resource was found to be of, as its client knows it.
func originOf(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// challengeOf is the challenge that a verifier answers (RFC 7636, S256): its hash.
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
