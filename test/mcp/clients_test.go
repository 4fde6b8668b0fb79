package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// heard is what the scripts of the TypeScript clients tell of their visit.
type heard struct {
	Tools    []string
	Sent     string
	Updated  string
	History  int
	Streamed int
	Progress []int
	Error    struct {
		Code    int
		Message string
	}
	Room       string
	Prompt     int
	Completion []string
}

func TestTypeScriptClients(t *testing.T) {
	box := tools(t)
	for script, check := range map[string]func(*testing.T, heard){
		"sdk.mjs": func(t *testing.T, got heard) {
			if got.Sent != "from the TypeScript SDK" || got.Updated != "ubl://rooms/r:general" || got.History < 2 || !slices.Equal(got.Completion, []string{"r:general"}) {
				t.Errorf("heard %+v", got)
			}
		},
		"client.mjs": func(t *testing.T, got heard) {
			if got.Sent != "from the TypeScript client" || got.Streamed != 2 || !slices.Equal(got.Progress, []int{1, 2}) {
				t.Errorf("heard %+v", got)
			}
		},
	} {
		t.Run(script, func(t *testing.T) {
			p := start(t)
			out, code := box.run(t, box.script(t, script), p.url(), p.token)
			var got heard
			if err := json.Unmarshal([]byte(lastLine(out)), &got); err != nil || code != 0 {
				t.Fatalf("ended with %d: %s", code, out)
			}
			if !slices.Contains(got.Tools, "messenger.send") || got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "room_id") ||
				got.Room != "application/json" || got.Prompt != 2 {
				t.Errorf("heard %+v", got)
			}
			check(t, got)
			if texts := p.texts(t); !strings.Contains(texts, got.Sent) {
				t.Errorf("the room has %s", texts)
			}
		})
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// TestInspector runs the protocol's Inspector, strict about schemas.
func TestInspector(t *testing.T) {
	box := tools(t)
	p := start(t)
	for _, era := range []string{"legacy", "modern"} {
		inspect := func(args ...string) (string, int) {
			args = append([]string{box.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), "--cli", p.url(),
				"--transport", "http", "--protocol-era", era, "--header", "Authorization: Bearer " + p.token}, args...)
			return box.run(t, args...)
		}
		t.Run(era, func(t *testing.T) {
			for _, c := range []struct {
				args []string
				want string
				fail bool
			}{
				{[]string{"--method", "tools/list", "--strict"}, `"messenger.send"`, false},
				{[]string{"--method", "resources/list"}, `"ubl://rooms/r:general"`, false},
				{[]string{"--method", "resources/templates/list"}, `"ubl://receipts/{seq}"`, false},
				{[]string{"--method", "resources/read", "--uri", "ubl://rooms/r:general"}, `room_seq`, false},
				{[]string{"--method", "prompts/list"}, `"catch_up"`, false},
				{[]string{"--method", "prompts/get", "--prompt-name", "verify_receipt", "--prompt-args", "seq=1"}, `tenant.create`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.list_rooms"}, `"structuredContent"`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.send", "--tool-arg", "room_id=r:general", "--tool-arg", "type=text",
					"--tool-arg", `body={"text":"from the Inspector, ` + era + `"}`}, `"receipt"`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.history", "--tool-arg", "room_id=r:nowhere"}, `there is no such room`, true},
			} {
				out, code := inspect(c.args...)
				if (code != 0) != c.fail || !strings.Contains(out, c.want) {
					t.Errorf("%q ended with %d: %s", c.args, code, out)
				}
			}
			if texts := p.texts(t); !strings.Contains(texts, "from the Inspector, "+era) {
				t.Errorf("the room has %s", texts)
			}
		})
	}
}

// TestMCPRemote speaks over standard input with mcp-remote, as desktop clients
// do. The server is killed in the middle of the session and comes back, and the
// session goes on.
func TestMCPRemote(t *testing.T) {
	box := tools(t)
	p := start(t)
	cmd := box.command(t, box.module("mcp-remote", "dist", "proxy.js"), p.url(),
		"--allow-http", "--transport", "http-only", "--header", "Authorization: Bearer "+p.token)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20) // a list of tools is one line
		for s.Scan() {
			lines <- s.Text()
		}
	}()
	ask := func(message, want string) {
		t.Helper()
		if _, err := io.WriteString(in, message+"\n"); err != nil {
			t.Fatal(err)
		}
		late := time.After(time.Minute)
		for want != "" {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("it ended before %s", want)
				}
				if strings.Contains(line, want) {
					return
				}
			case <-late:
				t.Fatalf("%s was not answered with %s", message, want)
			}
		}
	}
	send := `"method":"tools/call","params":{"name":"messenger_send","arguments":{"room_id":"r:general","type":"text","body":{"text":"from mcp-remote`
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"1"}}}`, `"serverInfo"`)
	ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"messenger_send"`) // without dots, for such a client
	ask(`{"jsonrpc":"2.0","id":3,`+send+`, before"}}}}`, `before`)
	p.kill()
	p.serve(t)
	ask(`{"jsonrpc":"2.0","id":4,`+send+`, after"}}}}`, `after`)
	ask(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"messenger_history","arguments":{"room_id":"r:nowhere"}}}`, `-32004`)
	if got := p.texts(t); !strings.Contains(got, "mcp-remote, before") || !strings.Contains(got, "mcp-remote, after") {
		t.Errorf("the room has %s", got)
	}
}
