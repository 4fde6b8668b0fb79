// Package portal_test runs the portal of a node against an MCP server that nobody
// here wrote: server-everything from npm, in the version that package-lock.json
// pins.
package portal_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
	"ubl/test/need"
	"ubl/test/ports"
)

// TestEverything adds the server, lists its tools and calls them.
func TestEverything(t *testing.T) {
	address := everything(t)
	house := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	house.Enter(ana)
	p, err := portal.New(portal.Options{
		Asker: house, Feed: house, Keys: func() [][]byte { return [][]byte{make([]byte, 32)} }, Now: house.Clock.Now, Random: rand.Reader, CallTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	if _, err := p.Add(ctx, house.Request(ana), true, ubl.Server{ServerID: "everything", Name: "Everything", URL: address, Auth: ubl.AuthNone}, ""); err != nil {
		t.Fatal(err)
	}
	server, err := p.Sync(ctx, house.Request(ana), true, "everything")
	if err != nil || server.Status != ubl.ServerUp || server.Tools < 10 || server.Problem != "" {
		t.Fatalf("the server is %+v, %v", server, err)
	}
	for _, tool := range []string{"echo", "get-sum", "get-structured-content", "get-tiny-image", "get-annotated-message", "trigger-long-running-operation", "prompts", "resources"} {
		harness.Must[*ubl.ToolAccess](house, ubl.TenantName(ana.TenantID),
			ubl.SetToolAccess{Request: house.Request(ana), Tool: "everything." + tool, Allowed: true})
	}
	tools, err := p.Tools(ctx, ana)
	if err != nil || len(tools) != 8 {
		t.Fatalf("%d tools are shown, %v", len(tools), err)
	}

	call := func(tool, args string) (*ubl.ToolResult, error) {
		return p.Call(ctx, house.Request(ana), "everything."+tool, json.RawMessage(args), "", nil)
	}
	for _, c := range []struct{ tool, args, content, structured string }{
		{"echo", `{"message":"olá"}`, `Echo: olá`, ""},
		{"get-sum", `{"a":2,"b":40}`, `42`, ""},
		{"get-structured-content", `{"location":"New York"}`, ``, `"temperature"`},
		{"get-tiny-image", `{}`, `"mimeType":"image/png"`, ""},
		{"get-annotated-message", `{"messageType":"error","includeImage":true}`, `"priority":1`, ""},
		{"prompts", `{"name":"args-prompt","arguments":{"city":"Lisboa"}}`, `Lisboa`, `"role":"user"`},
		{"resources", `{"uri":"demo://resource/dynamic/text/7"}`, `demo://resource/dynamic/text/7`, ""},
	} {
		r, err := call(c.tool, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		if !strings.Contains(string(r.Content), c.content) || !strings.Contains(string(r.Structured), c.structured) || r.IsError {
			t.Errorf("%s answers %.300s, %s", c.tool, r.Content, r.Structured)
		}
	}
	if _, err := call("get-sum", `{"a":"two"}`); ubl.CodeOf(err) != ubl.CodeValidation {
		t.Errorf("wrong arguments were answered %v", err)
	}

	if list, err := p.Resources(ctx, ana, "everything.resources"); err != nil || len(list) == 0 {
		t.Errorf("%d resources are listed, %v", len(list), err)
	}
	values, _, err := p.Complete(ctx, ana, ubl.Completing{Tool: "everything.resources", Ref: "demo://resource/dynamic/text/{resourceId}", Argument: "resourceId", Value: "3"})
	if err != nil || len(values) == 0 {
		t.Errorf("a template is completed to %q, %v", values, err)
	}

	var told []float64
	if _, err := p.Call(ctx, house.Request(ana), "everything.trigger-long-running-operation", json.RawMessage(`{"duration":1,"steps":4}`), "",
		func(done, _ float64, _ string) { told = append(told, done) }); err != nil {
		t.Error(err)
	}
	if len(told) < 3 || !slices.IsSorted(told) {
		t.Errorf("the progress was %v", told)
	}
	house.VerifyLedger(ana.TenantID)
}

// everything installs and runs the server, and answers its address. It skips the
// test where there is no npm.
func everything(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("installing a server from npm takes a while")
	}
	node := need.Tool(t, "node")
	dir := install(t)
	address := ports.Free(t)
	_, port, _ := net.SplitHostPort(address) // it has one
	cmd := exec.Command(node, filepath.Join(dir, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js"), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = cmd.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timeout := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timeout.Stop()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "listening on port") {
			go func() { // or it would stop when nobody reads what it says
				for lines.Scan() {
				}
			}()
			return "http://" + address + "/mcp"
		}
	}
	t.Fatal("server-everything didn't start")
	return ""
}

func install(t *testing.T) (dir string) {
	t.Helper()
	npm := need.Tool(t, "npm")
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ci := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-progress")
	ci.Dir = dir
	if out, err := ci.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}

// TestEverythingAsks: the server asks the person in front of the caller's client for a form, which
// it offers to clients alone that can show one, and gets what was entered.
func TestEverythingAsks(t *testing.T) {
	address := everything(t)
	house := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	house.Enter(ana)
	p, err := portal.New(portal.Options{
		Asker: house, Feed: house, Keys: func() [][]byte { return [][]byte{make([]byte, 32)} }, Now: house.Clock.Now, Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if _, err := p.Add(t.Context(), house.Request(ana), true, ubl.Server{ServerID: "everything", Name: "Everything", URL: address, Auth: ubl.AuthNone}, ""); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"elicitation", "trigger-elicitation-request"} {
		harness.Must[*ubl.ToolAccess](house, ubl.TenantName(ana.TenantID),
			ubl.SetToolAccess{Request: house.Request(ana), Tool: "everything." + tool, Allowed: true})
	}
	if server, err := p.Sync(t.Context(), house.Request(ana), true, "everything"); err != nil || server.Status != ubl.ServerUp {
		t.Fatalf("the server is %+v, %v", server, err)
	}
	f, err := p.Begin(t.Context(), portal.Long{Request: house.Request(ana), Tool: "everything.trigger-elicitation-request", Args: json.RawMessage(`{}`), Form: true})
	if err != nil {
		t.Fatal(err)
	}
	news, err := f.Next(t.Context(), 0)
	if err != nil || news.Question == nil {
		t.Fatalf("the call came to %+v, %v", news, err)
	}
	if asked := string(news.Question.Params); !strings.Contains(asked, `[Question of the server \"everything\"`) || !strings.Contains(asked, `"format":"email"`) {
		t.Errorf("the person is asked %s", asked)
	}
	if err := p.Reply(t.Context(), ana, f.N(), 1, []byte(`{"action":"accept","content":{"name":"Ana","check":true,"email":"ana@example.com"}}`)); err != nil {
		t.Fatal(err)
	}
	if news, err = f.Next(t.Context(), 1); err != nil || news.Err != nil || !strings.Contains(string(news.Result.Content), "Ana") {
		t.Errorf("the call came to %+v, %v", news, err)
	}
}
