package storage_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/storage"
)

// editManifest changes a field of a closed directory's ubl.json.
func editManifest(t *testing.T, dir, field string, value any) {
	t.Helper()
	path := filepath.Join(dir, "store", "ubl.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	m[field] = value
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedDirectories: what Open must not open, and why it says so.
func TestRefusedDirectories(t *testing.T) {
	store := func(dir, name string) string { return filepath.Join(dir, "store", name) }
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string) error
		want  error
	}{
		{"a newer format", func(t *testing.T, dir string) error {
			editManifest(t, dir, "format", 5)
			return nil
		}, storage.ErrNewerFormat},
		{"a newer format with fields of another type", func(_ *testing.T, dir string) error {
			return os.WriteFile(store(dir, "ubl.json"), []byte(`{"format":9,"partitions":{"by":"range"}}`), 0o600)
		}, storage.ErrNewerFormat},
		{"another incarnation", func(t *testing.T, dir string) error {
			editManifest(t, dir, "incarnation", strings.Repeat("0", 32))
			return nil
		}, storage.ErrDamaged},
		{"fewer partitions", func(t *testing.T, dir string) error {
			editManifest(t, dir, "partitions", 1)
			return nil
		}, storage.ErrDamaged},
		{"a missing partition", func(_ *testing.T, dir string) error {
			return os.Remove(store(dir, "partition-1.db"))
		}, storage.ErrDamaged},
		{"an empty partition", func(_ *testing.T, dir string) error {
			return os.Truncate(store(dir, "partition-1.db"), 0)
		}, storage.ErrDamaged},
		{"partitions in each other's place", func(_ *testing.T, dir string) error {
			return errors.Join(
				os.Rename(store(dir, "partition-0.db"), store(dir, "x")),
				os.Rename(store(dir, "partition-1.db"), store(dir, "partition-0.db")),
				os.Rename(store(dir, "x"), store(dir, "partition-1.db")))
		}, storage.ErrDamaged},
		{"a file that is no database", func(_ *testing.T, dir string) error {
			return os.WriteFile(store(dir, "partition-0.db"), []byte(strings.Repeat("not a database ", 4000)), 0o600)
		}, storage.ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			e := open(t, dir, &storage.Options{Partitions: 2})
			fill(t, e, 4, 3, 100)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if err := test.spoil(t, dir); err != nil {
				t.Fatal(err)
			}
			e, err := storage.Open(dir, nil)
			if err == nil {
				e.Close()
			}
			if !errors.Is(err, test.want) {
				t.Errorf("Open: %v, want %v", err, test.want)
			}
		})
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, nil)
	_, err := storage.Open(dir, &storage.Options{LockTimeout: 1})
	if !errors.Is(err, storage.ErrInUse) {
		t.Errorf("a second Open: %v", err)
	}
}

// TestLaterVersionsMayAddFields keeps the door open for them.
func TestLaterVersionsMayAddFields(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, nil).Close()
	editManifest(t, dir, "a_later_field", "x")
	open(t, dir, nil)
}

func TestInterruptedCreation(t *testing.T) {
	dir := t.TempDir()
	leftover := filepath.Join(dir, "creating")
	if err := os.Mkdir(leftover, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(leftover, "partition-0.db"), make([]byte, 999), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, open(t, dir, nil), 2, 2, 10)
}

func TestNewDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "open")
	e := open(t, dir, &storage.Options{Random: strings.NewReader("sixteen bytes ok")})
	if have := e.Incarnation(); have != "7369787465656e206279746573206f6b" {
		t.Errorf("incarnation %q is not what random gave", have)
	}
	fill(t, e, 10, 2, 100)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
