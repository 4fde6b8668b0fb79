package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ubl"
	"ubl/blobs"
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
	head := func() int64 {
		return must[ubl.LedgerHead](w, ubl.LedgerName(w.ana.TenantID), ubl.GetLedgerHead{}).Seq
	}
	before := head()
	w.n.tidyBlobs(t.Context())
	if !w.keeps(kept) || !w.keeps(gone) || head() != before {
		t.Errorf("an hour later: kept %t, gone %t, %d atoms more", w.keeps(kept), w.keeps(gone), head()-before)
	}
	w.at.Add(int64(blobs.Grace))
	w.n.tidyBlobs(t.Context())
	if !w.keeps(kept) || w.keeps(gone) || head() != before+2 {
		t.Errorf("two days later: kept %t, gone %t, %d atoms more", w.keeps(kept), w.keeps(gone), head()-before)
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, blobsDir, "uploads", "*")); err != nil || len(left) > 0 {
		t.Errorf("uploads are left: %v, %v", left, err)
	}
	w.n.tidyBlobs(t.Context())
	if head() != before+2 {
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
