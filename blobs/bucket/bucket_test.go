package bucket_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"ubl"
	"ubl/blobs"
	"ubl/blobs/bucket"
	"ubl/test/poll"
	"ubl/test/s3server"
)

const acme, other = ubl.TenantID("t:acme.com"), ubl.TenantID("t:else.org")

// store is a server that others wrote, as a process of its own.
type store struct {
	*s3server.Server
	t *testing.T
}

func newStore(t *testing.T) *store {
	t.Helper()
	return &store{s3server.Start(t), t}
}

func (s *store) open(prefix string) (*bucket.Bucket, error) {
	return bucket.Open(context.Background(), bucket.Options{
		Endpoint: s.URL(), Region: s3server.Region, Bucket: s3server.Bucket, Prefix: prefix, AccessKey: s3server.AccessKey, SecretKey: s3server.Secret, Transport: http.DefaultTransport,
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
	s.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	if err := b.Keep(ctx, acme, id, path); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("kept: %v", err)
	}
	cancel()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	s.Again()
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
	if _, err := bucket.Open(t.Context(), bucket.Options{Endpoint: s.URL(), Bucket: "none", AccessKey: s3server.AccessKey, SecretKey: s3server.Secret}); err == nil {
		t.Error("a bucket that isn't there is opened")
	}
}

// passing carries requests, and calls before and after with each one.
type passing struct{ before, after func(*http.Request) }

// RoundTrip implements [http.RoundTripper].
func (p passing) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.before != nil {
		p.before(r)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if p.after != nil {
		p.after(r)
	}
	return resp, err
}

// openBy opens the bucket for one whose removals may take so long.
func (s *store) openBy(by http.RoundTripper, within time.Duration) *bucket.Bucket {
	s.t.Helper()
	b, err := bucket.Open(context.Background(), bucket.Options{
		Endpoint: s.URL(), Region: s3server.Region, Bucket: s3server.Bucket, AccessKey: s3server.AccessKey, SecretKey: s3server.Secret, Transport: by, RemoveWithin: within,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// TestKeptWhileItIsRemoved: a blob that another node keeps again between the look and the removal
// is there afterwards.
func TestKeptWhileItIsRemoved(t *testing.T) {
	s := newStore(t)
	path, id := staged(t, []byte("content"))
	if err := s.openBy(http.DefaultTransport, poll.Patience).Keep(t.Context(), acme, id, path); err != nil {
		t.Fatal(err)
	}
	ofTheBlob := func(r *http.Request, method string) bool {
		return r.Method == method && r.URL.Path == "/files/"+string(acme)+"/"+string(id)
	}
	again, _ := staged(t, []byte("content"))
	put, kept := make(chan struct{}, 2), make(chan error, 1)
	keeper := s.openBy(passing{after: func(r *http.Request) {
		if ofTheBlob(r, http.MethodPut) {
			put <- struct{}{}
		}
	}}, poll.Patience)
	remover := s.openBy(passing{before: func(r *http.Request) {
		if ofTheBlob(r, http.MethodDelete) {
			go func() { kept <- keeper.Keep(t.Context(), acme, id, again) }()
			<-put
		}
	}}, poll.Patience)
	if removed, err := remover.Remove(t.Context(), acme, id, ubl.TimeOf(time.Now().Add(time.Hour))); err != nil {
		t.Fatal(removed, err)
	}
	if err := <-kept; err != nil {
		t.Fatal(err)
	}
	r, err := keeper.Open(t.Context(), acme, id)
	if err != nil {
		t.Fatalf("what was kept is gone: %v", err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "content" {
		t.Errorf("read is %q, %v", got, err)
	}
}

// TestRemoverDies: a node that dies as it removes a blob keeps nobody from keeping it for long, and
// nothing is left of that.
func TestRemoverDies(t *testing.T) {
	s := newStore(t)
	b := s.openBy(http.DefaultTransport, time.Second)
	path, id := staged(t, []byte("content"))
	if err := b.Keep(t.Context(), acme, id, path); err != nil {
		t.Fatal(err)
	}
	ctx, die := context.WithCancel(t.Context())
	remover := s.openBy(passing{before: func(r *http.Request) {
		if r.Method == http.MethodDelete {
			die()
		}
	}}, time.Second)
	if _, err := remover.Remove(ctx, acme, id, ubl.TimeOf(time.Now().Add(time.Hour))); err == nil {
		t.Fatal("it has removed the blob")
	}
	again, _ := staged(t, []byte("content"))
	if err := b.Keep(t.Context(), acme, id, again); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Open(t.Context(), acme, id); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
	if left := s.left(""); len(left) != 1 {
		t.Errorf("in the bucket are %v", left)
	}
}

// client is one of the store's own.
func (s *store) client() *minio.Core {
	s.t.Helper()
	c, err := minio.NewCore(s.Addr, &minio.Options{Creds: credentials.NewStaticV4(s3server.AccessKey, s3server.Secret, ""), Region: s3server.Region})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// left are the names of objects.
func (s *store) left(prefix string) (names []string) {
	for o := range s.client().ListObjectsIter(s.t.Context(), "files", minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		names = append(names, o.Key)
	}
	return names
}

// TestSweep: parts of an upload to the store that broke off long ago go, and those of one that may
// still be under way stay.
func TestSweep(t *testing.T) {
	s := newStore(t)
	b, err := s.open("ubl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ubl/t:acme.com/big", "another/big"} {
		id, err := s.client().NewMultipartUpload(t.Context(), "files", name, minio.PutObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		part := bytes.Repeat([]byte("x"), 5<<20)
		if _, err := s.client().PutObjectPart(t.Context(), "files", name, id, 1, bytes.NewReader(part), int64(len(part)), minio.PutObjectPartOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	begun := func() (names []string) {
		for u := range s.client().ListIncompleteUploads(t.Context(), "files", "", true) {
			names = append(names, u.Key)
		}
		return names
	}
	if n, err := b.Sweep(t.Context(), ubl.TimeOf(time.Now().Add(-time.Hour))); n != 0 || err != nil || len(begun()) != 2 {
		t.Errorf("too early: %d, %v, left are %v", n, err, begun())
	}
	if n, err := b.Sweep(t.Context(), ubl.TimeOf(time.Now().Add(time.Hour))); n != 1 || err != nil || len(begun()) != 1 {
		t.Errorf("%d, %v, left are %v", n, err, begun())
	}
}

// TestScrubOfABucket: each object is held against its name.
func TestScrubOfABucket(t *testing.T) {
	s := newStore(t)
	b, err := s.open("")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"sound", "spoilt"} {
		path, id := staged(t, []byte(content))
		if err := b.Keep(t.Context(), acme, id, path); err != nil {
			t.Fatal(err)
		}
	}
	_, bad := staged(t, []byte("spoilt"))
	if err := b.Put(t.Context(), acme, bad, bytes.NewReader([]byte("damage")), 6); err != nil {
		t.Fatal(err)
	}
	var found []ubl.BlobID
	done, err := blobs.Scrub(t.Context(), b, blobs.ScrubOptions{Rate: 1 << 20, Found: func(_ ubl.TenantID, id ubl.BlobID, _ error) { found = append(found, id) }})
	if err != nil || done != (blobs.Scrubbed{Blobs: 2, Bytes: 11, Damaged: 1}) || !slices.Equal(found, []ubl.BlobID{bad}) {
		t.Errorf("%+v, %v, found %v", done, err, found)
	}
}
