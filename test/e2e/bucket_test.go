package e2e

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/s3server"
)

// inBucket has a program keep contents in a store that speaks S3.
func inBucket(t *testing.T, s *s3server.Server) []string {
	t.Setenv("UBL_S3_SECRET", s3server.Secret)
	return []string{
		"--s3-endpoint", s.URL(), "--s3-bucket", s3server.Bucket, "--s3-region", s3server.Region, "--s3-access-key", s3server.AccessKey, "--s3-prefix", "ubl",
	}
}

// TestFilesInABucket: with a store that speaks S3 contents are there and not in the data directory;
// a backup takes them out of one bucket, and a restore puts them into another.
func TestFilesInABucket(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	first, second := inBucket(t, s3server.Start(t)), inBucket(t, s3server.Start(t))
	n := newNode(t, first...)
	c := n.client(n.token("ana@ours.example"))
	content, sum := noise(6 << 20)
	u := c.begin(ctx, t, content)
	if at, err := c.bring(ctx, u.Upload.UploadID, content, 0, 0); err != nil || at != int64(len(content)) {
		t.Fatalf("brought up to %d, %v", at, err)
	}
	var put putFile
	must(t, c.persist(ctx, "POST", filesOf+"/files", "key-1", map[string]any{"upload_id": u.Upload.UploadID}, &put))
	if put.File.SHA256 != sum {
		t.Errorf("put as %+v", put)
	}
	for _, name := range n.blobFiles(t) {
		if name == sum || name == "data" {
			t.Errorf("the data directory has %s", name)
		}
	}
	if resp, got := c.content(ctx, t, put.File.FileID, "Range", "bytes=5000000-5000999"); resp.StatusCode != 206 || !bytes.Equal(got, content[5_000_000:5_001_000]) {
		t.Errorf("a range is %d bytes with %d", len(got), resp.StatusCode)
	}
	n.stop()
	archive, restored := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "restored")
	n.run(append([]string{"backup", archive, "--data", n.dir, "--quiet"}, first...)...)
	n.run(append([]string{"restore", archive, "--data", restored, "--identity-key", filepath.Join(n.dir, "identity.key"), "--quiet"}, second...)...)
	n.dir, n.args = restored, second
	n.start()
	if resp, got := c.content(ctx, t, put.File.FileID); resp.StatusCode != 200 || !bytes.Equal(got, content) {
		t.Errorf("restored are %d bytes with %d", len(got), resp.StatusCode)
	}
	if names := strings.Join(n.blobFiles(t), " "); strings.Contains(names, sum) {
		t.Errorf("the restored directory has %s", names)
	}
}

// TestClusterWithABucket: what one node puts all nodes read, with none of it on their disks, and
// also once the node that took it is gone. The bucket has it once.
func TestClusterWithABucket(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := s3server.Start(t)
	nodes := newCluster(t, append(inBucket(t, s), "--operator", "ops@localhost")...)
	token := nodes[0].token("ana@ours.example")
	content, sum := noise(6 << 20)
	put := func(n *node, key string) string {
		t.Helper()
		c := n.client(token)
		u := c.begin(ctx, t, content)
		if at, err := c.bring(ctx, u.Upload.UploadID, content, 0, 0); err != nil || at != int64(len(content)) {
			t.Fatalf("brought up to %d, %v", at, err)
		}
		var made putFile
		must(t, c.persist(ctx, "POST", filesOf+"/files", key, map[string]any{"upload_id": u.Upload.UploadID}, &made))
		return made.File.FileID
	}
	first := put(nodes[0], "first")
	second := put(nodes[1], "second")
	read := func(n *node, file string) {
		t.Helper()
		if resp, got := n.client(token).content(ctx, t, file); resp.StatusCode != 200 || !bytes.Equal(got, content) {
			t.Errorf("read are %d bytes with %d", len(got), resp.StatusCode)
		}
	}
	for _, n := range nodes {
		read(n, first)
		read(n, second)
		if names := strings.Join(n.blobFiles(t), " "); strings.Contains(names, sum) {
			t.Errorf("a node's disk has %s", names)
		}
	}
	if objects, err := filepath.Glob(filepath.Join(s.Objects(), "ubl", "*", "*")); err != nil || len(objects) != 1 || filepath.Base(objects[0]) != sum {
		t.Errorf("in the bucket are %v, %v", objects, err)
	}
	nodes[0].everywhere(t)
	nodes[0].kill()
	for _, n := range nodes[1:] { // until partitions that it led have other leaders
		must(t, n.client(token).persist(ctx, "GET", filesOf+"/files/"+first, "", nil, nil))
	}
	read(nodes[1], first)
	read(nodes[2], first)
}
