package harness

import (
	"compress/gzip"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ubl/storage"
)

// Restore makes a data directory of a backup, as test/upgrade has one of each earlier version.
func Restore(t testing.TB, backup string) (dir string) {
	t.Helper()
	f, err := os.Open(backup)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	if err := storage.Restore(t.Context(), z, dir, &storage.Options{Random: rand.Reader, Now: time.Now}, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}
