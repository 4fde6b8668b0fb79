package auth

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

const agentID = "0123456789abcdef0123456789abcdef.t:corp.example"

// agentToken is one of a good agent, for the MCP server at https://ubl.example/mcp.
func agentToken(w *world) AgentToken {
	return AgentToken{Issuer: "https://ubl.example", Resource: "https://ubl.example/mcp", Agent: agentID, Client: "registered:1", Family: "f",
		UserID: "u:robot", Expires: w.clock.Now().Add(time.Hour)}
}

// lets has the tenant know the agent, with a mandate.
func (w *world) lets(m *ubl.Mandate) {
	w.tenants.set(func(f *tenants) {
		f.agent = func(c ubl.CheckAgent) (*ubl.ServiceCaller, error) {
			return &ubl.ServiceCaller{Identity: ubl.Identity{UserID: "u:robot", IsService: true, TenantID: "t:other.example", Mandate: m}, Resource: "https://ubl.example/mcp"}, nil
		}
	})
}

func (w *world) agents(url string, headers ...string) answer {
	return w.at(w.MiddlewareForAgents("https://ubl.example"), http.MethodPost, url, headers...)
}

// TestAgentToken: an access token is good at its own MCP server, for as long as the tenant says so at
// each request.
func TestAgentToken(t *testing.T) {
	w := newWorld(t)
	w.lets(&ubl.Mandate{Tools: []string{"messenger.*"}})
	token, err := w.SignAgent(agentToken(w))
	if err != nil {
		t.Fatal(err)
	}
	caller := w.agents("https://ubl.example/mcp", bearer(token)...).let(t)
	if id := caller.Identity; id.TenantID != "t:corp.example" || !id.IsService || id.Mandate.Tools[0] != "messenger.*" || caller.TokenID != agentID || !caller.ExpiresAt.Std().Equal(w.clock.Now().Add(time.Hour)) || caller.Session || !caller.OneAddress {
		t.Errorf("came in as %+v with %+v until %s", id, id.Mandate, caller.ExpiresAt)
	}
	if of, ok := w.OpenAgent(token); !ok || of.Agent != agentID || of.Client != "registered:1" || of.Family != "f" || of.UserID != "u:robot" || of.Resource != "https://ubl.example/mcp" {
		t.Errorf("it says %+v", of)
	}
	for _, url := range []string{"https://ubl.example/portal/mcp", "https://ubl.example/mcp/messenger", "https://ubl.example/api/whoami", "https://ubl.example/mcp/"} {
		w.agents(url, bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	}
	elsewhere := w.at(w.MiddlewareForAgents(""), http.MethodPost, "http://127.0.0.1:8080/mcp", bearer(token)...)
	elsewhere.refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	w.at(w.Middleware, http.MethodPost, "https://ubl.example/mcp", bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	w.at(w.MiddlewareForBrowsers, http.MethodGet, "https://ubl.example/mcp", bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
	r := httptest.NewRequest(http.MethodPost, "https://ubl.example/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	if _, err := w.Authenticate(r.Context(), r); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("where nobody says which server it is, it is answered %v", err)
	}

	before := count[ubl.CheckAgent](w.tenants)
	w.lets(&ubl.Mandate{Tools: []string{"office.*"}})
	w.agents("https://ubl.example/mcp", bearer(token)...).let(t)
	if got := count[ubl.CheckAgent](w.tenants); got != before+1 {
		t.Errorf("asked %d times, want once", got-before)
	}
	if again := w.agents("https://ubl.example/mcp", bearer(token)...).let(t); again.Identity.Mandate.Tools[0] != "office.*" {
		t.Errorf("a changed mandate is %+v", again.Identity.Mandate)
	}
	w.feed.revoke("t:corp.example", agentID)
	if !closed(caller.Revoked) {
		t.Error("streams aren't told of the agent's end")
	}
	w.tenants.set(func(f *tenants) {
		f.agent = func(ubl.CheckAgent) (*ubl.ServiceCaller, error) {
			return nil, ubl.Errorf(ubl.CodeUnauthorized, "ended")
		}
	})
	w.agents("https://ubl.example/mcp", bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
}

// TestTokensThatAreNoAgents: nothing but what SignAgent makes passes for an access token, and one that
// was made for something else than its agent was let in to is none.
func TestTokensThatAreNoAgents(t *testing.T) {
	w := newWorld(t)
	w.lets(nil)
	stranger, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := agentToken(w)
	claims := func(change func(*agentClaims)) agentClaims {
		c := agentClaims{Claims: jwt.Claims{Issuer: good.Issuer, Audience: jwt.Audience{good.Resource}, Subject: "u:robot", IssuedAt: jwt.NewNumericDate(w.clock.Now()), Expiry: jwt.NewNumericDate(good.Expires), ID: "x"}, Client: "c", Agent: agentID}
		change(&c)
		return c
	}
	same := func(*agentClaims) {}
	for name, c := range map[string]struct {
		key    *Key
		kind   string
		change func(*agentClaims)
	}{
		"a stranger's key":            {stranger, agentType, same},
		"another type":                {w.key, "JWT", same},
		"no type":                     {w.key, "", same},
		"two audiences":               {w.key, agentType, func(c *agentClaims) { c.Audience = append(c.Audience, "https://ubl.example/portal/mcp") }},
		"no audience":                 {w.key, agentType, func(c *agentClaims) { c.Audience = nil }},
		"another server's audience":   {w.key, agentType, func(c *agentClaims) { c.Audience = jwt.Audience{"https://evil.example/mcp"} }},
		"a server of a longer name":   {w.key, agentType, func(c *agentClaims) { c.Audience = jwt.Audience{"https://ubl.example.evil/mcp"} }},
		"another place than let into": {w.key, agentType, func(c *agentClaims) { c.Audience = jwt.Audience{"https://ubl.example/portal/mcp"} }},
		"no end":                      {w.key, agentType, func(c *agentClaims) { c.Expiry = nil }},
		"an hour ago":                 {w.key, agentType, func(c *agentClaims) { c.Expiry = jwt.NewNumericDate(w.clock.Now()) }},
		"tomorrow":                    {w.key, agentType, func(c *agentClaims) { c.IssuedAt = jwt.NewNumericDate(w.clock.Now().Add(time.Hour)) }},
		"no agent":                    {w.key, agentType, func(c *agentClaims) { c.Agent = "" }},
		"an agent of no tenant":       {w.key, agentType, func(c *agentClaims) { c.Agent = strings.Repeat("0", 32) }},
		"the local issuer":            {w.key, agentType, func(c *agentClaims) { c.Issuer = LocalIssuer }},
		"the platform's audience":     {w.key, agentType, func(c *agentClaims) { c.Issuer, c.Audience = LocalIssuer, jwt.Audience{Audience} }},
		"a session's audience":        {w.key, agentType, func(c *agentClaims) { c.Issuer, c.Audience = LocalIssuer, jwt.Audience{SessionAudience} }},
	} {
		t.Run(name, func(t *testing.T) {
			token, err := c.key.signAs(jose.ContentType(c.kind), claims(c.change))
			if err != nil {
				t.Fatal(err)
			}
			for _, url := range []string{"https://ubl.example/mcp", "https://ubl.example/portal/mcp", "https://evil.example/mcp"} {
				w.agents(url, bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			}
			w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			opened := name == "another place than let into"
			if _, ok := w.OpenAgent(token); ok != opened {
				t.Errorf("opening it is %t", ok)
			}
		})
	}
	if asked := count[ubl.Enter](w.tenants); asked > 0 {
		t.Errorf("%d came in", asked)
	}
}

// TestMandateOfOwnQuestion: of requests at the same time each acts under what the tenant said to its
// own question, so that none takes an older mandate from another's late answer.
func TestMandateOfOwnQuestion(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int64
	w.tenants.set(func(f *tenants) {
		f.agent = func(ubl.CheckAgent) (*ubl.ServiceCaller, error) {
			m := &ubl.Mandate{PerMinute: int(asked.Add(1))}
			return &ubl.ServiceCaller{Identity: ubl.Identity{UserID: "u:robot", IsService: true, Mandate: m}, Resource: "https://ubl.example/mcp"}, nil
		}
	})
	token, err := w.SignAgent(agentToken(w))
	if err != nil {
		t.Fatal(err)
	}
	w.agents("https://ubl.example/mcp", bearer(token)...).let(t)
	under := make([]int, 200)
	var wg sync.WaitGroup
	for i := range under {
		wg.Go(func() {
			if a := w.agents("https://ubl.example/mcp", bearer(token)...); a.caller != nil {
				under[i] = a.caller.Identity.Mandate.PerMinute
			}
		})
	}
	wg.Wait()
	slices.Sort(under)
	if n := len(slices.Compact(slices.Clone(under))); n != len(under) || under[0] == 0 {
		t.Errorf("%d requests acted under %d answers: %v", len(under), n, under)
	}
}
