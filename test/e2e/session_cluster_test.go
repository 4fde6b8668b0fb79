package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl/test/built"
	"ubl/test/ports"
)

// newCluster starts three nodes with an operator, and waits until each has its
// sign-in link: from then on it takes requests.
func newCluster(t *testing.T, args ...string) []*node {
	t.Helper()
	return newClusterOf(t, built.Path(t), args...)
}

// newClusterOf is newCluster of another program.
func newClusterOf(t *testing.T, path string, args ...string) []*node {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte((&node{t: t, path: path}).run("cluster", "secret")), 0o600))
	var nodes []*node
	var first string
	for i := range 3 {
		at := ports.Free(t)
		more := []string{"--node-id", fmt.Sprintf("n%d", i+1), "--cluster-listen", at, "--cluster-secret-file", secret}
		if i > 0 {
			more = append(more, "--join", first)
		} else {
			first = at
		}
		n := newNodeOf(t, path, append(more, args...)...)
		n.signInLink(t)
		nodes = append(nodes, n)
	}
	return nodes
}

// url is a path on the node as a browser names it.
func (n *node) url(path string) string {
	_, port, _ := net.SplitHostPort(n.addr)
	return "http://localhost:" + port + path
}

// eventually asks until the status is as wanted, for much less time than a node
// waits before it asks about a token again.
func (v visitor) eventually(method, url string, want int) {
	v.t.Helper()
	status := 0
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		req, err := http.NewRequest(method, url, nil)
		must(v.t, err)
		resp, err := v.Do(req)
		must(v.t, err)
		_ = resp.Body.Close()
		if status = resp.StatusCode; status == want {
			return
		}
	}
	v.t.Errorf("%s %s is answered %d, want %d", method, url, status, want)
}

// listen opens the tenant's stream; the channel is closed when that ends.
func (v visitor) listen(url string) <-chan struct{} {
	v.t.Helper()
	resp, err := v.Get(url)
	must(v.t, err)
	if resp.StatusCode != http.StatusOK {
		v.t.Fatalf("the stream is answered %d", resp.StatusCode)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	return ended
}

// TestSessionInACluster: any node takes the link that another printed, once; the
// session holds on all of them; signing out everywhere ends it on all of them, and
// its streams.
func TestSessionInACluster(t *testing.T) {
	nodes := newCluster(t, "--owner", "ana@link.example")
	_, code, _ := strings.Cut(nodes[0].signInLink(t), "/signin/")
	v := newVisitor(t)
	v.eventually("GET", nodes[2].url("/signin/"+code), http.StatusOK)
	v.ask("POST", nodes[2].url("/signin/"+code), http.StatusSeeOther)
	for _, n := range nodes {
		newVisitor(t).ask("POST", n.url("/signin/"+code), http.StatusNotFound)
		v.ask("GET", n.url("/api/whoami"), http.StatusOK)
	}
	ended := v.listen(nodes[1].url("/api/events"))
	if said := v.ask("DELETE", nodes[0].url("/api/tokens"), http.StatusOK); !strings.Contains(said, `"revoked":1`) {
		t.Errorf("signing out everywhere is answered %s", said)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the stream outlives its session")
	}
	for _, n := range nodes {
		v.eventually("GET", n.url("/api/whoami"), http.StatusUnauthorized)
	}
}
