package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

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

// TestDirect: pages that are written past the page cache are read through it.
func TestDirect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("some"), 3*durable.PageSize/4)
	if err := durable.Replace(path, want); err != nil {
		t.Fatal(err)
	}
	f, err := durable.OpenDirect(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 3 {
		page := durable.Pages(durable.PageSize)
		copy(page, fmt.Sprintf("page %d", i))
		copy(want[i*durable.PageSize:], page)
		if _, err := f.WriteAt(page, int64(i*durable.PageSize)); err != nil {
			t.Fatal(err)
		}
		if err := durable.SyncData(f); err != nil {
			t.Fatal(err)
		}
		if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
			t.Fatalf("after page %d the file isn't what was written (%v)", i, err)
		}
	}
}

// TestPages: memory that is handed out begins at a page, whatever came before it.
func TestPages(t *testing.T) {
	for n := 1; n < 100_000; n = n*3 + 1 {
		if b := durable.Pages(n); len(b) != n || cap(b) != n || uintptr(unsafe.Pointer(&b[0]))%durable.PageSize != 0 {
			t.Errorf("%d bytes: %d at %p", n, len(b), &b[0])
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
	var nowhere *fs.PathError
	if err := durable.Create(filepath.Join(dir, "none", "file"), says("x")); !errors.As(err, &nowhere) || nowhere.Path != filepath.Join(dir, "none", "file") {
		t.Errorf("in a directory that isn't there: %v", err)
	}
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
