package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/test/consent"
)

// said keeps what a process prints.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

// find waits for what a process prints.
func (s *said) find(t *testing.T, what *regexp.Regexp) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		found := what.FindString(s.buf.String())
		s.mu.Unlock()
		if found != "" {
			return found
		}
	}
	t.Fatalf("no %s in %s", what, &s.buf)
	return ""
}

// withAna is a program that ana has signed in to at a browser, by the link that it printed.
func withAna(t *testing.T) (*program, *consent.Person) {
	t.Helper()
	p := prepare(t, product, "--owner", "ana@acme.com")
	out := &said{}
	p.out = out
	p.serve(t)
	p.signIn(t)
	ana, err := consent.SignIn(t.Context(), out.find(t, consent.Link))
	if err != nil {
		t.Fatal(err)
	}
	return p, ana
}

// TestOAuthOfTheTypeScriptClients: their own OAuth code finds the server, registers, is let in by a
// person, refreshes, and works.
func TestOAuthOfTheTypeScriptClients(t *testing.T) {
	box := tools(t)
	p, ana := withAna(t)
	for _, which := range []string{"sdk", "client"} {
		for _, path := range []string{"/mcp", "/portal/mcp"} {
			t.Run(which+path, func(t *testing.T) {
				cmd := box.command(t, box.script(t, "oauth.mjs"), "http://"+p.address+path, which)
				cmd.Stderr = t.Output()
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
				lines := bufio.NewReader(out)
				authorize, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				back, err := ana.Answer(t.Context(), strings.TrimSpace(authorize), consent.InGeneral())
				if err != nil {
					t.Fatalf("%s: %v", authorize, err)
				}
				fmt.Fprintln(in, back)
				rest, err := io.ReadAll(lines)
				var got struct {
					Refused, State, Refreshed string
					Sent                      []string
					Rotated                   bool
				}
				if jsonErr := json.Unmarshal([]byte(lastLine(string(rest))), &got); err != nil || jsonErr != nil || cmd.Wait() != nil {
					t.Fatalf("it ended with %s", rest)
				}
				if got.Refused != "UnauthorizedError" || got.State != "a state" || got.Refreshed != "AUTHORIZED" || !got.Rotated || !slices.Equal(got.Sent, []string{"before, from " + which, "after, from " + which}) {
					t.Errorf("heard %+v", got)
				}
			})
		}
	}
}

// TestOAuthOfMCPRemote: mcp-remote, by which programs without OAuth of their own come in, waits on a
// port of this machine for the browser.
func TestOAuthOfMCPRemote(t *testing.T) {
	box := tools(t)
	p, ana := withAna(t)
	var errs said
	d := box.dialogBeside(t, &errs, box.module("mcp-remote", "dist", "proxy.js"), p.url(), "--transport", "http-only")
	authorize := errs.find(t, regexp.MustCompile(`http://\S+/oauth/authorize\?\S+`))
	back, err := ana.Answer(t.Context(), authorize, consent.InGeneral())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(back.String())
	if err != nil {
		t.Fatalf("mcp-remote doesn't take the browser back: %v", err)
	}
	resp.Body.Close()
	d.say(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"desktop","version":"1"}}}`)
	d.wants(t, `"serverInfo"`)
	d.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"messenger.send","arguments":{"room_id":"r:general","type":"text","body":{"text":"let in by mcp-remote"}}}}`)
	d.wants(t, `"receipt"`)
	if got := p.texts(t); !strings.Contains(got, "let in by mcp-remote") {
		t.Errorf("the room has %s", got)
	}
}
