package mcp_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ubl/test/ports"
)

// startCluster runs two nodes that are one server. Both have the key, so the
// first one's token holds on both.
func startCluster(t *testing.T, flags ...string) []*program {
	t.Helper()
	path, err := fixed()
	if err != nil {
		t.Fatalf("couldn't build the program: %v", err)
	}
	secret, err := exec.Command(path, "cluster", "secret").Output()
	if err != nil {
		t.Fatalf("couldn't make a secret: %v", err)
	}
	file := filepath.Join(t.TempDir(), "cluster.secret")
	if err := os.WriteFile(file, secret, 0o400); err != nil {
		t.Fatal(err)
	}
	meeting := []string{ports.Free(t), ports.Free(t)}
	var nodes []*program
	for i, id := range []string{"n1", "n2"} {
		nodes = append(nodes, prepare(t, fixed, append(slices.Clone(flags), "--node-id", id, "--cluster-secret-file", file, "--cluster-listen", meeting[i],
			"--join", strings.Join(meeting, ","), "--bootstrap-expect", "2")...))
	}
	for _, n := range nodes { // they wait for each other
		n.launch(t)
	}
	for _, n := range nodes {
		n.ready(t)
	}
	nodes[0].signIn(t)
	return nodes
}

// front is a balancer that sends each request to the next node. The suite has no
// way to send a credential, so everyone who comes by here is ana; it is reached
// as localhost, which the suite insists on.
func front(t *testing.T, nodes ...*program) string {
	t.Helper()
	var next atomic.Int64
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Transport: transport, ErrorLog: log.New(t.Output(), "balancer: ", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			node := nodes[int(next.Add(1))%len(nodes)]
			r.SetURL(&url.URL{Scheme: "http", Host: node.address})
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+nodes[0].token)
		}}
	server := httptest.NewServer(whole(proxy))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// whole reads a request to its end before it is passed on: a node may answer
// sooner than a ReverseProxy has noticed that end, and then it cuts the answer off
// (golang/go#40747).
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
