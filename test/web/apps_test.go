package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// policyOfApps is the policy that the protocol has a client give a view that names no origins.
const policyOfApps = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"media-src 'self' data:; connect-src 'none'; frame-src 'self'; object-src 'none'; base-uri 'self'"

// called is a tool with its arguments.
type called struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// host is a client that shows MCP Apps: a page with the official SDK's host, over a session of the go-sdk.
type host struct {
	t       *testing.T
	session *mcp.ClientSession
	url     string
	// changed is what is done to results before the page has them; nil for nothing.
	changed func(text string) string
}

// appHost serves the page of a client whose agent has a session.
func appHost(t *testing.T, session *mcp.ClientSession) *host {
	t.Helper()
	h := &host{t: t, session: session}
	script := bundled(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/host.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, script)
	})
	mux.HandleFunc("/sandbox.html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policyOfApps)
		http.ServeFile(w, r, "testdata/apps/sandbox.html")
	})
	mux.HandleFunc("/host.html", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/apps/host.html") })
	mux.HandleFunc("/call", func(w http.ResponseWriter, r *http.Request) { h.write(w, h.call(r)) })
	mux.HandleFunc("/show", h.show)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// bundled is the host's script in one file.
func bundled(t *testing.T) string {
	t.Helper()
	dir, err := modules()
	must(t, err)
	source, err := os.ReadFile("testdata/apps/host.js")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "host.js"), source, 0o600)) // beside the modules that it imports
	out := filepath.Join(t.TempDir(), "host.js")
	esbuild := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", "esbuild"), "host.js", "--bundle", "--format=iife", "--log-level=error", "--outfile="+out)
	esbuild.Dir = dir
	if said, err := esbuild.CombinedOutput(); err != nil {
		t.Fatalf("couldn't bundle the host: %v\n%s", err, said)
	}
	return out
}

// call does what the page asks for.
func (h *host) call(r *http.Request) any {
	var c called
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		h.t.Errorf("the page asks for nothing: %v", err)
	}
	result, err := h.session.CallTool(h.t.Context(), &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		h.t.Errorf("%s: %v", c.Name, err)
	}
	return result
}

// show calls a tool that has a view, and answers all that a client has then: the tool, its view and
// the result. The sandbox is the same server under another name, and so of another origin.
func (h *host) show(w http.ResponseWriter, r *http.Request) {
	var c called
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		h.t.Errorf("the page shows nothing: %v", err)
	}
	for tool, err := range h.session.Tools(h.t.Context(), nil) {
		if err != nil {
			h.t.Error(err)
			return
		}
		ui, _ := tool.Meta["ui"].(map[string]any)
		if tool.Name != c.Name || ui == nil {
			continue
		}
		view, err := h.session.ReadResource(h.t.Context(), &mcp.ReadResourceParams{URI: ui["resourceUri"].(string)})
		if err != nil {
			h.t.Error(err)
			return
		}
		result, err := h.session.CallTool(h.t.Context(), &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			h.t.Error(err)
			return
		}
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.url, "http://"))
		h.write(w, map[string]any{"tool": tool, "view": view.Contents[0], "result": result, "sandbox": "http://localhost:" + port + "/sandbox.html"})
		return
	}
	h.t.Errorf("%s has no view", c.Name)
}

func (h *host) write(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		h.t.Error(err)
	}
	if h.changed != nil {
		text = []byte(h.changed(string(text)))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// isShown has the client show a tool's answer, until the view has these texts.
func (p *person) isShown(name string, args map[string]any, theme string, texts ...string) {
	p.t.Helper()
	given, err := json.Marshal(args)
	must(p.t, err)
	eval[bool](p, fmt.Sprintf(`show(%q, %s, %q).then(() => true)`, name, given, theme))
	p.until("the view to be shown", func() bool { return eval[bool](p, `window.shown === true`) })
	p.seesInView(texts...)
}

func (p *person) seesInView(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf("%q in the view", text), func() bool { return strings.Contains(eval[string](p, `look()`), text) })
	}
}

// TestApps shows a room and a receipt in a client that can, by the official SDK's host: the page has
// no network, and finds out by itself whether what it shows is what the ledger has.
func TestApps(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		first := s.client(owner).send(general, "High water is at 06:12 and 18:40.")
		s.client(owner).send(general, "<img src=x onerror=alert(1)> is no picture.")
		h := appHost(t, s.appAgent(owner, "scribe"))
		p.watch.expect("a request to another host: " + h.url)
		p.watch.expect("a request to another host: " + strings.Replace(h.url, "127.0.0.1", "localhost", 1))
		p.visit(h.url + "/host.html")

		p.isShown("messenger.history", map[string]any{"room_id": general}, "light", "general", "High water is at 06:12", "<img src=x", "scribe joined")
		p.shot("app-room")
		eval[string](p, fmt.Sprintf(`look('Check receipt %d')`, first.Receipt.Seq))
		p.seesInView("✓ The text matches its receipt", "✓ Its effect put this message into the room")
		s.client(owner).send(general, "And the moon is full.")
		eval[string](p, `look('Refresh')`)
		p.seesInView("And the moon is full.", "ana")
		p.shot("app-room-checked")

		h.changed = func(text string) string { return strings.ReplaceAll(text, "06:12", "07:12") }
		p.isShown("messenger.history", map[string]any{"room_id": general}, "dark", "High water is at 07:12")
		eval[string](p, fmt.Sprintf(`look('Check receipt %d')`, first.Receipt.Seq))
		p.seesInView("✗ The text does not match its receipt", "✓ The action has the hash")
		p.shot("app-room-changed-dark")
		h.changed = nil

		seq := map[string]any{"seq": first.Receipt.Seq}
		p.isShown("receipt.get", seq, "light", fmt.Sprintf("Receipt %d", first.Receipt.Seq), "sent a message", "Checked in this page", "✓ The effect follows the action")
		p.shot("app-receipt")
		h.changed = func(text string) string {
			return strings.ReplaceAll(text, `"did":"messenger.send"`, `"did":"messenger.edit"`)
		}
		p.isShown("receipt.get", seq, "dark", "This does not add up", "✗ The action doesn’t have the hash that it bears")
		p.shot("app-receipt-changed-dark")
		if said := eval[string](p, `look()`); strings.Contains(said, "broke the policy") {
			t.Errorf("the view %s", said)
		}
		if answered := eval[bool](p, `end().then(() => true)`); !answered {
			t.Error("the view doesn't end in order")
		}
	})
}

// appAgent is an agent whose client shows apps.
func (s *server) appAgent(email, name string) *mcp.ClientSession {
	s.t.Helper()
	c := &mcp.ClientCapabilities{}
	c.AddExtension("io.modelcontextprotocol/ui", map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}})
	return s.agentWith(email, name, &mcp.ClientOptions{Capabilities: c})
}
