package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl/test/poll"
)

// publicLease is how long a node may show what was true when it asked last.
const publicLease = time.Second

// handbook is a public container with a document, which ana may change by any node.
type handbook struct {
	t             *testing.T
	ana           *client
	at, doc, seen string // seen is where anyone reads the document
	version       int
}

var anyonesPhysics = map[string]string{"fungibility": "versioned", "topology": "objects", "permeability": "public", "execution": "disabled"}

func publish(ctx context.Context, t *testing.T, n *node) *handbook {
	b := &handbook{t: t, ana: n.client(n.token("ana@ours.example"))}
	var made struct {
		Container struct {
			ID string `json:"container_id"`
		}
	}
	must(t, b.ana.persist(ctx, "POST", "/api/containers", "make", map[string]any{"kind": "container", "name": "Handbook", "physics": anyonesPhysics}, &made))
	var written struct {
		Document struct {
			ID string `json:"document_id"`
		}
	}
	b.at, b.version = made.Container.ID, 1
	must(t, b.ana.persist(ctx, "POST", "/api/workspaces/"+b.at+"/documents", "write", map[string]string{"title": "Rules", "content": "version 1"}, &written))
	b.doc = written.Document.ID
	b.seen = fmt.Sprintf("/public/t:ours.example/%s/documents/%s", b.at, b.doc)
	return b
}

// change makes the next version.
func (b *handbook) change(ctx context.Context) {
	b.t.Helper()
	b.version++
	body := map[string]string{"content": fmt.Sprint("version ", b.version)}
	must(b.t, b.ana.persist(ctx, "PATCH", "/api/workspaces/"+b.at+"/documents/"+b.doc, fmt.Sprint("change", b.version), body, nil))
}

// end ends its Agreement.
func (b *handbook) end(ctx context.Context) {
	b.t.Helper()
	must(b.t, b.ana.persist(ctx, "POST", "/api/agreements/a:container:"+b.at+"/end", "end", map[string]string{}, nil))
}

// newest is what of the newest version a reader must see.
func (b *handbook) newest() string { return fmt.Sprintf(`"content":"version %d"`, b.version) }

// anyone reads a path of a node without a credential.
func (n *node) anyone(t *testing.T, path string, header ...string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+n.addr+path, nil)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(data)
}

// TestPublicOnOneNode: a change shows with the next read, and so does the end. Nothing of a
// read is on record, and the app isn't under the name for what is public.
func TestPublicOnOneNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n := newNode(t, "--public-host", "docs.ours.example")
	b := publish(ctx, t, n)
	head := ledgerHead(ctx, t, b.ana)
	for range 50 {
		if status, body := n.anyone(t, b.seen); status != http.StatusOK || !strings.Contains(body, b.newest()) {
			t.Fatalf("version %d is answered %d %s", b.version, status, body)
		}
	}
	if after := ledgerHead(ctx, t, b.ana); after != head {
		t.Errorf("reads have moved the ledger's head from %s to %s", head, after)
	}
	for range 50 {
		b.change(ctx)
		if status, body := n.anyone(t, b.seen); status != http.StatusOK || !strings.Contains(body, b.newest()) {
			t.Fatalf("right after its change version %d is answered %d %s", b.version, status, body)
		}
	}
	host := []string{"Host", "docs.ours.example"}
	if status, body := n.anyone(t, strings.TrimPrefix(b.seen, "/public"), host...); status != http.StatusOK || !strings.Contains(body, b.newest()) {
		t.Errorf("by its host it is answered %d %s", status, body)
	}
	for _, path := range []string{"/", "/ui/", "/api/whoami", "/api/openapi.json", "/healthz", "/metrics", "/mcp", b.seen} {
		if status, _ := n.anyone(t, path, host...); status != http.StatusNotFound {
			t.Errorf("under that host %s is answered %d", path, status)
		}
	}
	_, figures := n.anyone(t, "/metrics")
	for _, want := range []string{`ubl_public_reads_total{result="cached"}`, `route="/public/*"`} {
		if !strings.Contains(figures, want) {
			t.Errorf("the figures have no %s", want)
		}
	}
	b.end(ctx)
	if status, body := n.anyone(t, b.seen); status != http.StatusNotFound {
		t.Errorf("after the end it is answered %d %s", status, body)
	}
}

// TestPublicOnThreeNodes: a read that begins later than a lease after a change shows it, on
// each node. One that can't ask whether its copy is still right shows nothing.
func TestPublicOnThreeNodes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	nodes := newCluster(t, "--operator", "ops@localhost")
	nodes[0].everywhere(t)
	b := publish(ctx, t, nodes[0])
	within := func(what string, so func(status int, body string) bool) {
		t.Helper()
		changed := time.Now()
		for _, n := range nodes {
			for {
				began := time.Now()
				status, body := n.anyone(t, b.seen)
				if so(status, body) {
					break
				}
				if began.Sub(changed) > publicLease && status != http.StatusServiceUnavailable {
					t.Fatalf("%s, %s after it, is answered %d %s at %s", what, began.Sub(changed), status, body, n.addr)
				}
			}
		}
	}
	for range 10 {
		within("a version", func(status int, body string) bool {
			return status == http.StatusOK && strings.Contains(body, b.newest())
		})
		b.change(ctx)
	}
	within("the last version", func(status int, body string) bool {
		return status == http.StatusOK && strings.Contains(body, b.newest())
	})

	for _, n := range nodes[1:] {
		n.kill()
		n.proc = nil
	}
	poll.Until(t, "a node alone shows nothing that it can't ask about", func() bool {
		status, _ := nodes[0].anyone(t, b.seen)
		return status == http.StatusServiceUnavailable
	})
	for _, n := range nodes[1:] {
		n.start()
	}
	poll.Until(t, "with the others it shows it again", func() bool {
		status, _ := nodes[0].anyone(t, b.seen)
		return status == http.StatusOK
	})
	b.end(ctx)
	within("the end", func(status int, _ string) bool { return status == http.StatusNotFound })
}
