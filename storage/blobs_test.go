package storage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/storage"
)

// shelf is a place for blobs, by tenant and name.
type shelf map[string][]byte

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (s shelf) open(_ context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	if b, ok := s[string(t)+"/"+string(id)]; ok {
		return reader{bytes.NewReader(b)}, nil
	}
	return nil, ubl.ErrNoBlob()
}

// at keeps what a restore brings in files, as a folder of blobs does.
func at(path string) (storage.KeepBlob, error) {
	return func(_ context.Context, t ubl.TenantID, id ubl.BlobID, r io.Reader) error {
		b, err := io.ReadAll(r)
		if err == nil && ubl.BlobIDOf(sha256.Sum256(b)) != id {
			err = ubl.Damaged("another blob")
		}
		if err == nil {
			err = os.MkdirAll(path, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(path, string(id)), b, 0o600)
		}
		return err
	}, nil
}

// TestBackupWithBlobs: a backup has just what records refer to, and a restore puts it beside the
// store, or refuses what isn't whole and leaves nothing.
func TestBackupWithBlobs(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	kept := shelf{}
	var ids []ubl.BlobID
	for i, tenant := range []ubl.TenantID{"t:a", "t:b", "t:c"} {
		w := newWriter(t, e, ubl.TenantName(tenant).Group())
		b := bytes.Repeat([]byte{byte(i)}, 1000*i)
		id := ubl.BlobIDOf(sha256.Sum256(b))
		ids, kept[string(tenant)+"/"+string(id)] = append(ids, id), b
		batch := message(w, 100)
		for _, by := range []string{"w:1\x00f:1", "w:2\x00f:2"} {
			batch.Records = append(batch.Records, ubl.Record{Key: ubl.BlobRef(id, by), Value: []byte{1}})
		}
		if err := submit(e, batch); err != nil {
			t.Fatal(err)
		}
	}
	kept["t:a/"+string(ids[2])] = []byte("nobody refers to this")
	backUp := func(open storage.OpenBlob) ([]byte, error) {
		var archive bytes.Buffer
		err := e.Backup(t.Context(), &archive, &storage.BackupOptions{Blob: open})
		return archive.Bytes(), err
	}
	if _, err := backUp(nil); err == nil {
		t.Error("a backup leaves blobs out without a word")
	}
	if _, err := backUp(shelf{}.open); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("a backup without the blobs: %v", err)
	}
	archive, err := backUp(kept.open)
	if err != nil {
		t.Fatal(err)
	}
	restore := func(archive []byte, how *storage.RestoreOptions) (string, error) {
		dir := filepath.Join(t.TempDir(), "restored")
		return dir, storage.Restore(t.Context(), bytes.NewReader(archive), dir, nil, how)
	}
	dir, err := restore(archive, &storage.RestoreOptions{Blobs: at})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "blobs"))
	if err != nil || len(entries) != 3 {
		t.Errorf("restored are %v, %v", entries, err)
	}
	again := open(t, dir, nil)
	found := 0
	for p := range again.Partitions() {
		if err := again.BlobsOf(t.Context(), p, func(ubl.TenantID, ubl.BlobID) error { found++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if found != 3 {
		t.Errorf("the restored store refers to %d blobs", found)
	}
	spoiled := bytes.Clone(archive)
	spoiled[bytes.LastIndex(spoiled, bytes.Repeat([]byte{2}, 1000))] ^= 1
	for name, bad := range map[string]struct {
		archive []byte
		how     *storage.RestoreOptions
	}{
		"without a place for blobs": {archive, nil},
		"with a changed blob":       {spoiled, &storage.RestoreOptions{Blobs: at}},
		"cut short":                 {archive[:len(archive)-4096], &storage.RestoreOptions{Blobs: at}},
	} {
		dir, err := restore(bad.archive, bad.how)
		if err == nil {
			t.Errorf("%s it is restored", name)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s something is left: %v", name, err)
		}
	}
}
