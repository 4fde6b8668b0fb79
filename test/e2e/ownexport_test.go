package e2e

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"ubl/test/poll"
)

// export begins to take one's own data home.
func (c *client) export(ctx context.Context, t *testing.T) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", c.base+"/api/me/export", http.NoBody)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := (&http.Client{}).Do(r)
	must(t, err)
	return resp
}

// isOf reports whether a zip file is whole, and has a content in it.
func isOf(t *testing.T, data, content []byte) bool {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false
	}
	var manifest struct {
		Counts struct{ Messages, Uploads int64 }
		Left   []any `json:"left_out"`
	}
	found := false
	for _, f := range r.File {
		in, err := f.Open()
		must(t, err)
		got, err := io.ReadAll(in)
		must(t, err)
		found = found || bytes.Equal(got, content)
		if f.Name == "manifest.json" {
			must(t, json.Unmarshal(got, &manifest))
		}
	}
	if manifest.Counts.Messages != 1 || manifest.Counts.Uploads != 1 || len(manifest.Left) > 0 {
		t.Errorf("the manifest says %+v", manifest)
	}
	return found
}

// TestOwnDataByAnyNode: people take their data home by each node, wherever it is. A node that is killed meanwhile leaves
// nothing that looks whole, and it keeps nobody from another copy.
func TestOwnDataByAnyNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	nodes := newCluster(t, "--operator", "ops@localhost")
	nodes[0].everywhere(t)
	token := nodes[0].token("ana@ours.example")
	ana := nodes[0].client(token)
	must(t, ana.persist(ctx, "POST", "/api/rooms/r:general/messages", "say", map[string]any{"type": "text", "body": map[string]string{"text": "hello"}}, nil))
	content, _ := noise(16 << 20)
	u := ana.begin(ctx, t, content)
	_, err := ana.bring(ctx, u.Upload.UploadID, content, 0, 0)
	must(t, err)
	must(t, ana.persist(ctx, "POST", filesOf+"/files", "put", map[string]string{"upload_id": u.Upload.UploadID}, nil))
	for _, n := range nodes {
		resp := n.client(token).export(ctx, t)
		data, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !isOf(t, data, content) {
			t.Errorf("by %s: %d, %d bytes, %v", n.addr, resp.StatusCode, len(data), err)
		}
	}

	killed := nodes[2]
	resp := killed.client(token).export(ctx, t)
	data := make([]byte, 1<<20)
	_, err = io.ReadFull(resp.Body, data)
	must(t, err)
	killed.kill()
	killed.proc = nil
	rest, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err == nil || isOf(t, append(data, rest...), content) {
		t.Errorf("of a node that was killed come %d bytes, %v", len(data)+len(rest), err)
	}
	killed.start()
	poll.Until(t, "the node gives out a whole one again", func() bool {
		resp := killed.client(token).export(ctx, t)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK && isOf(t, data, content)
	})
}
