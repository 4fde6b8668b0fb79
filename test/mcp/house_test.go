package mcp_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport"
	"ubl/transport/api"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

var ana = harness.User("ana@acme.com")

// house is the real actors behind MCP servers, each a node of its own, that have
// what the conformance suite wants. Everyone who comes is ana: the suite has no
// way to send a credential.
type house struct {
	*harness.House
	nodes []string // URLs
}

// open opens a house of some nodes.
func open(t *testing.T, nodes int) *house {
	t.Helper()
	h := &house{House: harness.Open(t, harness.Options{})}
	h.Enter(ana)
	for range nodes {
		h.nodes = append(h.nodes, h.node(t))
	}
	return h
}

// node serves /mcp.
func (h *house) node(t *testing.T) string {
	t.Helper()
	changed := func() {
		harness.Must[*ubl.ToolAccess](h.House, ubl.TenantName(ana.TenantID), ubl.SetToolAccess{Request: h.Request(ana), Tool: "test.changed", Allowed: true})
	}
	s, err := mcp.New(mcp.Options{
		Acts:  api.New(api.Options{Asker: envelope.Entering(h.Runtime), Now: h.Clock.Now, Version: "test"}).Acts(),
		Asker: envelope.Entering(h.Runtime), Feed: h.Runtime,
		SessionKey: bytes.Repeat([]byte("k"), 32), Version: "test", Foreign: transport.Foreign(nil, ""),
		Extra: fixtures(changed),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h.door(s.Handler()))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("channels didn't end: %v", err)
		}
	})
	return server.URL
}

// door gives requests an id and a caller.
func (h *house) door(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(transport.RequestIDHeader)
		if !ubl.ValidRequestID(id) {
			id = h.Request(ana).ID
		}
		ctx := envelope.WithRequest(r.Context(), &envelope.Request{ID: id, Key: id, At: ubl.TimeOf(h.Clock.Now())})
		caller := &envelope.Caller{Identity: ana}
		ctx = envelope.WithCaller(ctx, caller)
		caller.Enters(ubl.Enter{Request: envelope.Command(ctx, ""), Act: true}, h.Runtime)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// front is a balancer that sends each request to the next node. It is reached as
// localhost, which the suite insists on.
func (h *house) front(t *testing.T) string {
	t.Helper()
	var next atomic.Int64
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(h.nodes[int(next.Add(1))%len(h.nodes)])
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}
