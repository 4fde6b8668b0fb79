package mcp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// built is the program, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ubl-test-mcp-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "ubl")
	return path, exec.Command("go", "build", "-o", path, "ubl/cmd/ubl").Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// program is the real server as a process, with ana's token.
type program struct {
	path, dir, address string
	token              string
	process            *exec.Cmd
}

// start runs `ubl serve` over a new directory.
func start(t *testing.T) *program {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("couldn't build the program: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{path: path, dir: t.TempDir(), address: l.Addr().String()}
	_ = l.Close()
	p.serve(t)
	t.Cleanup(p.kill)
	out, err := exec.Command(path, "token", "ana@acme.com", "--data", p.dir).Output()
	if err != nil {
		t.Fatalf("couldn't make a token: %v", err)
	}
	p.token = strings.TrimSpace(string(out))
	return p
}

// serve starts the process, and waits until it listens.
func (p *program) serve(t *testing.T) {
	t.Helper()
	cmd := exec.Command(p.path, "serve", "--data", p.dir, "--listen", p.address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.process = cmd
	listening := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(out)
		for once := false; lines.Scan(); {
			if !once && strings.Contains(lines.Text(), "listening on http://") {
				once = true
				close(listening)
			}
		}
	}()
	select {
	case <-listening:
	case <-time.After(30 * time.Second):
		t.Fatal("the program doesn't listen")
	}
}

// kill ends the process as a power cut would.
func (p *program) kill() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
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
