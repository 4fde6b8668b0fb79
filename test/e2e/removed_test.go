package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/test/poll"
)

// within is how long what somebody had may go on after they were removed. It ends at
// once; the machine may be slow.
const within = 10 * time.Second

// gone is an owner who will be removed, and what they have.
type gone struct {
	n      *node
	ana    *client
	id     string // the owner's
	token  string // the client id of the service
	agents []*agent
	plan   string // the id of a document of theirs
	said   string // and of a message, which is at when in the ledger
	when   string
}

// identityOf is the caller's user id.
func (c *client) identityOf(ctx context.Context, t *testing.T) string {
	t.Helper()
	var who struct {
		Identity struct {
			UserID string `json:"user_id"`
		} `json:"identity"`
	}
	must(t, c.do(ctx, "GET", "/api/whoami", "", nil, &who))
	return who.Identity.UserID
}

// openGone has ana and bob own a tenant, and bob have agents by both ways there are.
func openGone(ctx context.Context, t *testing.T) *gone {
	t.Helper()
	n := newNode(t, "--operator", "op@ops.example", "--log-level", "warn")
	g := &gone{n: n, ana: n.client(n.token("ana@expel.example"))}
	g.ana.identityOf(ctx, t)
	bobs := n.token("bob@expel.example")
	bob := n.client(bobs)
	g.id = bob.identityOf(ctx, t)
	must(t, g.ana.do(ctx, "PATCH", "/api/tenant/members/"+g.id, "", map[string]any{"role": "owner"}, nil))
	var made struct {
		Token struct {
			ClientID string `json:"client_id"`
		} `json:"service_token"`
		Secret string `json:"client_secret"`
	}
	must(t, bob.do(ctx, "POST", "/api/service-tokens", "", map[string]any{"name": "watcher"}, &made))
	g.token = made.Token.ClientID
	g.agents = []*agent{
		n.agent("the service", "CF-Access-Client-Id", made.Token.ClientID, "CF-Access-Client-Secret", made.Secret),
		n.bearer("the builder", strings.TrimSpace(n.run("token", "bob@expel.example", "--service", "builder", "--data", n.dir))),
		n.bearer("bob", bobs),
	}
	for _, a := range g.agents {
		if status, answer := a.ask("POST", "/api/rooms/r:general/messages", `{"type":"text","body":{"text":"hello"}}`); status != http.StatusCreated {
			t.Fatalf("%s says hello: %d %s", a.name, status, answer)
		}
	}
	return g
}

// fill makes the ledger longer than what an export can have under way.
func (g *gone) fill(ctx context.Context, t *testing.T) {
	t.Helper()
	var writers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() {
			for i := range 250 {
				key := fmt.Sprint("fill-", w, "-", i)
				if err := g.ana.persist(ctx, "POST", "/api/rooms/r:general/messages", key, text(key), nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}

// TestRemovedOwnersAgents: an owner is removed while their agents have streams, MCP
// sessions, an export and a tail of a room open. All of it ends before the next message,
// each further request is refused, and the receipts say what ended.
func TestRemovedOwnersAgents(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g := openGone(ctx, t)
	g.fill(ctx, t)

	var streams []*stream
	exports := map[string]func() (string, error){}
	for _, a := range g.agents {
		a.opensMCP()
		if status, answer := a.tool("messenger.history", `{"room_id":"r:general"}`); status != http.StatusOK || !strings.Contains(answer, "fill-") {
			t.Fatalf("%s reads over MCP: %d %s", a.name, status, answer)
		}
		for _, path := range []string{"/api/events", "/api/events/rooms/r:general", "/mcp"} {
			streams = append(streams, a.opens(path))
		}
		exports[a.name] = a.slowly("/api/export")
	}
	tail, tailed, tailEnds := g.tail(t)
	const before, after = "said before the removal", "said after the removal"
	must(t, g.ana.do(ctx, "POST", "/api/rooms/r:general/messages", "", text(before), nil))
	for _, s := range streams {
		if !strings.HasSuffix(s.name, "/mcp") {
			poll.Until(t, s.name+" is live", func() bool { return s.has(before) })
		}
	}
	poll.Until(t, "the tail is live", func() bool { return strings.Contains(tailed.String(), before) })

	must(t, g.ana.do(ctx, "DELETE", "/api/tenant/members/"+g.id, "", nil, nil))
	removed := time.Now()
	must(t, g.ana.do(ctx, "POST", "/api/rooms/r:general/messages", "", text(after), nil))
	for _, s := range streams {
		select {
		case <-s.done:
		case <-time.After(time.Until(removed.Add(within))):
			t.Errorf("%s goes on after the removal", s.name)
		}
		if s.has(after) {
			t.Errorf("%s carried what was said after the removal", s.name)
		}
	}
	select {
	case err := <-tailEnds:
		if err == nil {
			t.Error("the tail ended as if nothing was")
		}
	case <-time.After(time.Until(removed.Add(within))):
		t.Error("the tail goes on after the removal")
		_ = tail.Process.Kill()
		<-tailEnds
	}
	if strings.Contains(tailed.String(), after) {
		t.Error("the tail carried what was said after the removal")
	}
	for name, rest := range exports {
		if data, err := rest(); err == nil {
			t.Errorf("the export of %s came to its end, with %d bytes after the removal", name, len(data))
		}
	}
	g.refusedAll(t)
	g.receipted(ctx, t)
}

// tail follows the room as the command line does, with the builder's token.
func (g *gone) tail(t *testing.T) (*exec.Cmd, *tail, <-chan error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(strings.TrimPrefix(g.agents[1].headers["Authorization"], "Bearer ")), 0o600))
	said := &tail{}
	cmd := exec.Command(g.n.path, "tail", "general", "--from", "0", "--url", "http://"+g.n.addr, "--token-file", file)
	cmd.Stdout, cmd.Stderr = said, said
	must(t, cmd.Start())
	ends := make(chan error, 1)
	go func() { ends <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, said, ends
}

// refusedAll asks for everything once more with each credential.
func (g *gone) refusedAll(t *testing.T) {
	t.Helper()
	for _, a := range g.agents {
		for _, r := range []struct{ method, path, body string }{
			{"GET", "/api/whoami", ""},
			{"GET", "/api/rooms", ""},
			{"GET", "/api/rooms/r:general/history?limit=1", ""},
			{"GET", "/api/rooms/r:general/history?limit=1&cursor=100", ""},
			{"POST", "/api/rooms/r:general/messages", `{"type":"text","body":{"text":"still here"}}`},
			{"GET", "/api/events", ""},
			{"GET", "/api/events/rooms/r:general?from_seq=0", ""},
			{"GET", "/api/atoms", ""},
			{"GET", "/api/export", ""},
			{"GET", "/api/workspaces/w:general/search?query=plan", ""},
			{"POST", "/api/service-tokens", `{"name":"again"}`},
			{"GET", "/mcp", ""},
			{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.history","arguments":{"room_id":"r:general"}}}`},
			{"POST", "/portal/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`},
		} {
			if status, answer := a.ask(r.method, r.path, r.body); status != http.StatusUnauthorized && status != http.StatusForbidden {
				t.Errorf("%s: %s %s is answered %d %.200s", a.name, r.method, r.path, status, answer)
			}
		}
		session := a.session
		a.session = "" // a new MCP session is none, either
		if status, answer := a.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"attack","version":"1"}}`); status != http.StatusUnauthorized && status != http.StatusForbidden {
			t.Errorf("%s begins an MCP session: %d %.200s", a.name, status, answer)
		}
		a.session = session
	}
}

// receipted holds the ledgers against what happened: one act removed the owner with the
// agents and their token, and tenant 0 ended what signed them in.
func (g *gone) receipted(ctx context.Context, t *testing.T) {
	t.Helper()
	effect := ""
	atoms := g.ana.atoms(ctx, t)
	for i, atom := range atoms {
		if strings.Contains(atom, `"did":"tenant.member.remove"`) && strings.Contains(atom, `"`+g.id+`"`) {
			effect = atoms[i+1]
		}
		if strings.Contains(atom, "still here") || effect != "" && strings.Contains(atom, `"did":"messenger.send"`) && strings.Contains(atom, `"`+g.id+`"`) {
			t.Errorf("an act after the removal: %s", atom)
		}
	}
	for _, part := range []string{`"op":"agreement.remove"`, `"op":"token.revoke"`, `"token_id":"` + g.token + `"`, g.id} {
		if !strings.Contains(effect, part) {
			t.Errorf("the removal's effect lacks %s: %s", part, effect)
		}
	}
	if n := strings.Count(effect, `"op":"agreement.remove"`); n != 3 {
		t.Errorf("the removal took %d entries out, want bob's and two agents': %s", n, effect)
	}
	core := g.n.client(g.n.token("op@ops.example"))
	poll.Until(t, "tenant 0 has ended the sign-ins of bob", func() bool {
		for _, atom := range core.atoms(ctx, t) {
			if strings.Contains(atom, `"did":"platform.token.revoke_all"`) && strings.Contains(atom, `"`+g.id+`"`) {
				return true
			}
		}
		return false
	})
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	must(t, os.WriteFile(token, []byte(g.ana.token), 0o600))
	var ledger bytes.Buffer
	cmd := exec.Command(g.n.path, "export", "--url", "http://"+g.n.addr, "--token-file", token)
	cmd.Stdout = &ledger
	must(t, cmd.Run())
	file := filepath.Join(dir, "ledger.ndjson")
	must(t, os.WriteFile(file, ledger.Bytes(), 0o600))
	g.n.run("verify", file)
}
