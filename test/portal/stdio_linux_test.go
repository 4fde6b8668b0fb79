package portal_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/portal/stdio"
	"ubl/test/harness"
	"ubl/test/need"
)

func TestMain(m *testing.M) {
	stdio.RunIfChild()
	os.Exit(m.Run())
}

// TestPrograms runs servers of npm as programs of the node: everything with its prompts, resources
// and progress, and the filesystem's in its own folder, which is all that it can write.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("installing servers from npm takes a while")
	}
	need.Namespaces(t)
	node, modules := need.Node(t), installed(t)
	program := func(name string, args ...string) stdio.Command {
		return stdio.Command{Argv: append([]string{node, filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")}, args...)}
	}
	all := map[string]stdio.Command{"everything": program("server-everything", "stdio"), "files": program("server-filesystem", ".", "/etc")}
	for name, c := range all {
		if err := c.Check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	house := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	house.Enter(ana)
	p, err := portal.New(portal.Options{
		Asker: house, Feed: house, Keys: func() [][]byte { return [][]byte{make([]byte, 32)} }, Now: house.Clock.Now, Random: rand.Reader,
		CallTimeout: time.Minute, Commands: stdio.New(stdio.Options{Commands: all}),
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
	for name, tools := range map[string][]string{
		"everything": {"echo", "get-env", "trigger-long-running-operation", "prompts", "resources"},
		"files":      {"write_file", "read_text_file", "list_directory"},
	} {
		if _, err := p.Add(t.Context(), house.Request(ana), true, ubl.Server{ServerID: name, Name: name, Kind: ubl.ServerStdio, Command: name, Auth: ubl.AuthNone}, ""); err != nil {
			t.Fatal(err)
		}
		server, err := p.Sync(t.Context(), house.Request(ana), true, name)
		if err != nil || server.Status != ubl.ServerUp || server.Tools < len(tools) || server.Problem != "" {
			t.Fatalf("%s is %+v, %v", name, server, err)
		}
		for _, tool := range tools {
			harness.Must[*ubl.ToolAccess](house, ubl.TenantName(ana.TenantID), ubl.SetToolAccess{Request: house.Request(ana), Tool: name + "." + tool, Allowed: true})
		}
	}
	call := func(tool, args string) (string, bool) {
		t.Helper()
		r, err := p.Call(t.Context(), house.Request(ana), tool, json.RawMessage(args), "", nil)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		return string(r.Content), r.IsError
	}
	for _, c := range []struct {
		tool, args, want string
		fails            bool
	}{
		{"everything.echo", `{"message":"olá"}`, "Echo: olá", false},
		{"everything.prompts", `{"name":"args-prompt","arguments":{"city":"Lisboa"}}`, "Lisboa", false},
		{"everything.resources", `{"uri":"demo://resource/dynamic/text/7"}`, "demo://resource/dynamic/text/7", false},
		{"files.write_file", `{"path":"note.txt","content":"bom dia"}`, "note.txt", false},
		{"files.read_text_file", `{"path":"note.txt"}`, "bom dia", false},
		{"files.write_file", `{"path":"/etc/ubl-was-here","content":"x"}`, "", true},
		{"files.read_text_file", `{"path":"/etc/shadow"}`, "", true},
	} {
		if got, failed := call(c.tool, c.args); !strings.Contains(got, c.want) || failed != c.fails {
			t.Errorf("%s %s answers %s", c.tool, c.args, got)
		}
	}
	if env, _ := call("everything.get-env", `{}`); strings.Contains(env, "GOPATH") || strings.Contains(env, "PATH=") || !strings.Contains(env, "TMPDIR") {
		t.Errorf("it has the environment %s", env)
	}
	var told []float64
	if _, err := p.Call(t.Context(), house.Request(ana), "everything.trigger-long-running-operation", json.RawMessage(`{"duration":1,"steps":4}`), "",
		func(done, _ float64, _ string) { told = append(told, done) }); err != nil || len(told) < 3 {
		t.Errorf("the progress was %v, %v", told, err)
	}
	house.VerifyLedger(ana.TenantID)
}

// installed is where the servers are, for another user too.
func installed(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ubl-test-") // t.TempDir is closed to others
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "node_modules"), os.DirFS(filepath.Join(need.Packages(t), "node_modules")))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "node_modules")
}
