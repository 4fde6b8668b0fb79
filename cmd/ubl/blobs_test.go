package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ubl"
	"ubl/blobs"
	"ubl/blobs/bucket"
	"ubl/test/poll"
	"ubl/test/s3server"
)

// keepFile brings a content and puts a file of it.
func (w *keeperWorld) keepFile(key, content string) *ubl.File {
	w.t.Helper()
	ctx := w.t.Context()
	up, err := w.n.uploads.Begin(ctx, w.ana, ubl.Upload{WorkspaceID: ubl.GeneralWorkspace, Name: key, Type: ubl.UnknownType, Bytes: int64(len(content))})
	if err == nil {
		_, err = w.n.uploads.Append(ctx, w.ana, up.UploadID, 0, ubl.Source{Reader: bytes.NewReader([]byte(content))})
	}
	if err == nil {
		up, err = w.n.uploads.Finish(ctx, w.ana, up.UploadID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	put := ubl.PutFile{Request: w.request(key), Name: key, Blob: up.SHA256, Bytes: up.Bytes}
	return must[*ubl.FileResult](w, ubl.ContainerName(w.ana.TenantID, ubl.GeneralWorkspace), put).File
}

func (w *keeperWorld) keeps(f *ubl.File) bool {
	_, err := w.n.folder.Stat(w.t.Context(), w.ana.TenantID, f.SHA256)
	return err == nil
}

// TestTidyBlobs: what no file has goes after two days, on record in its tenant's ledger; what one
// has stays, and so does everything before. Uploads that nobody goes on with go after one.
func TestTidyBlobs(t *testing.T) {
	w := newKeeperWorld(t)
	defer w.close()
	kept, gone := w.keepFile("kept", "this stays"), w.keepFile("gone", "this goes")
	w.at.Add(int64(time.Hour))
	must[*ubl.FileResult](w, ubl.ContainerName(w.ana.TenantID, ubl.GeneralWorkspace), ubl.RemoveFile{Request: w.request("remove"), FileID: gone.FileID})
	// Two days later the container redacts what was removed, too, whenever its alarm comes.
	onRecord := func() (effects int) {
		for _, a := range must[*ubl.AtomPage](w, ubl.LedgerName(w.ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 100}).Atoms {
			if bytes.Contains(a, []byte(`"op":"file.collect"`)) {
				effects++
			}
		}
		return effects
	}
	w.n.tidyBlobs(t.Context())
	if !w.keeps(kept) || !w.keeps(gone) || onRecord() != 0 {
		t.Errorf("an hour later: kept %t, gone %t, put on record %d times", w.keeps(kept), w.keeps(gone), onRecord())
	}
	w.at.Add(int64(blobs.Grace))
	w.n.tidyBlobs(t.Context())
	if !w.keeps(kept) || w.keeps(gone) || onRecord() != 1 {
		t.Errorf("two days later: kept %t, gone %t, put on record %d times", w.keeps(kept), w.keeps(gone), onRecord())
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, blobsDir, "uploads", "*")); err != nil || len(left) > 0 {
		t.Errorf("uploads are left: %v, %v", left, err)
	}
	w.n.tidyBlobs(t.Context())
	if onRecord() != 1 {
		t.Error("nothing at all is put on record")
	}
}

// TestScrubOfBlobs: a node alone counts a damaged content, and leaves it where it is.
func TestScrubOfBlobs(t *testing.T) {
	w := newKeeperWorld(t)
	defer w.close()
	f := w.keepFile("f", "content")
	path := filepath.Join(w.dir, blobsDir, "kept", "t_acme.com", string(f.SHA256[:2]), string(f.SHA256))
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.n.scrubBlobs(t.Context(), 1<<20)
	if n := w.n.damagedBlobs.Load(); n != 1 || !w.keeps(f) {
		t.Errorf("%d damaged, still there %t", n, w.keeps(f))
	}
}

// during calls do once, when the first byte comes.
type during struct{ do func() }

func (d *during) Write(p []byte) (int, error) {
	if d.do != nil {
		d.do()
		d.do = nil
	}
	return len(p), nil
}

// TestBackupKeepsBlobs: what a backup may still have to read isn't removed while it is made. The
// partitions that it copies may refer to files that have been removed since.
func TestBackupKeepsBlobs(t *testing.T) {
	w := newKeeperWorld(t)
	defer w.close()
	if err := w.n.bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := w.keepFile("f", "content")
	w.at.Add(int64(blobs.Grace))
	must[*ubl.FileResult](w, ubl.ContainerName(w.ana.TenantID, ubl.GeneralWorkspace), ubl.RemoveFile{Request: w.request("remove"), FileID: f.FileID})
	tidied := false
	into := &during{do: func() { w.n.tidyBlobs(t.Context()); tidied = true }}
	if err := w.n.backup(t.Context(), into, "u:ops", nil); err != nil {
		t.Fatal(err)
	}
	if !tidied || !w.keeps(f) {
		t.Errorf("tidied %t, kept %t", tidied, w.keeps(f))
	}
	if w.n.tidyBlobs(t.Context()); w.keeps(f) {
		t.Error("it is still there after the backup")
	}
}

// figure is what the node shows of a metric.
func (w *keeperWorld) figure(name string) (n float64) {
	w.t.Helper()
	all := prometheus.NewRegistry()
	f := newFigures()
	f.watch(w.n)
	all.MustRegister(f.all...)
	families, err := all.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	w.t.Fatalf("there is no %s", name)
	return 0
}

// TestReadersFindDamage: what somebody reads damaged is checked and counted at once, long before
// the scrub comes by. What isn't there is counted, until it is back or no file has it.
func TestReadersFindDamage(t *testing.T) {
	w := newKeeperWorld(t)
	defer w.close()
	f, lost := w.keepFile("f", "content"), w.keepFile("lost", "another content")
	path := func(f *ubl.File) string {
		return filepath.Join(w.dir, blobsDir, "kept", "t_acme.com", string(f.SHA256[:2]), string(f.SHA256))
	}
	if err := os.WriteFile(path(f), []byte("CONTENT"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	checked := make(chan struct{})
	go func() { defer close(checked); w.n.checkSuspects(ctx) }()
	r, err := readBlobs{w.n}.Open(t.Context(), w.ana.TenantID, f.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("it is read: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); w.figure("ubl_blobs_damaged_total") == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-checked
	if n := w.figure("ubl_blobs_damaged_total"); n != 1 {
		t.Errorf("%v are damaged", n)
	}

	missing := func(when string, want float64) {
		t.Helper()
		if n := w.figure("ubl_blobs_missing"); n != want {
			t.Errorf("%s %v are missing", when, n)
		}
	}
	if err := os.Remove(path(lost)); err != nil {
		t.Fatal(err)
	}
	if _, err := (readBlobs{w.n}).Open(t.Context(), w.ana.TenantID, lost.SHA256); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("it is opened: %v", err)
	}
	missing("as somebody reads it", 1)
	w.n.lookForMissing(t.Context())
	missing("after a look", 1)
	must[*ubl.FileResult](w, ubl.ContainerName(w.ana.TenantID, ubl.GeneralWorkspace), ubl.RemoveFile{Request: w.request("remove"), FileID: lost.FileID})
	w.n.lookForMissing(t.Context())
	missing("without its file", 0)
}

// TestBucketIsLookedAfter: contents in a bucket are scrubbed, and what a reader finds damaged there
// is checked and counted. They stay where they are.
func TestBucketIsLookedAfter(t *testing.T) {
	s := s3server.Start(t)
	w := newKeeperWorld(t, func(p *program) {
		p.bucket = &bucket.Options{Endpoint: s.URL(), Region: s3server.Region, Bucket: s3server.Bucket, AccessKey: s3server.AccessKey, SecretKey: s3server.Secret}
	})
	defer w.close()
	f := w.keepFile("f", "content")
	w.n.scrubBlobs(t.Context(), 1<<20)
	if n := w.figure("ubl_blobs_damaged_total"); n != 0 {
		t.Errorf("%v are damaged before anything was", n)
	}
	object := filepath.Join(s.Objects(), string(w.ana.TenantID), string(f.SHA256))
	if err := os.WriteFile(object, []byte("CONTENT"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.n.scrubBlobs(t.Context(), 1<<20)
	if n := w.figure("ubl_blobs_damaged_total"); n != 1 {
		t.Errorf("the scrub found %v damaged", n)
	}

	ctx, stop := context.WithCancel(t.Context())
	checked := make(chan struct{})
	go func() { defer close(checked); w.n.checkSuspects(ctx) }()
	r, err := readBlobs{w.n}.Open(t.Context(), w.ana.TenantID, f.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("it is read: %v", err)
	}
	poll.Until(t, "what a reader found is counted", func() bool { return w.figure("ubl_blobs_damaged_total") == 2 })
	stop()
	<-checked
	if _, err := os.Stat(object); err != nil {
		t.Errorf("it isn't there any more: %v", err)
	}
}
