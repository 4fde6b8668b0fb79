package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ubl/test/poll"
)

// upload is what the tests look at in an upload and in a file.
type upload struct {
	Upload struct {
		UploadID string `json:"upload_id"`
		Offset   int64  `json:"offset"`
	} `json:"upload"`
}

type putFile struct {
	File struct {
		FileID string `json:"file_id"`
		SHA256 string `json:"sha256"`
		Bytes  int64  `json:"bytes"`
	} `json:"file"`
}

const filesOf = "/api/workspaces/w:general"

// bring sends bytes of an upload, and cuts the connection after so many unless that is all.
func (c *client) bring(ctx context.Context, id string, content []byte, offset int64, cut int) (int64, error) {
	var body io.Reader = bytes.NewReader(content[offset:])
	if cut > 0 {
		body = io.MultiReader(bytes.NewReader(content[offset:offset+int64(cut)]), broken{})
	}
	r, err := http.NewRequestWithContext(ctx, "PATCH", c.base+"/api/uploads/"+id, body)
	if err != nil {
		return 0, err
	}
	r.ContentLength = int64(len(content)) - offset
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/partial-upload")
	r.Header.Set("Upload-Offset", strconv.FormatInt(offset, 10))
	resp, err := (&http.Client{}).Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusNoContent {
		return 0, &errStatus{resp.StatusCode, string(text)}
	}
	return strconv.ParseInt(resp.Header.Get("Upload-Offset"), 10, 64)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the cable was pulled") }

// begin begins an upload, and reach waits until it is known how far it is.
func (c *client) begin(ctx context.Context, t *testing.T, content []byte) (u upload) {
	t.Helper()
	must(t, c.persist(ctx, "POST", filesOf+"/uploads", "", map[string]any{"name": "big.bin", "bytes": len(content)}, &u))
	return u
}

func (c *client) reach(ctx context.Context, t *testing.T, id string) (u upload) {
	t.Helper()
	must(t, c.persist(ctx, "GET", "/api/uploads/"+id, "", nil, &u))
	return u
}

// content gets a file's content, whole or a range.
func (c *client) content(ctx context.Context, t *testing.T, id string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", c.base+filesOf+"/files/"+id+"/content", http.NoBody)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{}).Do(r)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp, data
}

// blobFiles are the files that a node has in its folder of blobs.
func (n *node) blobFiles(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(n.dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, filepath.Base(path))
		}
		return err
	})
	must(t, err)
	return list
}

func noise(n int) ([]byte, string) {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	sum := sha256.Sum256(b)
	return b, hex.EncodeToString(sum[:])
}

// TestUploadOutlivesKills: a connection that is cut and processes that are killed at any moment
// cost no more than the bytes since the last checkpoint; what is put is read, resumed and
// listed again; a backup has it.
func TestUploadOutlivesKills(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n := newNode(t)
	c := n.client(n.token("ana@ours.example"))
	content, sum := noise(20 << 20)
	u := c.begin(ctx, t, content)
	id := u.Upload.UploadID
	if _, err := c.bring(ctx, id, content, 0, 3<<20); err == nil {
		t.Error("a cut connection is answered")
	}
	if u = c.reach(ctx, t, id); u.Upload.Offset == 0 {
		t.Errorf("after 3 MiB and a cut the upload is at %d", u.Upload.Offset)
	}
	durable := u.Upload.Offset
	killed := make(chan error, 1)
	go func() { _, err := c.bring(ctx, id, content, durable, 10<<20); killed <- err }()
	poll.Until(t, "bytes come in", func() bool {
		info, err := os.Stat(filepath.Join(n.dir, "blobs", "uploads", strings.Replace(id, ":", "_", 1), "data"))
		return err == nil && info.Size() > durable
	})
	n.kill()
	<-killed
	n.start()
	if u = c.reach(ctx, t, id); u.Upload.Offset < durable {
		t.Errorf("what was durable at %d is at %d", durable, u.Upload.Offset)
	}
	if at, err := c.bring(ctx, id, content, u.Upload.Offset, 0); err != nil || at != int64(len(content)) {
		t.Fatalf("the rest leads to %d, %v", at, err)
	}
	n.kill()
	n.start()
	var put, again putFile
	must(t, c.persist(ctx, "POST", filesOf+"/files", "key-1", map[string]any{"upload_id": id}, &put))
	n.kill()
	n.start()
	must(t, c.persist(ctx, "POST", filesOf+"/files", "key-1", map[string]any{"upload_id": id}, &again))
	if put != again || put.File.SHA256 != sum || put.File.Bytes != int64(len(content)) {
		t.Errorf("put as %+v, again as %+v", put, again)
	}
	resp, got := c.content(ctx, t, put.File.FileID)
	if resp.StatusCode != 200 || !bytes.Equal(got, content) {
		t.Errorf("read are %d bytes with %d", len(got), resp.StatusCode)
	}
	resp, got = c.content(ctx, t, put.File.FileID, "Range", "bytes=1000-1999", "If-Range", resp.Header.Get("ETag"))
	if resp.StatusCode != 206 || !bytes.Equal(got, content[1000:2000]) {
		t.Errorf("a range is %d bytes with %d", len(got), resp.StatusCode)
	}
	n.backedUp(t, c, put.File.FileID, content)
}

// backedUp wants a backup of the node to have a file's content.
func (n *node) backedUp(t *testing.T, c *client, file string, content []byte) {
	t.Helper()
	n.stop()
	if out := n.run("scrub", "--data", n.dir, "--quiet"); !strings.Contains(out, "ok: 1 content of files, ") {
		t.Errorf("the scrub says\n%s", out)
	}
	archive, restored := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "restored")
	n.run("backup", archive, "--data", n.dir, "--quiet")
	n.run("restore", archive, "--data", restored, "--identity-key", filepath.Join(n.dir, "identity.key"), "--quiet")
	n.dir = restored
	n.start()
	if resp, got := c.content(t.Context(), t, file); resp.StatusCode != 200 || !bytes.Equal(got, content) {
		t.Errorf("restored are %d bytes with %d", len(got), resp.StatusCode)
	}
}

// TestFileCommands: `ubl file` puts, lists, gets and removes; a killed `put` leaves an upload that
// another goes on with, and a broken `get` goes on where it was.
func TestFileCommands(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n := newNode(t)
	token := n.token("ana@ours.example")
	t.Setenv("UBL_TOKEN", token)
	t.Setenv("UBL_URL", "http://"+n.addr)
	content, sum := noise(5 << 20)
	path := filepath.Join(t.TempDir(), "my file.bin")
	must(t, os.WriteFile(path, content, 0o600))
	out := n.run("file", "put", path, "--json", "--quiet")
	var put struct {
		FileID string `json:"file_id"`
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}
	must(t, json.Unmarshal([]byte(out), &put))
	if put.Name != "my file.bin" || put.SHA256 != sum {
		t.Errorf("put as %s", out)
	}
	c := n.client(token)
	u := c.begin(ctx, t, content)
	_, _ = c.bring(ctx, u.Upload.UploadID, content, 0, 2<<20)
	if out := n.run("file", "put", path, "--upload", u.Upload.UploadID, "--quiet"); !strings.HasPrefix(out, "put f:") {
		t.Errorf("gone on with: %s", out)
	}
	if out := n.run("file", "list"); strings.Count(out, "f:") != 2 || !strings.Contains(out, "my file.bin") {
		t.Errorf("listed is\n%s", out)
	}
	to := filepath.Join(t.TempDir(), "copy.bin")
	part := to + "." + sum[:16] + ".part"
	must(t, os.WriteFile(part, content[:1<<20], 0o600)) // of a broken one
	n.run("file", "get", put.FileID, to, "--quiet")
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part is left: %v", err)
	}
	if out := n.run("file", "get", put.FileID, "-", "--quiet"); out != string(content) {
		t.Errorf("to standard output come %d bytes", len(out))
	}
	for _, args := range [][]string{{"file", "get", put.FileID, to}, {"file", "get", "f:none"}, {"file", "put", path, "--upload", "up:" + strings.Repeat("0", 40)}} {
		if out, err := exec.Command(n.path, args...).CombinedOutput(); err == nil {
			t.Errorf("ubl %v goes well: %s", args, out)
		}
	}
	if out := n.run("file", "remove", put.FileID); !strings.HasPrefix(out, "removed f:") {
		t.Errorf("removed: %s", out)
	}
	if out := n.run("file", "list"); strings.Count(out, "f:") != 1 {
		t.Errorf("listed afterwards is\n%s", out)
	}
}

// TestFilesOverMCP: an agent puts a short file, and reads it as a resource.
func TestFilesOverMCP(t *testing.T) {
	n := newNode(t)
	a := n.bearer("agent", n.token("ana@ours.example"))
	a.opensMCP()
	status, answer := a.tool("office.file.put", `{"workspace_id":"w:general","name":"notes.txt","content_type":"text/plain","text":"take notes"}`)
	_, rest, ok := strings.Cut(strings.ReplaceAll(answer, `\"`, `"`), `"file_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if status != 200 || !ok {
		t.Fatalf("put: %d %s", status, answer)
	}
	listed := ""
	for cursor, pages := "", 0; pages < 10; pages++ {
		_, page := a.call("resources/list", fmt.Sprintf(`{"cursor":%q}`, cursor))
		listed += page
		_, rest, more := strings.Cut(page, `"nextCursor":"`)
		if cursor, _, _ = strings.Cut(rest, `"`); !more {
			break
		}
	}
	if !strings.Contains(listed, "ubl://files/w:general/"+id) || !strings.Contains(listed, `"notes.txt"`) {
		t.Errorf("listed are %s", listed)
	}
	status, answer = a.call("resources/read", fmt.Sprintf(`{"uri":"ubl://files/w:general/%s"}`, id))
	if status != 200 || !strings.Contains(answer, "take notes") || !strings.Contains(answer, "text/plain") {
		t.Errorf("read: %d %s", status, answer)
	}
}

// TestUploadLosesItsNode: in a cluster whose node is killed in the middle of an upload nothing
// half remains; its sender begins again at another node, is acknowledged by the two that are left,
// and the third has the content when it is back.
func TestUploadLosesItsNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	nodes := newCluster(t, "--operator", "ops@localhost")
	nodes[0].everywhere(t)
	token := nodes[0].token("ana@ours.example")
	first, second := nodes[0].client(token), nodes[1].client(token)
	content, sum := noise(8 << 20)
	u := first.begin(ctx, t, content)
	// By way of another node, as a balancer may have it.
	if at, err := second.bring(ctx, u.Upload.UploadID, content[:2<<20], 0, 0); err != nil || at != 2<<20 {
		t.Errorf("brought up to %d, %v", at, err)
	}
	if u = second.reach(ctx, t, u.Upload.UploadID); u.Upload.Offset != 2<<20 {
		t.Errorf("by way of another node the upload is at %d", u.Upload.Offset)
	}
	nodes[0].kill()
	if at, err := second.bring(ctx, u.Upload.UploadID, content, 2<<20, 0); err == nil {
		t.Errorf("a node that is gone takes bytes up to %d", at)
	}
	var gone *errStatus
	poll.Until(t, "the upload is known to be lost", func() bool {
		err := second.do(ctx, "GET", "/api/uploads/"+u.Upload.UploadID, "", nil, nil)
		return errors.As(err, &gone) && gone.status == http.StatusNotFound
	})
	u = second.begin(ctx, t, content)
	if at, err := second.bring(ctx, u.Upload.UploadID, content, 0, 0); err != nil || at != int64(len(content)) {
		t.Fatalf("brought up to %d, %v", at, err)
	}
	var put putFile
	must(t, second.persist(ctx, "POST", filesOf+"/files", "key-1", map[string]any{"upload_id": u.Upload.UploadID}, &put))
	has := func(n *node) bool {
		for _, name := range n.blobFiles(t) {
			if name == sum {
				return true
			}
		}
		return false
	}
	if put.File.SHA256 != sum || !has(nodes[1]) || !has(nodes[2]) {
		t.Errorf("put as %+v; the nodes have it: %t, %t", put, has(nodes[1]), has(nodes[2]))
	}
	for _, n := range nodes[1:] {
		if left := n.blobFiles(t); len(left) > 3 { // the blob, and a session's record that is kept for retries
			t.Errorf("%s has %v", n.addr, left)
		}
	}
	nodes[0].start()
	poll.Until(t, "the node that was lost has the content", func() bool { return has(nodes[0]) })
	for _, n := range nodes {
		if resp, got := n.client(token).content(ctx, t, put.File.FileID); resp.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("%s sends %d bytes with %d", n.addr, len(got), resp.StatusCode)
		}
	}
}
