package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSeedCorrectness is step 18.1 of the seeds' test plan, on each kind of server:
// open, sign in, rooms load, send "hello", look at its numbers, load the page anew, and
// send again.
func TestSeedCorrectness(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t)
		p := newcomer(t, s, v)
		p.enter("general")
		p.say("general", "hello")
		first := p.hears("hello")

		p.reload()
		if again := p.hears("hello"); again != first {
			t.Errorf("after the page was loaded anew %+v is %+v", first, again)
		}
		p.until("the page and its successor have opened a stream each", func() bool { opened, _ := p.streams(); return opened >= 2 })
		p.say("general", "hello again")
		second := p.hears("hello again")
		c := s.client(owner)
		one, two := c.said(general, "hello"), c.said(general, "hello again")
		if two.RoomSeq != one.RoomSeq+1 {
			t.Errorf("room_seq went from %d to %d", one.RoomSeq, two.RoomSeq)
		}
		for shown, m := range map[string]message{first.Receipt: one, second.Receipt: two} {
			if shown != strconv.FormatInt(m.Receipt.Seq, 10) {
				t.Errorf("the receipt of %q shows as %s and is %d", m.Body.Text, shown, m.Receipt.Seq)
			}
		}
		p.details(one)
		p.details(two)
	})
}

// details opens the details of a message by its receipt: step 18.3. Its room_seq shows,
// both atoms are there and name the message, and the browser has checked them.
func (p *person) details(m message) {
	p.t.Helper()
	name := "Receipt " + strconv.FormatInt(m.Receipt.Seq, 10)
	var pressed time.Time
	p.until("the details open", func() bool {
		open := p.has("dialog", name)
		if !open && time.Since(pressed) > time.Second { // the row may have moved on under the finger
			p.press("button", name)
			pressed = time.Now()
		}
		return open
	})
	p.sees("Verified by this browser", "in force")
	lookup := fmt.Sprintf("GET /api/receipts/%d", m.Receipt.Seq)
	if !strings.Contains(strings.Join(p.watch.asked(), "\n"), lookup) {
		p.t.Errorf("the details are not those of %s", lookup)
	}
	if place := p.fact("Place in the room"); place != strconv.FormatInt(m.RoomSeq, 10) {
		p.t.Errorf("the place in the room shows as %s and is %d", place, m.RoomSeq)
	}
	for _, part := range []string{"Action", "Effect"} {
		p.press("DisclosureTriangle", part+"…")
		shown := p.find("region", part+" as JSON")
		said, err := on[string](p, shown, `function() { return this.innerText; }`)
		must(p.t, err)
		for _, want := range []string{m.MsgID, fmt.Sprintf(`"room_seq": %d`, m.RoomSeq)} {
			if !strings.Contains(said, want) {
				p.t.Errorf("the %s doesn't say %s:\n%s", part, want, said)
			}
		}
	}
	p.shot("message-details")
	p.press("button", "Close")
	p.lacks("dialog", "Receipt…")
}

// fact is what the page says about something in a list of facts.
func (p *person) fact(name string) string {
	p.t.Helper()
	return eval[string](p, apply(`(name) => [...document.querySelectorAll('dt')].find((e) => e.textContent === name)?.nextElementSibling.textContent ?? ''`, name))
}

// TestSeedAgents is step 18.4, on each kind of server: an agent over MCP sees the tools,
// sends a message that arrives live in the browser, makes a document and asks a model;
// each leaves a receipt, and stands in the log of tool calls.
func TestSeedAgents(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t, "--config", gateway(t))
		p := newcomer(t, s, v)
		p.enter("general")
		agent := s.agent(owner, "scribe")

		tools := map[string]bool{}
		for tool, err := range agent.Tools(t.Context(), nil) {
			must(t, err)
			tools[tool.Name] = true
		}
		for _, want := range []string{"messenger.send", "messenger.history", "office.document.create", "office.llm.complete"} {
			if !tools[want] {
				t.Errorf("the agent doesn't see %s", want)
			}
		}
		use(t, agent, "messenger.send", map[string]any{"room_id": general, "type": "text", "body": map[string]any{"text": "hello from an agent"}})
		if b := p.hears("hello from an agent"); b.Mine {
			t.Errorf("the agent's message shows as one's own")
		}
		made := use(t, agent, "office.document.create", map[string]any{"workspace_id": "w:general", "title": "Minutes", "content": "We met."})
		said := use(t, agent, "office.llm.complete", map[string]any{"workspace_id": "w:general", "prompt": "Say hello"})
		for what, answer := range map[string]map[string]any{"document": made, "completion": said} {
			if receipt, _ := answer["receipt"].(map[string]any); receipt["seq"] == nil {
				t.Errorf("the %s has no receipt: %v", what, answer)
			}
		}
		p.visit("/ui/workspaces/w:general")
		p.press("link", "Minutes…")
		p.sees("We met.")
		p.visit("/ui/tools")
		for _, tool := range []string{"messenger.send", "office.document.create", "office.llm.complete"} {
			p.sees(tool)
		}
		use(t, agent, "messenger.send", map[string]any{"room_id": general, "type": "text", "body": map[string]any{"text": "once more"}})
		p.until("the log goes on by itself", func() bool { return strings.Count(p.text(), "messenger.send") == 2 })
	})
}

// agent is an MCP client with a service's token.
func (s *server) agent(email, name string) *mcp.ClientSession {
	s.t.Helper()
	return s.agentWith(email, name, nil)
}

// agentWith is an agent whose client has options.
func (s *server) agentWith(email, name string, o *mcp.ClientOptions) *mcp.ClientSession {
	s.t.Helper()
	n := s.nodes[0]
	return connectWith(s.t, s.url+"/portal/mcp/all", headers{"Authorization": "Bearer " + n.run("token", email, "--service", name, "--data", n.dir)}, o)
}

func connect(t *testing.T, url string, with headers) *mcp.ClientSession {
	t.Helper()
	return connectWith(t, url, with, nil)
}

func connectWith(t *testing.T, url string, with headers, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: with}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatalf("the agent couldn't connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// headers go along with each request.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// use calls a tool and answers what it said.
func use(t *testing.T, agent *mcp.ClientSession, tool string, args map[string]any) map[string]any {
	t.Helper()
	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	must(t, err)
	answer, _ := res.StructuredContent.(map[string]any)
	if res.IsError || answer == nil {
		data, _ := json.Marshal(res)
		t.Fatalf("%s: %s", tool, data)
	}
	return answer
}

// gateway is a configuration with a model that greets everyone.
func gateway(t *testing.T) string {
	t.Helper()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"1","object":"chat.completion","model":"greeter","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello"}}],
			"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}}`)
	}))
	t.Cleanup(model.Close)
	path := filepath.Join(t.TempDir(), "ubl.yaml")
	must(t, os.WriteFile(path, []byte("gateway: {providers: [{name: local, url: "+model.URL+"/v1, models: {\"*\": greeter}}]}\n"), 0o600))
	return path
}
