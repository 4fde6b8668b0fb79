package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"ubl/test/consent"
	"ubl/test/poll"
)

// goClient is the go-sdk's own OAuth client for an MCP server. The person lets it in once.
func goClient(t *testing.T, p *consent.Person, refreshesAtOnce bool) *auth.AuthorizationCodeHandler {
	t.Helper()
	const back = "http://127.0.0.1:1/callback"
	asked := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Harbour Robot", RedirectURIs: []string{back}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if asked++; asked > 1 {
				return nil, errors.New("the person isn't asked twice")
			}
			to, err := p.Answer(ctx, args.URL, consent.InGeneral())
			if err != nil {
				return nil, err
			}
			q := to.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			if refreshesAtOnce {
				token.Expiry = time.Now()
			}
			return c.TokenSource(ctx, token), nil
		},
	})
	must(t, err)
	return handler
}

// connect begins a session of MCP at a URL.
func connect(t *testing.T, endpoint string, handler auth.OAuthHandler) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "harbour-robot", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint, OAuthHandler: handler}, nil)
	must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func says(t *testing.T, session *mcp.ClientSession, text string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "messenger.send", Arguments: map[string]any{
		"room_id": "r:general", "type": "text", "body": map[string]any{"text": text}}})
	if err == nil && result.IsError {
		err = errors.New("the tool failed")
	}
	return err
}

// TestOAuthOfTheGoSDK: the go-sdk's own OAuth code finds the server, registers, has the person asked,
// and works with what it was given, by whatever name it knows this machine. It refreshes, goes on
// after a restart, and ends when the person says so.
func TestOAuthOfTheGoSDK(t *testing.T) {
	n := newNode(t)
	p, err := consent.SignIn(t.Context(), n.signInLink(t))
	must(t, err)
	owner := n.agent("owner", "Authorization", "Bearer "+n.token("owner@localhost"))
	_, port, _ := strings.Cut(n.addr, ":")
	at := "http://localhost:" + port // where the link leads
	const chosen = "?sets=messenger,tools&readonly=false&schemas=output"
	for _, endpoint := range []string{"http://127.0.0.1:" + port + "/mcp", at + "/portal/mcp", at + "/portal/mcp" + chosen} {
		t.Run(endpoint, func(t *testing.T) {
			session := connect(t, endpoint, goClient(t, p, true))
			must(t, says(t, session, "hello from "+endpoint))
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) == 0 {
				t.Fatalf("the tools are %v, %v", tools, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "office.document.list", Arguments: map[string]any{"workspace_id": "w:general"}}); err == nil && !result.IsError {
				t.Error("the agent may do what its mandate doesn't name")
			}
		})
	}

	t.Run("restart and end", func(t *testing.T) {
		handler := goClient(t, p, false)
		must(t, says(t, connect(t, "http://"+n.addr+"/mcp", handler), "before"))
		n.stop()
		n.start()
		session := connect(t, "http://"+n.addr+"/mcp", handler)
		must(t, says(t, session, "after"))
		source, err := handler.TokenSource(t.Context())
		must(t, err)
		token, err := source.Token()
		must(t, err)
		robot := n.bearer("robot", token.AccessToken)
		robot.opensMCP()
		stream := robot.opens("/mcp")
		if status, body := robot.ask("GET", "/api/whoami", ""); status != http.StatusUnauthorized {
			t.Errorf("the agent's token counts at the API: %d %s", status, body)
		}
		var list struct {
			Tokens []struct {
				ClientID string `json:"client_id"`
				Name     string `json:"name"`
				Mandate  *struct {
					Places []string `json:"places"`
				} `json:"mandate"`
			} `json:"service_tokens"`
		}
		_, body := owner.ask("GET", "/api/service-tokens", "")
		must(t, json.Unmarshal([]byte(body), &list))
		if len(list.Tokens) != 4 {
			t.Fatalf("the agents are %+v", list)
		}
		for _, token := range list.Tokens {
			if token.Mandate == nil || len(token.Mandate.Places) != 1 || token.Name != "Harbour Robot" {
				t.Errorf("an agent is %+v", token)
			}
			if status, body := owner.ask("DELETE", "/api/service-tokens/"+token.ClientID, ""); status != http.StatusOK {
				t.Errorf("ending an agent is answered %d %s", status, body)
			}
		}
		select {
		case <-stream.done:
		case <-time.After(within):
			t.Error("the agent's stream goes on after its end")
		}
		if err := says(t, session, "too late"); err == nil {
			t.Error("an agent that has ended goes on")
		}
	})
	_, texts := owner.ask("GET", "/api/rooms/r:general/history", "")
	for text, want := range map[string]bool{"hello from http://127.0.0.1:" + port + "/mcp": true, "hello from " + at + "/portal/mcp": true, "hello from " + at + "/portal/mcp" + chosen: true, "before": true, "after": true, "too late": false} {
		if strings.Contains(texts, text) != want {
			t.Errorf("the room has %q: %t", text, !want)
		}
	}
}

// TestOAuthOfOurOwnPortal: one UBL uses the tools of another as its person, whom it has signed in there.
func TestOAuthOfOurOwnPortal(t *testing.T) {
	here, there := newNode(t), newNode(t)
	p, err := consent.SignIn(t.Context(), there.signInLink(t))
	must(t, err)
	owner := here.bearer("owner", here.token("owner@localhost"))
	ask := func(method, path, body string, want int) string {
		t.Helper()
		status, answer := owner.ask(method, path, body)
		if status != want {
			t.Fatalf("%s %s = %d %s", method, path, status, answer)
		}
		return answer
	}
	ask("POST", "/api/portal/servers", `{"server_id":"other","name":"Other house","url":"http://`+there.addr+`/mcp","auth":"authorization_code"}`, http.StatusCreated)
	var begun struct{ URL string }
	must(t, json.Unmarshal([]byte(ask("POST", "/api/portal/servers/other/connect", "", http.StatusOK)), &begun))
	back, err := p.Answer(t.Context(), begun.URL, consent.InGeneral())
	must(t, err)
	r := owner.request(t.Context(), "POST", back.Path, back.RawQuery)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("coming back is answered %s", resp.Status)
	}
	poll.Until(t, "the other house's tools are known", func() bool {
		_, servers := owner.ask("GET", "/api/portal/servers", "")
		return strings.Contains(servers, `"connected":true,"status":"up"`) && !strings.Contains(servers, `"tools":0`)
	})
}
