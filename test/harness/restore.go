package harness

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"os"
	"os/exec"
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

// Fixture makes a data directory of one that the project keeps: of a backup, or as a node that was
// killed left it.
func Fixture(t testing.TB, archive string) (dir string) {
	t.Helper()
	inside, err := exec.Command("tar", "-tzf", archive).Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(inside, []byte("backup.json")) {
		return Restore(t, archive)
	}
	dir = t.TempDir()
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}
