package manifests

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// figures are the names of what a node shows to Prometheus, with their labels.
type figures map[string]map[string]bool

// shown is what the real program shows, as the founder of a cluster that
// somebody uses. "up" is Prometheus' own.
var shown = sync.OnceValues(func() (figures, error) {
	dir, err := os.MkdirTemp("", "ubl-manifests-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text, err := ask(dir)
	if err != nil {
		return nil, err
	}
	f := figures{"up": {}}
	sample := regexp.MustCompile(`(?m)^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^\n]*\})? `)
	label := regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="`)
	for _, s := range sample.FindAllStringSubmatch(text, -1) {
		if f[s[1]] == nil {
			f[s[1]] = map[string]bool{}
		}
		for _, l := range label.FindAllStringSubmatch(s[2], -1) {
			f[s[1]][l[1]] = true
		}
	}
	return f, nil
})

func scrape(t *testing.T) figures {
	t.Helper()
	f, err := shown()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ask starts a node, uses it a little, so that every figure has a value, and
// returns what its admin address shows.
func ask(dir string) (string, error) {
	ubl, err := program(dir)
	if err != nil {
		return "", err
	}
	secret, err := exec.Command(ubl, "cluster", "secret").Output()
	if err != nil {
		return "", fmt.Errorf("couldn't make a secret: %w", err)
	}
	ports, err := freePorts(3)
	if err != nil {
		return "", err
	}
	data := filepath.Join(dir, "data")
	node := exec.Command(ubl, "serve", "--data", data, "--listen", ports[0], "--admin-listen", ports[1], "--cluster-listen", ports[2], "--node-id", "n1",
		"--mail-server", "127.0.0.1:1", "--mail-from", "ubl@example.com", "--mail-tls", "none", "--scan", "127.0.0.1:1")
	node.Env = []string{"UBL_CLUSTER_SECRET=" + strings.TrimSpace(string(secret))}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	node.Stdout, node.Stderr = log, log
	if err := node.Start(); err != nil {
		return "", err
	}
	defer func() { _ = node.Process.Signal(syscall.SIGTERM); _ = node.Wait() }()
	text, err := use(ubl, data, ports)
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		err = fmt.Errorf("%w\n%s", err, said)
	}
	return text, err
}

// use sends a message and follows a room, then reads the figures.
func use(ubl, data string, ports []string) (string, error) {
	env := []string{"UBL_URL=http://" + ports[0]}
	command := func(args ...string) (string, error) {
		cmd := exec.Command(ubl, args...)
		cmd.Env = env
		var stderr strings.Builder // notes for people, which are no part of a token
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("ubl %s: %w\n%s", args[0], err, stderr.String())
		}
		return strings.TrimSpace(string(out)), err
	}
	if _, err := command("health", "--wait", "60s"); err != nil {
		return "", err
	}
	token, err := command("token", "owner@localhost", "--data", data)
	if err != nil {
		return "", err
	}
	env = append(env, "UBL_TOKEN="+token)
	for _, args := range [][]string{{"rooms"}, {"send", "general", "hello"}, {"tail", "general", "--from", "0", "--count", "1"}} {
		if _, err := command(args...); err != nil {
			return "", err
		}
	}
	return settled("http://" + ports[1] + "/metrics")
}

// settled reads the figures once the stream's end is counted.
func settled(url string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || strings.Contains(string(text), "ubl_streams_ended_total{") {
			return string(text), err
		}
		time.Sleep(50 * time.Millisecond) // the loop is bounded by ctx
	}
}

// program is the one that UBL_BIN names, else a new one.
func program(dir string) (string, error) {
	if path := os.Getenv("UBL_BIN"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(dir, "ubl")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/ubl")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("couldn't build the program: %w\n%s", err, out)
	}
	return filepath.Abs(path)
}

func freePorts(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
