package web

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ubl/test/built"
	"ubl/test/poll"
	"ubl/test/ports"
)

// owner is whom servers print their link for.
const owner = "ana@harbour.example"

// server is what browsers reach under one address: a node, or three behind a front.
type server struct {
	t     *testing.T
	url   string // "http://localhost:4711"
	nodes []*node
	front *front // nil for a node alone
}

// node is a data directory, and the process over it if one runs.
type node struct {
	t       *testing.T
	program string
	dir     string
	address string
	flags   []string
	process *exec.Cmd
	log     tail
}

// tail keeps the end of what a process printed.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-32<<10):]
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// oneNode starts a node alone.
func oneNode(t *testing.T, flags ...string) *server {
	t.Helper()
	n := newNode(t, flags...)
	n.start()
	return &server{t: t, url: localhost(n.address), nodes: []*node{n}}
}

// starter starts a server whose nodes have flags besides their own.
type starter func(t *testing.T, flags ...string) *server

// behindFront starts a node alone, and a front through which browsers reach it.
func behindFront(t *testing.T, flags ...string) *server {
	t.Helper()
	f := newFront(t)
	n := newNode(t, slices.Concat(flags, []string{"--public-url", f.url()})...)
	f.add(n.address)
	n.start()
	return &server{t: t, url: f.url(), nodes: []*node{n}, front: f}
}

// threeNodes starts a cluster whose nodes are behind one address.
func threeNodes(t *testing.T, flags ...string) *server {
	t.Helper()
	f := newFront(t)
	s := &server{t: t, url: f.url(), front: f}
	meeting := []string{ports.Free(t), ports.Free(t), ports.Free(t)}
	secret := filepath.Join(t.TempDir(), "secret")
	for i, at := range meeting {
		n := newNode(t, slices.Concat(flags, []string{"--public-url", s.url, "--node-id", fmt.Sprintf("n%d", i+1), "--cluster-listen", at,
			"--join", strings.Join(meeting, ","), "--bootstrap-expect", "3", "--cluster-secret-file", secret})...)
		s.nodes = append(s.nodes, n)
		f.add(n.address)
	}
	must(t, os.WriteFile(secret, []byte(s.nodes[0].run("cluster", "secret")), 0o400))
	for _, n := range s.nodes { // they wait for each other
		n.launch()
	}
	for _, n := range s.nodes {
		n.ready()
	}
	return s
}

func newNode(t *testing.T, flags ...string) *node {
	t.Helper()
	n := &node{t: t, program: built.Path(t), dir: filepath.Join(t.TempDir(), "data"), address: ports.Free(t), flags: flags}
	t.Cleanup(func() {
		n.kill()
		if t.Failed() {
			t.Logf("the end of what the server at %s said:\n%s", n.address, &n.log)
		}
	})
	return n
}

// start runs the node and waits until it is ready.
func (n *node) start() {
	n.t.Helper()
	n.launch()
	n.ready()
}

func (n *node) launch() {
	n.t.Helper()
	cmd := exec.Command(n.program, append([]string{"serve", "--data", n.dir, "--listen", n.address, "--owner", owner, "--domain", "harbour.example", "--log-level", "warn", "--limit=all=0", "--no-link-previews"}, n.flags...)...)
	cmd.Stdout, cmd.Stderr = &n.log, &n.log
	if err := cmd.Start(); err != nil {
		n.t.Fatalf("couldn't start the server: %v", err)
	}
	n.process = cmd
}

func (n *node) ready() {
	n.t.Helper()
	n.run("health", "--wait", "60s", "--url", "http://"+n.address)
}

// kill ends the process as a power cut would; one that doesn't run stays so.
func (n *node) kill() {
	if n.process == nil {
		return
	}
	_ = n.process.Process.Kill()
	_ = n.process.Wait()
	n.process = nil
}

// run runs another command of the program and answers what it printed.
func (n *node) run(args ...string) string {
	n.t.Helper()
	cmd := exec.Command(n.program, args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("ubl %s: %v\n%s", strings.Join(args, " "), err, &complaint)
	}
	return strings.TrimSpace(string(out))
}

var linkForm = regexp.MustCompile(`http://localhost:\d+/signin/[0-9a-f]{32}`)

// link is the newest sign-in link that the first node printed; it is the owner's.
func (s *server) link() string {
	s.t.Helper()
	link := ""
	poll.Until(s.t, "serve prints a sign-in link", func() bool {
		for line := range lines(s.nodes[0].log.String()) {
			if found := linkForm.FindString(line); found != "" {
				link = found
			}
		}
		return link != ""
	})
	return link
}

// nextLink starts the first node again, which prints another link.
func (s *server) nextLink() string {
	s.t.Helper()
	last := s.link()
	s.restart(s.nodes[0], func() {})
	poll.Until(s.t, "serve prints another link", func() bool { return s.link() != last })
	return s.link()
}

func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan() && yield(scan.Text()); {
		}
	}
}

// client is the API with somebody's token.
func (s *server) client(email string) *client {
	s.t.Helper()
	n := s.nodes[0]
	return newClient(s.t, s.url, n.run("token", email, "--data", n.dir))
}

// restart kills a node and starts it again over the same directory after meanwhile.
func (s *server) restart(n *node, meanwhile func()) {
	s.t.Helper()
	n.kill()
	meanwhile()
	n.start()
}

// direct is the server for those who come to its first node and not by the front.
func (s *server) direct() *server {
	return &server{t: s.t, url: localhost(s.nodes[0].address), nodes: s.nodes}
}

// localhost is the URL of an address on this machine, by the name that it has for
// browsers.
func localhost(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return "http://localhost:" + port
}
