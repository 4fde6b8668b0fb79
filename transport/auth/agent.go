package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
	"ubl/transport/envelope"
)

// agentType is the type of an agent's access token (RFC 9068). By it and by its audience no
// other token of the node's key passes for one, and it for none.
const agentType = "at+jwt"

// maxAgentURL bounds the addresses in an access token, and maxAgentClient the client's name, in bytes.
const (
	maxAgentURL    = 1024
	maxAgentClient = 1024
)

// AgentToken is what an agent's access token says. Package oauth gives such tokens.
type AgentToken struct {
	Issuer   string // this server, as the client knows it
	Resource string // the URL of the one MCP server that it is for
	Agent    string // the client id of the service, as of [NewServiceToken]
	Client   string // the OAuth client
	Family   string // the hash of what its refresh tokens share
	UserID   ubl.UserID
	Expires  time.Time
}

// agentClaims are those of RFC 9068, and the agent.
type agentClaims struct {
	jwt.Claims
	Client string `json:"client_id"`
	Agent  string `json:"agent"`
	Family string `json:"family"`

	signer earlierKey
}

// SignAgent makes an access token. What it says was found good by who asks.
func (a *Authenticator) SignAgent(t AgentToken) (string, error) {
	id, err := drawID(a.random)
	if err != nil {
		return "", err
	}
	token, err := a.key().signAs(agentType, agentClaims{
		Claims: jwt.Claims{
			Issuer: t.Issuer, Audience: jwt.Audience{t.Resource}, Subject: string(t.UserID),
			IssuedAt: jwt.NewNumericDate(a.now()), Expiry: jwt.NewNumericDate(t.Expires), ID: id,
		},
		Client: t.Client, Agent: t.Agent, Family: t.Family,
	})
	if err != nil {
		return "", fmt.Errorf("couldn't sign an access token: %w", err)
	}
	return token, nil
}

// OpenAgent reads an access token that this server has signed and that hasn't expired. Whether
// its agent still is one, only the tenant knows.
func (a *Authenticator) OpenAgent(text string) (AgentToken, bool) {
	c, err := tokenOf(text)
	if err != nil || len(text) > maxCredential {
		return AgentToken{}, false
	}
	token, err := jwt.ParseSigned(c.token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil || !isAgentToken(token) {
		return AgentToken{}, false
	}
	of, err := a.key().verifyAgent(token, a.now())
	if err != nil {
		return AgentToken{}, false
	}
	return AgentToken{of.Issuer, of.Audience[0], of.Agent, of.Client, of.Family, ubl.UserID(of.Subject), of.Expiry.Time()}, true
}

// isAgentToken reports whether a token says that it is one. Providers have such tokens, too.
func isAgentToken(token *jwt.JSONWebToken) bool {
	return len(token.Headers) == 1 && token.Headers[0].ExtraHeaders[jose.HeaderType] == agentType
}

// verifyAgent checks an access token's signature and claims.
func (k *Key) verifyAgent(token *jwt.JSONWebToken, now time.Time) (*agentClaims, error) {
	c := &agentClaims{signer: k.signerOf(token, now)}
	if err := token.Claims(c.signer.key.public, c); err != nil {
		return nil, notValid(err)
	}
	if len(c.Audience) != 1 || len(c.Audience[0]) > maxAgentURL || c.Issuer == "" || !strings.HasPrefix(c.Audience[0], c.Issuer+"/") ||
		TenantOfClient(c.Agent) == "" || len(c.Client) > maxAgentClient {
		return nil, notValid(errors.New("an access token without its claims"))
	}
	common := claims{Claims: c.Claims}
	if err := common.check(c.Issuer, c.Audience[0], now); err != nil {
		return nil, err
	}
	return c, nil
}

// identifyAgent makes the entry of an access token: as of a service token, its tenant is asked
// at every request, and tells of its end at once.
func (a *Authenticator) identifyAgent(ctx context.Context, token *jwt.JSONWebToken) (*entry, error) {
	c, err := a.key().verifyAgent(token, a.now())
	if err != nil {
		return nil, err
	}
	tenant := TenantOfClient(c.Agent)
	e, err := a.serviceEntry(ctx, tenant, c.Agent, ubl.CheckAgent{ClientID: c.Agent})
	if err != nil {
		return nil, err
	}
	if e.resource != c.Audience[0] {
		return nil, notValid(errors.New("the access token is not for what the agent was let in to"))
	}
	if ends := ubl.TimeOf(c.Expiry.Time()); e.expires == 0 || ends < e.expires {
		e.expires = ends
	}
	e.signedBy(c.signer)
	return e, nil
}

// MiddlewareForAgents is Middleware for MCP servers, where agents' access tokens count besides:
// each at the URL that it is for, under publicURL or the host that was asked.
func (a *Authenticator) MiddlewareForAgents(publicURL string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return a.guardAt(next, programs, func(r *http.Request) string { return envelope.Base(publicURL, r) + r.URL.Path })
	}
}
