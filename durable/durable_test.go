package durable_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ubl/durable"
)

// holds wants a directory to have these files and no other.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("the directory has %v (%v), want %d files", entries, err, len(want))
	}
	for name, text := range want {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != text || info.Mode() != 0o600 {
			t.Errorf("%s is %q (%v) with mode %v, want %q", name, have, err, info.Mode(), text)
		}
	}
}

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// TestCreate: a file is there whole or not at all, and is never replaced.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	half := errors.New("half of it")
	if err := durable.Create(path, func(w io.Writer) error { return errors.Join(says("half")(w), half) }); !errors.Is(err, half) {
		t.Errorf("half a file: %v", err)
	}
	holds(t, dir, nil)
	if err := durable.Create(path, says("first")); err != nil {
		t.Fatal(err)
	}
	if err := durable.Create(path, says("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file of the name: %v", err)
	}
	holds(t, dir, map[string]string{"file": "first"})
}

// TestCreateMeetsAnother: who comes second while both write doesn't replace.
func TestCreateMeetsAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	err := durable.Create(path, func(w io.Writer) error {
		return errors.Join(says("slow")(w), durable.Create(path, says("quick")))
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("the slow one: %v", err)
	}
	holds(t, dir, map[string]string{"file": "quick"})
}

// TestReplace: the new content, and nothing beside it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"a long first text", "short"} {
		if err := durable.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, map[string]string{"file": text})
	}
}
