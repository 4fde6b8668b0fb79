package blobs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"ubl"
	"ubl/blobs"
	"ubl/panics"
)

var (
	ana = ubl.Identity{UserID: "u:ana", TenantID: "t:acme.com"}
	bob = ubl.Identity{UserID: "u:bob", TenantID: "t:acme.com"}
	eve = ubl.Identity{UserID: "u:ana", TenantID: "t:else.org"}
)

// world is a folder with its uploads, as a process has them.
type world struct {
	dir     string
	now     time.Time
	step    func(string)
	every   int64
	quota   ubl.Quota
	folder  *blobs.Folder
	uploads *blobs.Uploads
	// scanner looks into uploads, and refused is told what it found, unless that is broken.
	scanner blobs.Scanner
	refused func(context.Context, ubl.Identity, int64, string) error
	broken  error
}

// open opens a folder, as a start does.
func open(t testing.TB, dir string) *world {
	t.Helper()
	w := &world{dir: dir, every: 3000, now: time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)}
	w.start(t)
	return w
}

// start is what a start does with what an earlier run has left.
func (w *world) start(t testing.TB) {
	t.Helper()
	o := blobs.Options{Scanner: w.scanner, Panics: panics.New(slog.New(slog.DiscardHandler)), Refused: func(ctx context.Context, who ubl.Identity, bytes int64, found string) error {
		if w.broken != nil {
			return w.broken
		}
		return w.refused(ctx, who, bytes, found)
	}, Quota: w.quota, Now: func() time.Time { return w.now }, Random: random{}, CheckpointEvery: w.every, Step: func(name string) {
		if w.step != nil {
			w.step(name)
		}
	}}
	var err error
	if w.folder, err = blobs.OpenFolder(w.dir, o); err != nil {
		t.Fatal(err)
	}
	if w.uploads, err = blobs.OpenUploads(w.dir, w.folder, ubl.UploadNode("n1"), o); err != nil {
		t.Fatal(err)
	}
}

type random struct{}

func (random) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return len(b), nil
}

func content(n int) []byte {
	b := make([]byte, n)
	_, _ = random{}.Read(b)
	return b
}

func idOf(b []byte) ubl.BlobID { return ubl.BlobIDOf(sha256.Sum256(b)) }

// begin begins an upload of ana's.
func (w *world) begin(t testing.TB, n int) ubl.UploadID {
	t.Helper()
	up, err := w.uploads.Begin(context.Background(), ana, ubl.Upload{WorkspaceID: "w:general", Name: "x", Type: ubl.UnknownType, Bytes: int64(n)})
	if err != nil {
		t.Fatal(err)
	}
	return up.UploadID
}

// bring sends a part, which may break off with an error.
func (w *world) bring(id ubl.UploadID, offset int64, part []byte, broken error) (*ubl.Upload, error) {
	var r io.Reader = bytes.NewReader(part)
	if broken != nil {
		r = io.MultiReader(r, iotest.ErrReader(broken))
	}
	return w.uploads.Append(context.Background(), ana, id, offset, ubl.Source{Reader: r})
}

// read reads a blob whole.
func (w *world) read(id ubl.BlobID) ([]byte, error) {
	r, err := w.folder.Open(context.Background(), ana.TenantID, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// files lists all files of the folder.
func (w *world) files(t testing.TB) (list []string) {
	t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// put keeps a content for a tenant.
func (w *world) put(t testing.TB, tenant ubl.TenantID, b []byte) ubl.BlobID {
	t.Helper()
	if err := w.folder.Put(context.Background(), tenant, idOf(b), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	return idOf(b)
}

// spoil changes a byte of a blob on disk.
func (w *world) spoil(t testing.TB, id ubl.BlobID, change func([]byte) []byte) {
	t.Helper()
	at := slices.IndexFunc(w.files(t), func(path string) bool { return filepath.Base(path) == string(id) })
	if at < 0 {
		t.Fatal("there is no such blob")
	}
	path := w.files(t)[at]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

var errCut = errors.New("cut")
