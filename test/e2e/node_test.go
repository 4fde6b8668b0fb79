// Package e2e runs the real program as its users do: a process, its command
// line, and HTTP on loopback.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ubl/test/built"
	"ubl/test/ports"
)

// patience bounds a test. It guards against hanging only.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { built.Main(m) }

// node is a data directory and the process over it, if one runs.
type node struct {
	t    *testing.T
	path string
	dir  string
	addr string
	args []string // of serve, besides data and address
	proc *exec.Cmd
	log  *tail
}

// lifted takes the limits away: one person sends here what many do elsewhere.
const lifted = "--limit=all=0"

// tail keeps the end of what a process printed.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p...)
	if extra := len(w.buf) - 16<<10; extra > 0 {
		w.buf = w.buf[extra:]
	}
	return len(p), nil
}

func (w *tail) String() string { w.mu.Lock(); defer w.mu.Unlock(); return string(w.buf) }

// newNode picks a free port and starts a process over a new directory.
func newNode(t *testing.T, args ...string) *node {
	t.Helper()
	return newNodeOf(t, built.Path(t), args...)
}

// newNodeOf is newNode of another program.
func newNodeOf(t *testing.T, path string, args ...string) *node {
	t.Helper()
	n := &node{t: t, path: path, dir: filepath.Join(t.TempDir(), "data"), addr: ports.Free(t), args: args, log: &tail{}}
	n.start()
	t.Cleanup(func() {
		if n.proc != nil {
			n.kill()
		}
		if t.Failed() {
			t.Logf("the end of the log:\n%s", n.log)
		}
	})
	return n
}

// domains are those whose people share a tenant.
const domains = "expel.example,invite.example,key.example,kill.example,link.example,load.example,ours.example,retry.example,stream.example,theirs.example"

// start runs `ubl serve` and returns once it listens.
func (n *node) start() {
	n.t.Helper()
	cmd := exec.Command(n.path, append([]string{"serve", "--data", n.dir, "--listen", n.addr, "--domain", domains, lifted}, n.args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	cmd.Stderr = n.log
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.proc = cmd
	listening := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(stdout)
		for once := false; lines.Scan(); {
			_, _ = n.log.Write(append(lines.Bytes(), '\n'))
			if !once && strings.Contains(lines.Text(), "listening on http://") {
				once = true
				close(listening)
			}
		}
	}()
	select {
	case <-listening:
	case <-time.After(time.Minute):
		n.t.Fatalf("the node doesn't listen:\n%s", n.log)
	}
}

// kill ends the process as a power cut would, and reaps it.
func (n *node) kill() {
	_ = n.proc.Process.Kill()
	_ = n.proc.Wait()
	n.proc = nil
}

// stop asks the process to end and wants it to do so cleanly.
func (n *node) stop() {
	n.t.Helper()
	_ = n.proc.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- n.proc.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			n.t.Errorf("the node didn't stop cleanly: %v\n%s", err, n.log)
		}
	case <-time.After(time.Minute):
		n.t.Fatal("the node doesn't stop")
	}
	n.proc = nil
}

// run runs another command of the program and returns what it printed.
func (n *node) run(args ...string) string {
	n.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(n.path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		n.t.Fatalf("ubl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

func (n *node) token(email string) string {
	n.t.Helper()
	return strings.TrimSpace(n.run("token", email, "--data", n.dir))
}

// client speaks REST with one token. Its methods are safe for concurrent use.
type client struct {
	base  string
	token string
	http  *http.Client
}

func (n *node) client(token string) *client {
	return &client{base: "http://" + n.addr, token: token, http: &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// errStatus is an answer other than 2xx.
type errStatus struct {
	status int
	body   string
}

func (e *errStatus) Error() string { return fmt.Sprintf("%d %s", e.status, e.body) }

// do sends a request and decodes the answer into out, if that is not nil.
func (c *client) do(ctx context.Context, method, path, key string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return &errStatus{resp.StatusCode, string(data)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// persist is do, retried while the node is away or doesn't know the outcome.
func (c *client) persist(ctx context.Context, method, path, key string, in, out any) error {
	for {
		err := c.do(ctx, method, path, key, in, out)
		var status *errStatus
		if err == nil || errors.As(err, &status) && status.status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(3 * time.Millisecond):
		}
	}
}

// message is what the tests look at in a message.
type message struct {
	MsgID   string `json:"msg_id"`
	RoomSeq int64  `json:"room_seq"`
	Body    struct {
		Text string `json:"text"`
	} `json:"body"`
	Receipt struct {
		Seq      int64  `json:"seq"`
		CID      string `json:"cid"`
		HeadHash string `json:"head_hash"`
	} `json:"receipt"`
}

type textBody struct {
	Type string            `json:"type"`
	Body map[string]string `json:"body"`
}

func text(s string) textBody { return textBody{Type: "text", Body: map[string]string{"text": s}} }

// history reads a whole room, oldest first.
func (c *client) history(ctx context.Context, room string) ([]message, error) {
	var all []message
	cursor := ""
	for {
		var page struct {
			Messages   []message `json:"messages"`
			NextCursor *int64    `json:"next_cursor"`
		}
		if err := c.persist(ctx, "GET", "/api/rooms/"+room+"/history?limit=200"+cursor, "", nil, &page); err != nil {
			return nil, err
		}
		all = append(page.Messages, all...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = fmt.Sprintf("&cursor=%d", *page.NextCursor)
	}
}
