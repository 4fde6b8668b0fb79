package web

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions are the client's own living sessions.
func (c *client) sessions() (ids []string) {
	c.t.Helper()
	var list struct {
		Tokens []struct{ JTI, Kind string }
	}
	c.ask("GET", "/api/tokens", nil, &list)
	for _, token := range list.Tokens {
		if token.Kind == "session" {
			ids = append(ids, token.JTI)
		}
	}
	return ids
}

// authenticator gives the browser a device that keeps passkeys and asks nobody.
func (p *person) authenticator() {
	p.t.Helper()
	call(p, webauthn.Enable, webauthn.EnableParams{})
	made := call(p, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasCmtgKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	p.keys = made.AuthenticatorID
}

// lends gives another browser the passkeys of this one, as a synchronizing account does.
func (p *person) lends(to *person) {
	p.t.Helper()
	kept := call(p, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: p.keys})
	for _, credential := range kept.Credentials {
		credential.CmtgKeys, credential.ActiveCmtgKeyIndex = nil, nil // an index without keys isn't taken
		call(to, webauthn.AddCredential, webauthn.AddCredentialParams{AuthenticatorID: to.keys, Credential: credential})
	}
}

// TestSessionEnds: a session expires while its browser has no network. Back again the
// app asks to sign in, at the same address, and shows nothing that was read; what wasn't
// sent yet goes out once somebody has signed in by a link.
func TestSessionEnds(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		p := newcomer(t, s, v)
		p.watch.expect(`is answered 503`)
		p.enter("general")
		p.say("general", "before")
		p.hears("before")
		p.offline()
		p.say("general", "written too late")
		p.sees("written too late")
		call(p, network.ClearBrowserCookies, cdp.Empty{}) // as if the session had expired
		p.online()
		p.find("heading", "Sign in to UBL")
		if at := p.at(); at != "/ui/rooms/r:general" {
			t.Errorf("the address is %s now", at)
		}
		p.misses("before")
		p.reload()
		p.find("heading", "Sign in to UBL")
		p.follow(s.nextLink(), "Sign in")
		p.press("link", "general…")
		p.hears("written too late")
		p.hears("before")
		s.client(owner).said(general, "written too late")
	})
}

// TestPasskey: a passkey is added in the settings. When the session has ended it signs
// in again, at the address where one was; what was written meanwhile goes out, once.
func TestPasskey(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t)
		p := newcomer(t, s, v)
		p.authenticator()
		p.visit("/ui/settings")
		p.press("button", "Add")
		p.fill("Name", "My telephone")
		p.press("button", "Continue")
		p.sees("The passkey was added", "My telephone")

		p.enter("general")
		call(p, network.ClearBrowserCookies, cdp.Empty{})
		p.say("general", "who am I?")
		p.find("heading", "Sign in to UBL")
		c := s.client(owner)
		if sent := c.history(general); len(sent) > 0 {
			t.Errorf("nobody is signed in, and %q was sent", sent[0].Body.Text)
		}
		p.press("button", "Sign in with a passkey")
		p.find("log", "Messages in general")
		if at := p.at(); at != "/ui/rooms/r:general" {
			t.Errorf("the passkey led to %s", at)
		}
		p.hears("who am I?")
		c.said(general, "who am I?")
		p.say("general", "here again")
		p.hears("here again")
		p.visit("/ui/settings")
		p.sees("By passkey", "last used")
		p.press("button", "Remove My telephone")
		p.press("button", "Remove")
		p.sees("None yet.")
	})
}

// kept is what the browser keeps of anybody: databases and who was signed in.
func (p *person) kept() []string {
	p.t.Helper()
	return eval[[]string](p, `indexedDB.databases().then((all) => [...all.map((d) => d.name), ...Object.keys(localStorage)].filter((k) => k !== 'ubl.theme'))`)
}

// isOut waits until one has signed out, and nothing is left behind. Signing out loads the
// app anew at its end: Chromium's tab may crash where it is asked for the accessibility
// tree of a page just then.
func (p *person) isOut() {
	p.t.Helper()
	p.until("nothing is left behind", func() bool { return len(p.kept()) == 0 })
	p.until("the app is loaded anew", func() bool {
		return eval[bool](p, `performance.getEntriesByType('navigation')[0].name.endsWith('/ui/') && document.readyState === 'complete'`)
	})
	p.find("heading", "Sign in to UBL")
}

// TestSignOut: who signs out is signed out on the server, and leaves nothing behind in
// the browser; "everywhere" does so for all browsers.
func TestSignOut(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		c := s.client(owner)
		p.enter("general")
		p.visit("/ui/more")
		p.press("button", "Sign out")
		p.press("button", "Sign out")
		p.isOut()
		if left := c.sessions(); len(left) > 0 {
			t.Errorf("%d sessions are left", len(left))
		}
	})
}

func TestSignOutEverywhere(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		bob := guest(t, s, v, "bob@elsewhere.example")
		bob.authenticator()
		bob.visit("/ui/settings")
		bob.press("button", "Add")
		bob.press("button", "Continue")
		bob.sees("The passkey was added")
		other := newPerson(t, s, desktop, "Bob at another browser")
		other.authenticator()
		bob.lends(other)
		other.visit("/ui/")
		other.press("button", "Sign in with a passkey")
		other.lacks("heading", "Sign in to UBL")
		other.skipsWelcome()
		other.enter("general")

		bob.visit("/ui/settings")
		bob.press("button", "Sign out everywhere")
		bob.sees("Sign out everywhere?")
		bob.press("button", "Sign out everywhere")
		bob.isOut()
		other.sees("You were signed out", "What this device kept is deleted")
		if kept := other.kept(); !slices.Equal(kept, []string{"ubl.ended"}) {
			t.Errorf("the other browser keeps %q", kept)
		}
	})
}

// asked counts how often the person's browser has asked for something.
func (p *person) asked(request string) (n int) {
	for _, r := range p.watch.asked() {
		if r == request {
			n++
		}
	}
	return n
}

// TestAgentsToken: an owner chooses what an agent may do, and is shown what its client is told. That
// works as it stands, in the room that was chosen and nowhere else, until the token is revoked.
func TestAgentsToken(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		s.client(owner).ask("POST", "/api/rooms", map[string]string{"name": "Board"}, nil)
		p.visit("/ui/agents")
		p.press("button", "Connect an agent")
		p.fill("Name of the agent", "scribe")
		p.press("button", "Make a token")
		p.sees("Choose at least one room or workspace")
		if !eval[bool](p, `document.querySelector('dialog .problem').getBoundingClientRect().bottom <= document.querySelector('dialog footer').getBoundingClientRect().top`) {
			t.Error("why no token is made is out of sight")
		}
		p.press("switch", "general (room)")
		p.press("button", "Make a token")
		p.find("dialog", "Connect scribe")
		p.choose("Cursor")
		var config struct {
			Servers map[string]struct {
				URL     string
				Headers map[string]string
			} `json:"mcpServers"`
		}
		must(t, json.Unmarshal([]byte(eval[string](p, `document.querySelector('dialog pre').innerText`)), &config))
		ubl := config.Servers["ubl"]
		link, err := url.Parse(eval[string](p, `document.querySelector('dialog a.button').href`))
		must(t, err)
		installed, err := base64.StdEncoding.DecodeString(link.Query().Get("config"))
		must(t, err)
		if link.Scheme != "cursor" || !strings.Contains(string(installed), ubl.Headers["Authorization"]) {
			t.Errorf("%s installs %s", link, installed)
		}
		p.choose("By signing in")
		if text := eval[string](p, `document.querySelector('dialog pre').innerText`); strings.Contains(text, "ubl_") || !strings.Contains(text, "/portal/mcp") {
			t.Errorf("a client that signs in is told %s", text)
		}
		p.press("button", "Done")
		p.press("button", "I have it")

		agent := connect(t, ubl.URL, headers(ubl.Headers))
		use(t, agent, "messenger.send", map[string]any{"room_id": general, "type": "text", "body": map[string]any{"text": "I am here"}})
		elsewhere, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "messenger.history", Arguments: map[string]any{"room_id": "r:board"}})
		must(t, err)
		if !elsewhere.IsError {
			t.Error("the agent reads in another room")
		}
		p.enter("general")
		p.hears("I am here")
		p.sees("agent")

		s.client(owner).ask("POST", "/api/service-tokens", map[string]string{"name": "second"}, nil)
		before := p.asked("GET /api/workspaces")
		p.visit("/ui/agents")
		p.sees("Only in general (room); 60 calls a minute at most", "second")
		p.until("each agent's places to have names", func() bool { return p.asked("GET /api/workspaces") > before })
		p.sees("Only in general (room); 60 calls a minute at most") // so that what else was asked for is counted
		if n := p.asked("GET /api/workspaces") - before; n != 1 {
			t.Errorf("the list of agents asks %d times what workspaces are called", n)
		}
		p.press("link", "scribe…")
		p.sees("Read and send messages", "Kept by")
		p.press("button", "Change what it may do")
		p.press("switch", "Read only")
		p.pick("Ask a person first", "destructive")
		p.press("button", "Save")
		p.sees("Changes nothing", "Asks a person before")
		wrote, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "messenger.send", Arguments: map[string]any{"room_id": general, "type": "text", "body": map[string]any{"text": "and now?"}}})
		must(t, err)
		if !wrote.IsError {
			t.Error("an agent that changes nothing wrote")
		}
		p.press("button", "Revoke")
		p.find("dialog", "Revoke scribe?")
		p.press("button", "Revoke")
		p.sees("revoked")
		if _, err := agent.ListTools(t.Context(), nil); err == nil {
			t.Error("a revoked token still works")
		}
	})
}
