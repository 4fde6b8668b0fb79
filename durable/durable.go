// Package durable writes files so that they outlive a power cut: their bytes, and
// their names. It has no data and no state; each call is over when the disk has
// what it wrote.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"
)

const fileMode = 0o600

// PageSize is what disks read and write as a whole, or a multiple of it.
const PageSize = 4096

// Pages is n bytes of memory that begin where a page does.
func Pages(n int) []byte {
	b := make([]byte, n+PageSize)
	from := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (PageSize - 1)
	return b[from : from+n : from+n]
}

// Sync makes a file's content, or the names in a directory, durable.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Write writes a file in place of what was there; nobody else may read it. Its
// name is durable once its directory is synced.
func Write(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// Replace puts a file in place of another by a rename: whoever reads sees one of
// the two, whole.
func Replace(path string, data []byte) error {
	next := path + ".new"
	if err := Write(next, data); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// Create makes a file that nobody else may read. It is written under another
// name and linked to its own only when it is whole; one that exists is never
// replaced (fs.ErrExist). Whether the file system has links is found out before
// anything is written, which may be gigabytes.
func Create(path string, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	tmp, err := temporary(path)
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.Remove(tmp.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	err = tryLink(tmp.Name())
	if err == nil {
		err = write(tmp)
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// temporary makes a file beside path, for what is written before it gets its name. An
// error names path, which the caller knows.
func temporary(path string) (*os.File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".ubl-*") // mode 0600
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "create", Path: path, Err: failed.Err}
	}
	return tmp, err
}

// tryLink links a file and takes that back.
func tryLink(path string) error {
	second := path + ".link"
	if err := os.Link(path, second); err != nil {
		return fmt.Errorf("the file system has no hard links: %w", err)
	}
	return os.Remove(second)
}
