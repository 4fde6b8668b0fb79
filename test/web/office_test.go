package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestDocuments: a document is written, read, changed, found, compared with what it
// was, and deleted; when another has saved meanwhile nobody's words are lost.
func TestDocuments(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.visit("/ui/workspaces")
		p.press("link", "general…")
		p.press("button", "New document")
		p.fill("Title", "Launch plan")
		p.fill("Text", "We launch on Monday at nine.")
		p.press("button", "Save")
		p.sees("Launch plan", "We launch on Monday at nine.", "Version 1")
		address := p.at()
		p.reload()
		p.misses("You looked")
		p.press("DisclosureTriangle", "Who looked")
		p.sees("You looked")
		p.find("link", "Receipt of your look…")

		p.press("button", "Edit")
		p.fill("Text", "We launch on Tuesday at nine.")
		p.press("button", "Save")
		p.sees("We launch on Tuesday at nine.", "Version 2")
		p.misses("Who looked") // who has just saved has looked at nothing

		p.press("button", "Edit")
		p.fill("Text", "We launch on Friday.")
		api := "/api/workspaces/w:general/documents/" + address[strings.LastIndex(address, "/")+1:]
		s.client(owner).ask("PATCH", api, map[string]any{"content": "We launch on Thursday.", "if_version": 2}, nil)
		p.watch.expect("is answered 409")
		p.press("button", "Save")
		p.sees("saved version 3", "Thursday", "Friday")
		p.press("button", "Take theirs")
		p.sees("Discard your changes?")
		p.key(kb.Escape)
		p.press("button", "Save mine as version 4")
		p.sees("We launch on Friday.", "Version 4")

		p.press("link", "Version 4")
		p.arrives(address + "/versions")
		p.find("list", "Versions")
		p.sees("What changed", "We launch on Thursday.") // the difference from version 3
		p.comparesBelow()
		p.press("link", "2 Launch plan…")
		p.sees("We launch on Tuesday at nine.", "This is version 2")

		p.visit("/ui/workspaces/w:general")
		p.fillRole("searchbox", "Search in documents", "frid*")
		p.key("\r")
		p.find("list", "Documents found")
		p.visit("/ui/workspaces/w:general")
		p.fillRole("searchbox", "Search in documents", "when are we launching?")
		p.key("\r")
		p.sees("No document has all of these words.")
		p.press("link", "Launch plan…")
		p.sees("We launch on Friday.")
		p.press("button", "Document")
		p.press("menuitem", "Delete")
		p.press("button", "Delete")
		p.sees("“Launch plan” was deleted", "No document yet")
	})
}

// comparesBelow: what changed stands below the list, which it doesn't push away as it
// comes, and the focus stays where one chooses versions.
func (p *person) comparesBelow() {
	p.t.Helper()
	top := func(what string) float64 {
		return eval[float64](p, apply(`(what) => document.querySelector(what).getBoundingClientRect().top`, what))
	}
	if list, compared := top(`ul[aria-label="Versions"]`), top(".pair"); compared < list {
		p.t.Errorf("what changed is at %g, above the list at %g", compared, list)
	}
	p.focus("combobox", "From")
	p.key(kb.ArrowDown)
	p.sees("We launch on Tuesday at nine.")
	p.focuses("combobox From")
}

// TestPrivateWorkspace: who makes a workspace says whom it is for, and nobody else comes
// upon one that is not for all, until its owner adds them.
func TestPrivateWorkspace(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		ana := newcomer(t, s, v)
		bob := guest(t, s, v, "bob@elsewhere.example")
		for _, w := range []struct{ name, audience, shows string }{
			{"Board", "Only its members", "Its members"}, {"Yard", "Everyone", "Everyone in the organisation"},
		} {
			ana.visit("/ui/workspaces")
			ana.press("button", "New workspace")
			ana.fill("Name", w.name)
			ana.choose(w.audience)
			ana.press("button", "Create")
			ana.sees("No document yet")
			ana.visit("/ui/workspaces")
			ana.find("link", w.name+"…")
			ana.sees(strings.ToLower(w.name) + " · " + w.shows) // its id is there, too
		}
		bob.visit("/ui/workspaces")
		bob.find("link", "Yard…")
		bob.lacks("link", "Board…")

		ana.press("link", "Board…")
		ana.press("button", "Members")
		ana.sees("Its members", "1 member")
		ana.press("button", "Add bob")
		ana.sees("2 members")
		bob.visit("/ui/workspaces")
		bob.press("link", "Board…")
		bob.press("button", "Members")
		bob.find("button", "Message ana")
		bob.lacks("button", "Change ana")

		ana.press("button", "Change bob")
		ana.press("menuitem", "Remove from the workspace")
		ana.press("button", "Remove")
		ana.sees("1 member")
		bob.visit("/ui/workspaces")
		bob.find("link", "Yard…")
		bob.lacks("link", "Board…")
	})
}

// TestLedger: atoms come in while one watches, and the browser checks the whole chain by
// itself: it is whole, and one atom that was changed on the way doesn't pass.
func TestLedger(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		c := s.client(owner)
		p.visit("/ui/ledger")
		p.find("list", "Atoms, the newest first")
		m := c.send(general, "for the record")
		seq := fmt.Sprint(m.Receipt.Seq)
		p.sees(seq)
		p.visit("/ui/ledger/" + seq)
		p.sees("messenger.send", "matches its content", m.MsgID)
		p.verifies("The chain holds")

		p.visit("/ui/ledger/verify")
		p.fill("A head that you noted before", "h:nonsense")
		p.press("button", "Verify all atoms")
		p.sees("That isn’t a head")
		p.fill("A head that you noted before", "h:"+strings.Repeat("a", 64))
		p.press("button", "Verify all atoms")
		p.sees("The head that you noted is not in this chain")
		p.misses("The chain holds")

		p.tamper("/api/atoms", m.MsgID, m.MsgID+"0")
		p.verifies("The ledger is not whole")
		p.sees("At atom " + seq)
	})
}

// tamper changes what the server answers for a path, on its way to the page: each text of
// a pair into the other.
func (p *person) tamper(path string, pairs ...string) {
	p.t.Helper()
	call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*" + path + "*", RequestStage: fetch.RequestStageResponse}}})
	go func() {
		for e, err := range chromedp.Events(p.ctx, fetch.RequestPaused) {
			if err != nil {
				return
			}
			if err := p.pass(e, strings.NewReplacer(pairs...)); err != nil && p.ctx.Err() == nil {
				p.t.Errorf("couldn't change an answer: %v", err)
			}
		}
	}()
}

func (p *person) pass(e fetch.EventRequestPaused, changes *strings.Replacer) error {
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	got, err := chromedp.Call(ctx, fetch.GetResponseBody, fetch.GetResponseBodyParams{RequestID: e.RequestID})
	if err != nil {
		return err
	}
	changed := changes.Replace(string(got.Body))
	_, err = chromedp.Call(ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: 200, Body: []byte(changed),
		ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"}},
	})
	return err
}

// TestInvitations: an owner makes a link in the app; who opens it is a member; it works
// once, and one that was taken back not at all.
func TestInvitations(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		ana := newcomer(t, s, v)
		ana.visit("/ui/members")
		link := ana.invites("bob@elsewhere.example")
		bob := newPerson(t, s, v, "Bob")
		bob.follow(link, "Accept and sign in")
		bob.enter("general")
		bob.say("general", "thank you")
		bob.hears("thank you")
		bob.visit("/ui/")
		bob.sees("Add a passkey now: without one you can’t come back")
		bob.visit("/ui/settings")
		bob.sees("Add a passkey now")
		bob.visit("/ui/more")
		bob.press("button", "Sign out")
		bob.sees("You have no passkey and no provider: you can’t come back")
		bob.press("button", "Sign out")
		bob.sees("ask an owner to remove you and invite you again")
		ana.visit("/ui/members")
		ana.sees("bob@elsewhere.example", "Invited by", "unproven", "Accepted")
		ana.lacks("link", "Add a passkey")

		eve := newPerson(t, s, v, "Eve")
		eve.watch.expect("^/invite/.* is answered 404")
		eve.visit(strings.TrimPrefix(link, s.url))
		eve.sees("not valid")
		other := ana.invites("eve@elsewhere.example")
		ana.watch.expect("^/invite/.* is answered 409")
		ana.visit(strings.TrimPrefix(other, s.url)) // a member accepts none for another
		ana.sees("You are signed in here as", "eve@elsewhere.example")
		ana.visit("/ui/members")
		ana.press("button", "Take back the invitation of eve@elsewhere.example")
		ana.press("button", "Take back")
		ana.sees("Taken back")
		eve.visit(strings.TrimPrefix(other, s.url))
		eve.sees("not valid")
	})
}

// invites makes an invitation on the screen of members and answers its link.
func (p *person) invites(email string) string {
	p.t.Helper()
	p.press("button", "Invite somebody")
	p.fill("Their mail address", email)
	p.press("button", "Make the link")
	p.sees("The invitation is ready")
	link := eval[string](p, `document.querySelector('dialog pre').innerText.trim()`)
	p.press("button", "Done")
	p.lacks("dialog", "The invitation is ready")
	return link
}

// TestRooms: a room is made, opened to all, joined by another, who is made an owner;
// one replies to the other, and the reply leads to what it replies to.
func TestRooms(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		ana, bob := newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
		ana.visit("/ui/")
		ana.press("button", "New room")
		ana.fill("Name", "Launch & plans")
		ana.choose("Every member")
		ana.press("button", "Make the room")
		ana.find("log", "Messages in Launch & plans")
		ana.say("Launch & plans", "when do we begin?")
		ana.hears("when do we begin?")

		bob.visit("/ui/")
		bob.press("link", "Launch & plans…")
		bob.press("button", "Join the room")
		bob.hears("when do we begin?")
		bob.replies("when do we begin?")
		bob.say("Launch & plans", "on Monday")
		bob.hears("on Monday")
		ana.hears("on Monday")
		ana.press("button", "In reply to You when do we begin?")

		ana.press("button", "Members and settings")
		ana.press("button", "Change bob")
		ana.press("menuitem", "Make an owner")
		ana.until("Bob is an owner", func() bool { return strings.Count(ana.text(), "owner") >= 2 })
	})
}

// choose picks one of a few.
func (p *person) choose(name string) {
	p.t.Helper()
	p.press("radio", name)
}

// replies begins a reply to a message, with the menu that its bubble opens.
func (p *person) replies(text string) {
	p.t.Helper()
	p.chooses(text, "Reply")
	p.sees("Reply to")
}

// weather is an MCP server that nobody here knows, with one tool.
func weather(t *testing.T) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	type place struct {
		City string `json:"city"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "forecast", Description: "Tomorrow's weather"}, func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "rain in " + in.City}}}, nil, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL
}

// TestServersAndBudget: an owner adds another MCP server and allows its tool, which an
// agent then uses; and bounds what models may cost.
func TestServersAndBudget(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t, "--config", gateway(t))
		p := newcomer(t, s, v)
		agent := s.agent(owner, "scribe")
		p.visit("/ui/new-server")
		p.fill("Address", weather(t))
		p.fill("Name", "Weather")
		p.press("button", "Add")
		p.arrives("/ui/servers/weather")
		p.sees("up", "forecast")
		if got, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "weather.forecast", Arguments: map[string]any{"city": "Lisbon"}}); err == nil && !got.IsError {
			t.Error("a tool could be used that nobody had allowed")
		}
		p.visit("/ui/servers/weather/weather.forecast")
		p.sees("Tomorrow's weather")
		p.choose("Everyone")
		p.press("button", "Save")
		p.sees("Saved")
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "weather.forecast", Arguments: map[string]any{"city": "Lisbon"}})
		must(t, err)
		if res.IsError {
			t.Errorf("the tool answers %+v", res)
		}
		p.visit("/ui/tools")
		p.sees("forecast", "weather")

		p.visit("/ui/budget")
		p.fill("Tokens a day", "100000")
		p.press("button", "Save")
		p.sees("of 100,000 tokens")
	})
}

// personal is an MCP server with tools for whoever has signed in, which here is whoever
// asks: it answers its address, and where one signs in.
func personal(t *testing.T) (address, authorize, token string) {
	t.Helper()
	tools := weather(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=1&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"1","token_type":"Bearer"}`)
	})
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return tools, h.URL + "/authorize", h.URL + "/token"
}

// TestConnect: who signs in to a server of tools sees that they have, and may take it
// back; others see that they haven't.
func TestConnect(t *testing.T) {
	s := oneNode(t)
	address, authorize, token := personal(t)
	s.client(owner).ask("POST", "/api/portal/servers", map[string]string{"server_id": "weather", "name": "Weather", "url": address,
		"auth": "authorization_code", "authorize_url": authorize, "token_url": token, "client_id": "ubl"}, nil)
	ana, bob := newcomer(t, s, phone), guest(t, s, phone, "bob@elsewhere.example")
	ana.visit("/ui/servers/weather")
	ana.press("button", "Connect")
	ana.find("link", "Open "+strings.TrimPrefix(strings.TrimSuffix(authorize, "/authorize"), "http://"))
	provider := ana.anotherTab()
	provider.watch.expect("a request to another host")
	provider.visit(eval[string](ana, `document.querySelector('main a.button.primary').href`))
	provider.sees("Connect weather?")
	provider.press("button", "Connect")
	provider.sees("You are connected")

	ana.reload()
	ana.sees("Connected")
	ana.lacks("button", "Connect")
	bob.visit("/ui/servers")
	bob.sees("not connected")
	bob.visit("/ui/servers/weather")
	bob.find("button", "Connect")

	ana.press("button", "Disconnect")
	ana.press("button", "Disconnect")
	ana.sees("Disconnected from Weather")
	ana.find("button", "Connect")
}

// TestPublishedDocument: a document that was published from a source is read here, and says where
// it is changed; nothing on its screen would change it.
func TestPublishedDocument(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		page := map[string]any{"type": "tag", "id": "tide", "path": "tags/tide.md", "title": "Tide", "content": "The sea rises.\n\n- [ ] Look at it", "metadata": map[string]any{"tags": []string{"sea"}}}
		var made struct {
			Changed []struct {
				ID string `json:"document_id"`
			}
		}
		s.client(owner).ask("POST", "/api/workspaces/w:general/publish", map[string]any{"documents": []any{page}}, &made)
		p.visit("/ui/workspaces/w:general/" + made.Changed[0].ID)
		p.sees("The sea rises.", "Published from tags/tide.md, where it is changed.")
		p.lacks("button", "Edit")
		if !eval[bool](p, `document.querySelector('.document input[type=checkbox]').disabled`) {
			t.Error("the task can be ticked")
		}
		p.examine("document-published")
	})
}
