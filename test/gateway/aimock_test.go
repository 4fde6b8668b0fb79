// Package gateway_test runs the gateway and the office against an OpenAI-compatible
// server that nobody here wrote: aimock from npm, in the version that
// package-lock.json pins.
package gateway_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl/test/need"
)

// key is what the server wants to be shown.
const key = "sk-test-of-the-gateway"

// install puts the server into a folder of its own, and answers how to run it. It
// skips the test where there is no npm, or a node that is too old.
func install(t *testing.T) []string {
	t.Helper()
	node, npm := need.Node(t), need.Tool(t, "npm")
	dir := t.TempDir()
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
	return []string{node, filepath.Join(dir, "node_modules", "@copilotkit", "aimock", "dist", "cli.js")}
}

// start runs the server with the fixtures of testdata, and answers its base URL.
func start(t *testing.T) string {
	t.Helper()
	run := install(t)
	server := exec.Command(run[0], append(run[1:], "--port", "0", "--fixtures", "testdata/fixtures.json", "--validate-on-load", "--strict")...)
	server.Env = append(os.Environ(), "AIMOCK_API_KEYS="+key)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	timeout := time.AfterFunc(3*time.Minute, func() { _ = server.Process.Kill() })
	defer timeout.Stop()
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() { // or it would stop when nobody reads what it says
				for lines.Scan() {
				}
			}()
			return url + "/v1"
		}
	}
	t.Fatalf("aimock didn't start:\n%s", said.String())
	return ""
}
