//go:build powerloss

package powerloss

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"ubl/storage"
)

const (
	pageSize   = 4096
	sectorSize = 512
)

// rig stands between one store and its disk. The store has one partition, so
// there is one file to lose.
type rig struct {
	t   *testing.T
	dir string // of the store under test
	acks
	random *rand.Rand

	mu     sync.Mutex
	synced []byte // what the disk holds for certain
	syncs  int    // how often the store has synced
	images int
	// fail, if set, is asked at each sync: a power loss at the n-th sync is tried
	// out before it is done, and the sync then fails.
	fail func(n int) error
	// quiet leaves out the images, for the parts of a test that are not about them.
	quiet bool
}

func newRig(t *testing.T, seed uint64) *rig {
	r := &rig{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0))}
	r.acks.groups = map[string]*ledger{}
	// The directory is made before the rig watches: its making is one rename.
	e, err := storage.Open(r.dir, &storage.Options{Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r.synced = r.current()
	bolt.SyncHook = r.sync
	t.Cleanup(func() { bolt.SyncHook = (*os.File).Sync })
	return r
}

func (r *rig) file() string { return filepath.Join(r.dir, "store", "partition-0.db") }

func (r *rig) current() []byte {
	b, err := os.ReadFile(r.file())
	if err != nil {
		r.t.Error(err)
	}
	return b
}

// sync is bbolt's fdatasync. Files other than the watched one are images.
func (r *rig) sync(f *os.File) error {
	if f.Name() != r.file() {
		return nil // an image is never lost a second time
	}
	// Read first: whatever is acknowledged by now must be durable already.
	promised := r.promised()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.current()
	r.syncs++
	if !r.quiet {
		r.powerLoss(now, promised)
	}
	if r.fail != nil {
		if err := r.fail(r.syncs); err != nil {
			return err
		}
	}
	r.synced = now
	return nil
}

// powerLoss tries out what the disk may hold if the power goes now: nothing of
// what was written since the last sync, all of it, and some of it.
func (r *rig) powerLoss(now []byte, promised map[string]int64) {
	r.check("nothing new reached the disk", r.synced, promised)
	r.check("everything reached the disk", now, promised)
	for range 3 {
		r.check("some pages reached the disk", r.someOf(now), promised)
	}
}

// someOf takes each new page or leaves it, whole or by sectors. The file has
// its old length or its new one.
func (r *rig) someOf(now []byte) []byte {
	image := bytes.Clone(r.synced)
	if len(now) > len(image) && r.random.IntN(2) == 0 {
		image = append(image, make([]byte, len(now)-len(image))...)
	}
	share := r.random.IntN(101)
	for at := 0; at < len(now); at += pageSize {
		end := min(at+pageSize, len(now))
		if at < len(r.synced) && bytes.Equal(now[at:end], r.synced[at:min(end, len(r.synced))]) || at >= len(r.synced) && allZero(now[at:end]) {
			continue
		}
		if r.random.IntN(100) >= share {
			continue
		}
		if end > len(image) {
			image = append(image, make([]byte, end-len(image))...)
		}
		torn := r.random.IntN(4) == 0
		for s := at; s < end; s += sectorSize {
			if !torn || r.random.IntN(2) == 0 {
				copy(image[s:min(s+sectorSize, end)], now[s:])
			}
		}
	}
	return image
}

func allZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// check opens an image with the real engine and reads everything.
func (r *rig) check(what string, image []byte, promised map[string]int64) {
	r.images++
	dir, err := r.layOut(image)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	e, err := storage.Open(dir, nil)
	if err != nil {
		r.t.Errorf("sync %d, %s: %v", r.syncs, what, err)
		return
	}
	defer e.Close()
	if err := r.verify(e, promised); err != nil {
		r.t.Errorf("sync %d, %s: %v", r.syncs, what, err)
	}
}

// layOut makes a data directory with the image in the partition's place.
func (r *rig) layOut(image []byte) (string, error) {
	dir, err := os.MkdirTemp(r.t.TempDir(), "image")
	if err != nil {
		return "", err
	}
	store := filepath.Join(dir, "store")
	if err := os.Mkdir(store, 0o700); err != nil {
		return "", err
	}
	manifest, err := os.ReadFile(filepath.Join(r.dir, "store", "ubl.json"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(store, "ubl.json"), manifest, 0o600); err != nil {
		return "", err
	}
	path := filepath.Join(store, "partition-0.db")
	if err := os.WriteFile(path, bytes.TrimRight(image, "\x00"), 0o600); err != nil {
		return "", err
	}
	return dir, os.Truncate(path, int64(len(image)))
}

// open opens the store under test.
func (r *rig) open() *storage.Engine {
	r.t.Helper()
	e, err := storage.Open(r.dir, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// becomes puts an image in the place of the store's file, as a machine that
// comes up again finds it. The store must be closed.
func (r *rig) becomes(image []byte) {
	r.t.Helper()
	if err := os.WriteFile(r.file(), image, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.synced = image
}

func (r *rig) String() string { return fmt.Sprintf("%d syncs, %d images", r.syncs, r.images) }
