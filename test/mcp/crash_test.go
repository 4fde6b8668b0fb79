package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// resumed is what testdata/crash.mjs tells of a session in which the server was
// killed and came back.
type resumed struct {
	Era     string
	Cut     string // how the call under way ended
	Same    bool   // whether the session kept its id
	Closed  string // how the client was told that its subscription ended
	Updated string // of what it heard afterwards
	Texts   []string
}

// TestTypeScriptClientsSurviveACrash kills the server in the middle of a session
// of each client, in each era it speaks: with a subscription open and a call under
// way. The server comes back over the same directory, and the session goes on
// without another handshake.
func TestTypeScriptClientsSurviveACrash(t *testing.T) {
	box := tools(t)
	for _, visitor := range []struct{ client, era, closed string }{
		{"sdk", "legacy", ""}, // which knows no other, and is not told
		{"client", "legacy", ""},
		{"client", "modern", "remote"},
	} {
		t.Run(visitor.client+"/"+visitor.era, func(t *testing.T) {
			p := start(t, product)
			d := box.dialog(t, box.script(t, "crash.mjs"), p.url(), p.token, visitor.client, visitor.era)
			d.wants(t, "in mid-session")
			p.crash(t)
			d.say(t, "go on")
			var got resumed
			if err := json.Unmarshal([]byte(d.wants(t, `"era"`)), &got); err != nil {
				t.Fatal(err)
			}
			if got.Era != visitor.era || got.Cut == "" || got.Cut == "answered" || !got.Same || got.Closed != visitor.closed ||
				got.Updated != "ubl://rooms/r:general" || strings.Join(got.Texts, ", ") != "before the crash, after the crash" {
				t.Errorf("heard %+v", got)
			}
		})
	}
}

// TestMCPRemote speaks over standard input with mcp-remote, as desktop clients
// do. The server is killed in the middle of the session and comes back, and the
// session goes on. It speaks the legacy era alone.
func TestMCPRemote(t *testing.T) {
	box := tools(t)
	p := start(t, product)
	t.Setenv("AGENT_AUTHORIZATION", "Bearer "+p.token)
	d := box.dialog(t, box.module("mcp-remote", "dist", "proxy.js"), p.url(),
		"--allow-http", "--transport", "http-only", "--header", "Authorization:${AGENT_AUTHORIZATION}") // as README says
	ask := func(message, want string) {
		t.Helper()
		d.say(t, message)
		d.wants(t, want)
	}
	send := `"method":"tools/call","params":{"name":"messenger_send","arguments":{"room_id":"r:general","type":"text","body":{"text":"from mcp-remote`
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"1"}}}`, `"serverInfo"`)
	d.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"messenger_send"`) // without dots, for such a client
	ask(`{"jsonrpc":"2.0","id":3,`+send+`, before"}}}}`, `before`)
	p.crash(t)
	ask(`{"jsonrpc":"2.0","id":4,`+send+`, after"}}}}`, `after`)
	ask(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"messenger_history","arguments":{"room_id":"r:nowhere"}}}`, `"code":"not_found"`)
	if got := p.texts(t); !strings.Contains(got, "mcp-remote, before") || !strings.Contains(got, "mcp-remote, after") {
		t.Errorf("the room has %s", got)
	}
}

// TestInspectorSurvivesACrash: every run of the Inspector's CLI is a session of
// its own that ends with it, so there is no middle that a test could stop in. The
// server is killed between two runs, and the second finds what the first did.
func TestInspectorSurvivesACrash(t *testing.T) {
	box := tools(t)
	p := start(t, product)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			text := "from the Inspector, " + era + ", before"
			if out, code := box.inspect(t, p, era, "--method", "tools/call", "--tool-name", "messenger.send",
				"--tool-arg", "room_id=r:general", "--tool-arg", "type=text", "--tool-arg", `body={"text":"`+text+`"}`); code != 0 {
				t.Fatalf("sending ended with %d: %s", code, out)
			}
			p.crash(t)
			out, code := box.inspect(t, p, era, "--method", "tools/call", "--tool-name", "messenger.history", "--tool-arg", "room_id=r:general")
			if code != 0 || !strings.Contains(out, text) {
				t.Errorf("reading ended with %d: %s", code, out)
			}
		})
	}
}
