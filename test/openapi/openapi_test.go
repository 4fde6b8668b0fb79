// Package openapi_test holds the OpenAPI document of the real program against linters and
// generators that nobody here wrote: redocly, spectral, oapi-codegen for Go and
// openapi-typescript, in the versions that package-lock.json and goclient/go.mod pin. What they
// generate is compiled, and talks to the server.
package openapi_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl/test/built"
	"ubl/test/need"
	"ubl/test/ports"
)

// patience bounds what a tool may take. It guards against hanging only.
const patience = 5 * time.Minute

// TestClients starts a server, and tries each tool on the document that it serves.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("the generated clients take a minute to compile")
	}
	s := serve(t)
	document := filepath.Join(t.TempDir(), "openapi.json")
	write(t, document, s.document(t))
	t.Run("Go", func(t *testing.T) { goClient(t, s, document) })
	t.Run("redocly", func(t *testing.T) { redocly(t, document) })
	t.Run("spectral", func(t *testing.T) { spectral(t, document) })
	t.Run("TypeScript", func(t *testing.T) { typeScriptClient(t, s, document) })
}

// goClient generates a client in a copy of the module goclient, builds it, and has it talk.
func goClient(t *testing.T, s *server, document string) {
	module := t.TempDir()
	must(t, os.CopyFS(module, os.DirFS("goclient")))
	run(t, module, "go", "tool", "oapi-codegen", "-config", "oapi.yaml", document)
	run(t, module, "go", "build", "-o", "client", ".")
	if out := run(t, module, "./client", s.url, s.token); out != "ok\n" {
		t.Errorf("the client says %s", out)
	}
}

// redocly finds nothing in the document, by its stricter rules.
func redocly(t *testing.T, document string) {
	run(t, ".", need.Node(t), module(t, "@redocly/cli/bin/cli.js"), "lint", "--config", "testdata/redocly.yaml", document)
}

// spectral finds nothing in the document, not even to warn of.
func spectral(t *testing.T, document string) {
	run(t, ".", need.Node(t), module(t, "@stoplight/spectral-cli/dist/index.js"), "lint", "--fail-severity", "hint", "-r", "testdata/spectral.yaml", document)
}

// typeScriptClient generates types, compiles a program by them, and has it talk.
func typeScriptClient(t *testing.T, s *server, document string) {
	node, packages := need.Node(t), need.Packages(t)
	dir, err := os.MkdirTemp(packages, "run-") // where the program finds its packages
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.CopyFS(dir, os.DirFS("testdata")))
	write(t, filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`))
	run(t, dir, node, module(t, "openapi-typescript/bin/cli.js"), document, "-o", "api.ts")
	run(t, dir, node, module(t, "typescript/bin/tsc"))
	if out := run(t, dir, node, "client.js", s.url, s.token); out != "ok\n" {
		t.Errorf("the client says %s", out)
	}
}

// module is the path of a file of a package from npm.
func module(t *testing.T, path string) string {
	return filepath.Join(need.Packages(t), "node_modules", filepath.FromSlash(path))
}

// server is the program as a process, with the token of somebody who is there first.
type server struct{ url, token string }

func serve(t *testing.T) *server {
	t.Helper()
	dir, address := t.TempDir(), ports.Free(t)
	process := exec.Command(built.Path(t), "serve", "--data", dir, "--listen", address, "--log-level", "warn")
	process.Stderr = t.Output()
	must(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	run(t, ".", built.Path(t), "health", "--wait", "60s", "--url", "http://"+address)
	token := run(t, ".", built.Path(t), "token", "ana@acme.com", "--data", dir)
	return &server{"http://" + address, strings.TrimSpace(token)}
}

// document is what the server says of itself, to anyone.
func (s *server) document(t *testing.T) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/api/openapi.json", nil)
	must(t, err)
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != http.StatusOK || !res.Uncompressed {
		t.Errorf("the document comes as %s, compressed: %t", res.Status, res.Uncompressed)
	}
	return body
}

// run runs a tool in a folder, and answers what it printed.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "CI=1", "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, &complaint)
	}
	return string(out)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
