package mcp_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ubl/test/ports"
)

var (
	// folder is where the programs are built, once for all tests.
	folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "ubl-test-mcp-") })
	// product is the program as people run it, and fixed the one that has the
	// fixtures of the conformance suite besides.
	product = sync.OnceValues(func() (string, error) { return build("ubl") })
	fixed   = sync.OnceValues(func() (string, error) { return build("ubl-conformance", "-tags", "conformance") })
)

func build(name string, flags ...string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", path, "ubl/cmd/ubl")...)
	cmd.Stderr = os.Stderr // what the compiler says
	return path, cmd.Run()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// program is the real server as a process, with ana's token.
type program struct {
	path, dir, address string
	flags              []string
	token              string
	out                io.Writer // takes what it prints; nil for nobody
	process            *exec.Cmd
}

// prepare is a program that doesn't run yet, over a new directory.
func prepare(t *testing.T, binary func() (string, error), flags ...string) *program {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("couldn't build the program: %v", err)
	}
	p := &program{path: path, dir: t.TempDir(), address: ports.Free(t), flags: flags}
	t.Cleanup(p.kill)
	return p
}

// start runs `ubl serve` over a new directory.
func start(t *testing.T, binary func() (string, error)) *program {
	t.Helper()
	p := prepare(t, binary)
	p.serve(t)
	p.signIn(t)
	return p
}

// serve starts the process, and waits until it takes requests.
func (p *program) serve(t *testing.T) {
	t.Helper()
	p.launch(t)
	p.ready(t)
}

func (p *program) launch(t *testing.T) {
	t.Helper()
	cmd := exec.Command(p.path, append([]string{"serve", "--data", p.dir, "--listen", p.address, "--log-level", "warn"}, p.flags...)...)
	cmd.Stdout, cmd.Stderr = p.out, t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatalf("couldn't start the program: %v", err)
	}
	p.process = cmd
}

func (p *program) ready(t *testing.T) {
	t.Helper()
	if out, err := exec.Command(p.path, "health", "--wait", "60s", "--url", "http://"+p.address).CombinedOutput(); err != nil {
		t.Fatalf("the program isn't ready: %v: %s", err, out)
	}
}

// signIn makes ana's token, with the key of a server that is ready.
func (p *program) signIn(t *testing.T) {
	t.Helper()
	out, err := exec.Command(p.path, "token", "ana@acme.com", "--data", p.dir).Output()
	if err != nil {
		t.Fatalf("couldn't make a token: %v", err)
	}
	p.token = strings.TrimSpace(string(out))
}

// kill ends the process as a power cut would.
func (p *program) kill() {
	if p.process == nil {
		return
	}
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
	p.process = nil
}

// crash kills the process, and starts it again over the same directory and
// address.
func (p *program) crash(t *testing.T) {
	t.Helper()
	p.kill()
	p.serve(t)
}

func (p *program) url() string { return "http://" + p.address + "/mcp" }

// texts is the history of r:general.
func (p *program) texts(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+p.address+"/api/rooms/r:general/history?limit=200", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("history = %d %s", res.StatusCode, body)
	}
	return string(body)
}
