package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/oauth2-proxy/mockoidc"
)

// wantsIn is an agent with the go-sdk's own OAuth code: it has the person's browser opened, waits on a
// port of this machine for where that is led back to, and says something in general.
func (p *person) wantsIn(answer func()) error {
	p.t.Helper()
	return p.wantsInAt("/mcp", answer)
}

func (p *person) wantsInAt(path string, answer func()) error {
	p.t.Helper()
	back := make(chan url.Values, 1)
	waiting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Harbour Robot</title><link rel="icon" href="data:,"><p>You may close this page.`))
		if r.URL.Path == "/callback" {
			back <- r.URL.Query()
		}
	}))
	defer waiting.Close()
	p.watch.expect("a request to another host: " + regexp.QuoteMeta(waiting.URL))
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Harbour Robot", RedirectURIs: []string{waiting.URL + "/callback"}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			p.visit(args.URL)
			answer()
			select {
			case q := <-back:
				if q.Has("error") {
					return nil, errors.New(q.Get("error"))
				}
				return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
			case <-time.After(patience):
				return nil, errors.New("the browser isn't led back")
			}
		},
	})
	must(p.t, err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "harbour-robot", Version: "1"}, nil).
		Connect(p.t.Context(), &mcp.StreamableClientTransport{Endpoint: p.server.url + path, OAuthHandler: handler, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(p.t.Context(), &mcp.CallToolParams{Name: "messenger.send", Arguments: map[string]any{
		"room_id": general, "type": "text", "body": map[string]any{"text": "hello from a robot"}}})
	if err == nil && result.IsError {
		err = errors.New("the tool failed")
	}
	return err
}

// TestLetAnAgentIn: who isn't signed in pastes their link, chooses what the agent may do, and has it
// in the room. No script runs on the page that asks.
func TestLetAnAgentIn(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.watch.expect(`^/oauth/consent is answered 400`) // before a place is chosen
		must(t, p.wantsIn(func() {
			p.sees("Sign in to UBL")
			p.fill("Your link", s.link())
			p.leads("button", "Open")
			p.leads("button", "Sign in")
			p.find("heading", "Connect Harbour Robot to UBL")
			p.examine("let-an-agent-in")
			if scripts := eval[int](p, `document.scripts.length`); scripts > 0 {
				t.Errorf("the page has %d scripts", scripts)
			}
			p.leads("button", "Allow")
			p.sees("Choose at least one room or workspace")
			p.examine("let-an-agent-in-mend")
			p.press("checkbox", "general room…")
			p.leads("button", "Allow")
		}))
		p.visit("/ui/rooms/r:general")
		p.skipsWelcome()
		p.hears("hello from a robot")
	})
}

// TestLetAnAgentInByProvider: with a provider the server is the broker in front of it. Who signs in
// there comes back to the page that asks.
func TestLetAnAgentInByProvider(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		at := oidcProvider(t, &fresh{&mockoidc.MockUser{Subject: "bob", Email: "bob@corp.example", EmailVerified: true}})
		s := oneNode(t, atProvider(t, at)...)
		p := newPerson(t, s, v, "Bob")
		p.watch.expect("a request to another host: " + at.Addr())
		must(t, p.wantsIn(func() {
			p.leads("link", "Continue with "+at.Server.Addr)
			p.leads("button", "I am bob@corp.example")
			p.find("heading", "Connect Harbour Robot to UBL")
			p.press("checkbox", "general room…")
			p.leads("button", "Allow")
		}))
	})
}

// TestLetAnAgentInByPasskey: who isn't signed in any more uses their passkey on the way to the page that asks.
func TestLetAnAgentInByPasskey(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.authenticator()
		p.visit("/ui/settings")
		p.press("button", "Add")
		p.press("button", "Continue")
		p.sees("The passkey was added")
		call(p, network.ClearBrowserCookies, cdp.Empty{}) // as if the session had expired
		must(t, p.wantsIn(func() {
			p.leads("button", "Sign in with a passkey")
			p.find("heading", "Connect Harbour Robot to UBL")
			p.press("checkbox", "general room…")
			p.leads("button", "Allow")
		}))
	})
}

// TestDenyAnAgent: the program hears of it, and has no token.
func TestDenyAnAgent(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		err := p.wantsIn(func() {
			p.find("heading", "Connect Harbour Robot to UBL")
			p.leads("button", "Deny")
		})
		if err == nil {
			t.Error("the agent came in")
		}
	})
}

// confirmsBeside confirms in another tab that it is them, by a link that the server prints.
func (p *person) confirmsBeside(s *server) {
	p.t.Helper()
	other := p.anotherTab()
	other.visit("/ui/confirm")
	other.press("button", "Print a link")
	other.sees("The server has printed a link")
	other.examine("confirm-now")
	other.fill("The link", s.confirmationLink())
	other.press("button", "Confirm")
	other.sees("Thank you")
}

// TestLetAnAgentInLater: who signed in a while ago confirms in another tab by a link, and what they
// have chosen meanwhile stays.
func TestLetAnAgentInLater(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.ages()
		must(t, p.wantsIn(func() {
			p.find("link", "Confirm that it…")
			p.press("checkbox", "general room…")
			p.confirmsBeside(s)
			p.leads("button", "Allow")
			p.sees("Your sign-in is a new one")
			p.leads("button", "Allow")
		}))
	})
}

// TestLetInAgents: a person sees the agent that they let in, what it may do and when it last used a tool,
// and ends it.
func TestLetInAgents(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		must(t, p.wantsInAt("/portal/mcp", func() {
			p.find("heading", "Connect Harbour Robot to UBL")
			p.press("checkbox", "general room…")
			p.leads("button", "Allow")
		}))
		p.visit("/ui/more")
		p.press("link", "Agents")
		p.sees("Let in by signing in", "Only in general (room); 60 calls a minute at most", "last call")
		p.examine("let-in-agents")
		p.press("link", "Harbour Robot…")
		p.sees("Read and send messages", "Kept by")
		p.misses("None among the newest")
		p.lacks("button", "Another token")
		p.examine("let-in-agent")
		p.press("link", "Agreement")
		p.sees("What it says", "Harbour Robot")
		p.visit("/ui/agents")
		p.press("link", "Harbour Robot…")
		p.press("button", "Revoke")
		p.find("dialog", "Revoke Harbour Robot?")
		p.press("button", "Revoke")
		p.sees("revoked")
	})
}
