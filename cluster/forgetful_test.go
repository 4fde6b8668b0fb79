package cluster

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/types"
)

// forgetful is a disk with a page cache, as Linux has it. The files are what the
// cache says, and outlive a killed process; a power cut leaves what was synced.
type forgetful struct {
	*fs.FS
	mu      sync.Mutex
	durable map[string][]byte           // what the disk has, by path
	dirty   map[string]map[int64][]byte // pages that are in the cache only
	sync    func(drop func()) error     // does a sync; nil for one that works
}

const pageBytes = 4096

func newForgetful() *forgetful {
	return &forgetful{FS: fs.New(), durable: make(map[string][]byte), dirty: make(map[string]map[int64][]byte)}
}

// killed ends the process before the sync: the pages stay in the cache, to be
// written at some time.
func killed(func()) error { return errors.New("killed") }

// failed is a sync that the disk refuses: the kernel tells it once, and takes
// the pages for written.
func failed(drop func()) error {
	drop()
	return errors.New("input/output error")
}

// cutPower leaves of every file what is durable.
func (d *forgetful) cutPower(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, data := range d.durable {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clear(d.dirty)
}

// Create makes a file that is allocated ahead on the disk, too.
func (d *forgetful) Create(dir, name string, size uint64) (types.WritableFile, error) {
	f, err := d.FS.Create(dir, name, size)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	path := filepath.Join(dir, name)
	d.durable[path] = make([]byte, size)
	return &forgetfulFile{f, d, path}, nil
}

func (d *forgetful) Delete(dir, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.durable, filepath.Join(dir, name))
	return d.FS.Delete(dir, name)
}

func (d *forgetful) OpenWriter(dir, name string) (types.WritableFile, error) {
	f, err := d.FS.OpenWriter(dir, name)
	if err != nil {
		return nil, err
	}
	return &forgetfulFile{f, d, filepath.Join(dir, name)}, nil
}

type forgetfulFile struct {
	types.WritableFile
	disk *forgetful
	path string
}

// WriteAt writes into the cache. A page that is written in part is dirty as a
// whole.
func (f *forgetfulFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.WritableFile.WriteAt(b, at)
	if err != nil {
		return n, err
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	pages := f.disk.dirty[f.path]
	if pages == nil {
		pages = make(map[int64][]byte)
		f.disk.dirty[f.path] = pages
	}
	for page := at / pageBytes; page*pageBytes < at+int64(n); page++ {
		data := make([]byte, pageBytes)
		read, _ := f.ReadAt(data, page*pageBytes) // the last page may be a part of one
		pages[page] = data[:read]
	}
	return n, nil
}

func (f *forgetfulFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	drop := func() { delete(f.disk.dirty, f.path) }
	if f.disk.sync != nil {
		return f.disk.sync(drop)
	}
	for page, data := range maps.All(f.disk.dirty[f.path]) {
		end := int(page*pageBytes) + len(data)
		if grow := end - len(f.disk.durable[f.path]); grow > 0 {
			f.disk.durable[f.path] = append(f.disk.durable[f.path], make([]byte, grow)...)
		}
		copy(f.disk.durable[f.path][page*pageBytes:], data)
	}
	drop()
	return nil
}
