package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ubl"
	"ubl/blobs/bucket"
	"ubl/test/ports"
)

const acme, other = ubl.TenantID("t:acme.com"), ubl.TenantID("t:else.org")

// store is a server that others wrote, as a process of its own over a directory.
type store struct {
	t    *testing.T
	path string
	dir  string
	addr string
	proc *exec.Cmd
}

// newStore builds and starts the server, with a bucket.
func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{t: t, path: filepath.Join(t.TempDir(), "s3"), dir: t.TempDir(), addr: ports.Free(t)}
	build := exec.Command("go", "build", "-o", s.path, "github.com/johannesboyne/gofakes3/cmd/gofakes3")
	build.Dir = "../../test/s3"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("couldn't build the S3 server: %v\n%s", err, out)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *store) start() {
	s.t.Helper()
	s.proc = exec.Command(s.path, "-host", s.addr, "-backend", "bolt", "-bolt.db", filepath.Join(s.dir, "db"), "-initialbucket", "files")
	if err := s.proc.Start(); err != nil {
		s.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the S3 server doesn't listen")
		}
	}
}

func (s *store) stop() {
	if s.proc != nil {
		_ = s.proc.Process.Kill()
		_ = s.proc.Wait()
		s.proc = nil
	}
}

func (s *store) open(prefix string) (*bucket.Bucket, error) {
	return bucket.Open(context.Background(), bucket.Options{
		Endpoint: "http://" + s.addr, Region: "us-east-1", Bucket: "files", Prefix: prefix, AccessKey: "key", SecretKey: "secret", Transport: http.DefaultTransport,
	})
}

func staged(t *testing.T, content []byte) (string, ubl.BlobID) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, ubl.BlobIDOf(sha256.Sum256(content))
}

// TestBucket: what is kept is read, whole and in parts, listed and removed; tenants are apart.
func TestBucket(t *testing.T) {
	s := newStore(t)
	b, err := s.open("/some/where/")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, n := range []int{0, 1000, 20 << 20} { // the last one in parts
		content := bytes.Repeat([]byte("0123456789abcdef"), n/16)
		path, id := staged(t, content)
		if err := b.Keep(ctx, acme, id, path); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d bytes: the file is left: %v", n, err)
		}
		if err := b.Keep(ctx, acme, id, path); err != nil { // after an answer that was lost
			t.Errorf("%d bytes: again: %v", n, err)
		}
		r, err := b.Open(ctx, acme, id)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
		if size, err := r.Seek(0, io.SeekEnd); err != nil || size != int64(len(content)) {
			t.Errorf("%d bytes: the end is at %d, %v", n, size, err)
		}
		if _, err := r.Seek(int64(len(content)/2), io.SeekStart); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content[len(content)/2:]) {
			t.Errorf("%d bytes: the second half is %d, %v", n, len(got), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := b.Open(ctx, other, id); n > 0 && ubl.CodeOf(err) != ubl.CodeNotFound {
			t.Errorf("%d bytes: another tenant's: %v", n, err)
		}
	}
	var listed []ubl.BlobID
	if err := b.Each(ctx, func(tenant ubl.TenantID, blob ubl.Blob) error {
		if tenant == acme {
			listed = append(listed, blob.ID)
		}
		return nil
	}); err != nil || len(listed) != 2 {
		t.Errorf("listed are %v, %v", listed, err)
	}
	if removed, err := b.Remove(ctx, acme, listed[0], ubl.TimeOf(time.Now().Add(-time.Hour))); removed || err != nil {
		t.Errorf("a new one is removed: %t, %v", removed, err)
	}
	for i, want := range []bool{true, false} {
		if removed, err := b.Remove(ctx, acme, listed[0], ubl.TimeOf(time.Now().Add(time.Hour))); removed != want || err != nil {
			t.Errorf("removed for the %d. time: %t, %v", i+1, removed, err)
		}
	}
	_, id := staged(t, []byte("never kept"))
	if err := b.Keep(ctx, acme, id, filepath.Join(t.TempDir(), "nothing")); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("kept without a file: %v", err)
	}
}

// TestStoreIsAway: while the store can't be reached all is unavailable, and what was to be kept is
// kept once it is back. What it changed is told, not served.
func TestStoreIsAway(t *testing.T) {
	s := newStore(t)
	b, err := s.open("")
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), 100_000)
	path, id := staged(t, content)
	s.stop()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	if err := b.Keep(ctx, acme, id, path); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("kept: %v", err)
	}
	cancel()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	s.start()
	if err := b.Keep(t.Context(), acme, id, path); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(t.Context(), acme, id, bytes.NewReader(bytes.Repeat([]byte("y"), 100_000)), 100_000); err != nil {
		t.Fatal(err)
	}
	r, err := b.Open(t.Context(), acme, id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("a changed object is read: %d bytes, %v", len(got), err)
	}
	if _, err := bucket.Open(t.Context(), bucket.Options{Endpoint: "http://" + s.addr, Bucket: "none", AccessKey: "key", SecretKey: "secret"}); err == nil {
		t.Error("a bucket that isn't there is opened")
	}
}
