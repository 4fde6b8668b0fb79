package blobs

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"ubl"
	"ubl/durable"
	"ubl/panics"
)

const (
	keptDir    = "kept"
	damagedDir = "damaged"
	uploadsDir = "uploads"
	dirMode    = 0o700
	fileMode   = 0o600
)

// Options are for a [Folder] and for [Uploads]. Now and Random are required.
type Options struct {
	Now    func() time.Time
	Random io.Reader
	// CheckpointEvery is after how many bytes what came in of an upload is made durable (64 MiB).
	CheckpointEvery int64
	// Quota bounds how many uploads may be under way; nil doesn't.
	Quota ubl.Quota
	// Scanner looks into contents before they are kept; nil looks into none.
	Scanner Scanner
	// Panics guards scans. It goes with Scanner.
	Panics *panics.Catcher
	// Refused puts on record that a content was refused, before it goes. It goes with Scanner.
	Refused func(ctx context.Context, who ubl.Identity, bytes int64, found string) error
	// Step is told of each point at which a crash is worth trying; nil for nobody.
	Step func(string)
}

func (o Options) step(name string) {
	if o.Step != nil {
		o.Step(name)
	}
}

// Folder keeps blobs in a folder of this machine. It implements [ubl.Blobs].
type Folder struct {
	dir  string
	opts Options
	seed maphash.Seed
	// locks keep Keep and Remove of one blob apart.
	locks [64]sync.Mutex
}

// OpenFolder opens a folder, and makes it where it is missing.
func OpenFolder(dir string, o Options) (*Folder, error) {
	f := &Folder{dir: dir, opts: o, seed: maphash.MakeSeed()}
	if err := makeDirs(filepath.Join(dir, keptDir)); err != nil {
		return nil, fmt.Errorf("couldn't open the folder of blobs: %w", err)
	}
	return f, nil
}

// makeDirs makes a directory, and those above it that are missing, durably.
func makeDirs(dir string) error {
	switch err := os.Mkdir(dir, dirMode); {
	case err == nil:
		return durable.Sync(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
		if err := makeDirs(filepath.Dir(dir)); err != nil {
			return err
		}
		return makeDirs(dir)
	default:
		return err
	}
}

// tenantDir is a tenant's part of a path: a colon isn't for every file system.
func tenantDir(t ubl.TenantID) string { return strings.Replace(string(t), ":", "_", 1) }

func tenantOf(dir string) (ubl.TenantID, bool) {
	t := ubl.TenantID(strings.Replace(dir, "_", ":", 1))
	return t, t.Valid()
}

// path is where a blob is.
func (f *Folder) path(t ubl.TenantID, id ubl.BlobID) (string, error) {
	if !t.Valid() || !id.Valid() {
		return "", ubl.Errorf(ubl.CodeInternal, "the name of a blob is not well formed")
	}
	return filepath.Join(f.dir, keptDir, tenantDir(t), string(id[:2]), string(id)), nil
}

func (f *Folder) lock(path string) *sync.Mutex {
	return &f.locks[maphash.String(f.seed, path)%uint64(len(f.locks))]
}

// Keep implements [ubl.Blobs].
func (f *Folder) Keep(_ context.Context, t ubl.TenantID, id ubl.BlobID, from string) error {
	path, err := f.path(t, id)
	if err != nil {
		return err
	}
	mu := f.lock(path)
	mu.Lock()
	defer mu.Unlock()
	if _, err := os.Lstat(path); err == nil {
		return failed("keep a blob", f.renew(path, from))
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return failed("keep a blob", err)
	}
	switch err := f.touch(from); {
	case errors.Is(err, fs.ErrNotExist):
		return ubl.ErrNoBlob()
	case err != nil:
		return failed("keep a blob", err)
	}
	f.opts.step("blobs: before the rename")
	if err := os.Rename(from, path); err != nil {
		return failed("keep a blob", err)
	}
	f.opts.step("blobs: renamed")
	return failed("keep a blob", durable.Sync(filepath.Dir(path)))
}

// Renew says that a blob is kept once more, and whether it is there.
func (f *Folder) Renew(ctx context.Context, t ubl.TenantID, id ubl.BlobID) (bool, error) {
	err := f.Keep(ctx, t, id, filepath.Join(f.dir, uploadsDir, "nothing"))
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// renew keeps what is there already, instead of a second copy of it.
func (f *Folder) renew(path, from string) error {
	if err := f.touch(path); err != nil {
		return err
	}
	if err := durable.Sync(filepath.Dir(path)); err != nil { // of a rename that a crash overtook
		return err
	}
	if err := os.Remove(from); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f *Folder) touch(path string) error {
	now := f.opts.Now()
	return os.Chtimes(path, now, now)
}

// failed is an error that leaves everything as it was. One of a full disk says so.
func failed(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return ubl.Errorf(ubl.CodeUnavailable, "the disk is full").Because(err)
	}
	return fmt.Errorf("couldn't %s: %w", what, err)
}

// Stat tells of a blob; not_found where there is none.
func (f *Folder) Stat(_ context.Context, t ubl.TenantID, id ubl.BlobID) (ubl.Blob, error) {
	path, err := f.path(t, id)
	if err != nil {
		return ubl.Blob{}, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ubl.Blob{}, ubl.ErrNoBlob()
	}
	if err != nil {
		return ubl.Blob{}, fmt.Errorf("couldn't look for a blob: %w", err)
	}
	return blobOf(id, info), nil
}

func blobOf(id ubl.BlobID, info fs.FileInfo) ubl.Blob {
	return ubl.Blob{ID: id, Bytes: info.Size(), KeptAt: ubl.TimeOf(info.ModTime())}
}

// Open implements [ubl.Blobs].
func (f *Folder) Open(_ context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	path, err := f.path(t, id)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ubl.ErrNoBlob()
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't open a blob: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("couldn't open a blob: %w", err), file.Close())
	}
	r, err := Checked(file, id, info.Size())
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Remove implements [ubl.Blobs].
func (f *Folder) Remove(_ context.Context, t ubl.TenantID, id ubl.BlobID, after ubl.Time) (bool, error) {
	path, err := f.path(t, id)
	if err != nil {
		return false, err
	}
	mu := f.lock(path)
	mu.Lock()
	defer mu.Unlock()
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || ubl.TimeOf(info.ModTime()) > after {
		return false, failed("remove a blob", err)
	}
	if err := os.Remove(path); err != nil {
		return false, failed("remove a blob", err)
	}
	return true, failed("remove a blob", durable.Sync(filepath.Dir(path)))
}

// Each implements [ubl.Blobs], in order. What has another name than a blob's is passed over.
func (f *Folder) Each(ctx context.Context, fn func(ubl.TenantID, ubl.Blob) error) error {
	tenants, err := os.ReadDir(filepath.Join(f.dir, keptDir))
	if err != nil {
		return fmt.Errorf("couldn't list the blobs: %w", err)
	}
	for _, entry := range tenants {
		t, ok := tenantOf(entry.Name())
		if !ok || !entry.IsDir() {
			continue
		}
		parts, err := os.ReadDir(filepath.Join(f.dir, keptDir, entry.Name()))
		if err != nil {
			return fmt.Errorf("couldn't list the blobs: %w", err)
		}
		for _, part := range parts {
			if !part.IsDir() {
				continue
			}
			if err := f.eachIn(ctx, t, part.Name(), fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Folder) eachIn(ctx context.Context, t ubl.TenantID, part string, fn func(ubl.TenantID, ubl.Blob) error) error {
	entries, err := os.ReadDir(filepath.Join(f.dir, keptDir, tenantDir(t), part))
	if err != nil {
		return fmt.Errorf("couldn't list the blobs: %w", err)
	}
	for _, entry := range entries {
		id := ubl.BlobID(entry.Name())
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || !id.Valid() || string(id[:2]) != part || entry.IsDir() {
			continue
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = fn(t, blobOf(id, info))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Put keeps what r holds as a blob, and refuses it where it is another: as when a blob comes
// from another node or out of a backup.
func (f *Folder) Put(ctx context.Context, t ubl.TenantID, id ubl.BlobID, r io.Reader) (err error) {
	file, err := stage(filepath.Join(f.dir, uploadsDir), r, id)
	if err != nil {
		return failed("keep a blob", err)
	}
	err = file.File.Close()
	if err == nil {
		err = f.Keep(ctx, t, id, file.Name())
	}
	return errors.Join(err, file.gone())
}

// Borrow is a blob of which r holds all, without its being kept: it is gone when it is closed.
func (f *Folder) Borrow(r io.Reader, id ubl.BlobID) (io.ReadSeekCloser, error) {
	file, err := stage(filepath.Join(f.dir, uploadsDir), r, id)
	if err != nil {
		return nil, failed("fetch a blob", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(failed("fetch a blob", err), file.Close())
	}
	return file, nil
}

// stage writes what r holds into a file for the time being, and refuses it where it isn't the
// blob.
func stage(staging string, r io.Reader, id ubl.BlobID) (staged, error) {
	if err := makeDirs(staging); err != nil {
		return staged{}, err
	}
	file, err := os.CreateTemp(staging, putPrefix+"*")
	if err != nil {
		return staged{}, err
	}
	if err := copyChecked(file, r, id); err != nil {
		return staged{}, errors.Join(err, staged{file}.Close())
	}
	return staged{file}, nil
}

// staged is a file that goes with its closing.
type staged struct{ *os.File }

// Close implements [io.Closer].
func (s staged) Close() error { return errors.Join(s.File.Close(), s.gone()) }

func (s staged) gone() error {
	if err := os.Remove(s.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putPrefix begins the names of files on their way into a folder: a start throws them away.
const putPrefix = "put-"
