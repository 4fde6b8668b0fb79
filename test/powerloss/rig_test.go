//go:build powerloss

package powerloss

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

// disk is what a disk holds of the store's files: its one partition, the journal
// beside it and the journal's mark, nil where there are none. Nobody waits for a
// sync of the mark, so what the disk holds of it for certain is how it was made.
type disk struct{ partition, journal, mark []byte }

// rig stands between one store and its disk. The store has one partition, so
// there are two files to lose.
type rig struct {
	t   *testing.T
	dir string // of the store under test
	acks
	random *rand.Rand

	mu     sync.Mutex
	synced disk // what the disk holds for certain
	syncs  int  // how often the store has synced, the journal included
	images int
	// fail, if set, is asked at each sync of a file: a power loss at the n-th sync
	// is tried out before it is done, and the sync then fails.
	fail func(n int, file string) error
	// quiet leaves out the images, for the parts of a test that are not about them.
	quiet bool
}

const (
	partitionFile = "partition-0.db"
	journalFile   = partitionFile + ".journal"
	markFile      = journalFile + ".acked"
)

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

func (r *rig) path(file string) string { return filepath.Join(r.dir, "store", file) }

func (r *rig) current() disk {
	return disk{r.read(partitionFile), r.read(journalFile), r.read(markFile)}
}

func (r *rig) read(file string) []byte {
	b, err := os.ReadFile(r.path(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.t.Error(err)
	}
	return b
}

// options are those of a store that the rig watches: bbolt's syncs come by the
// hook, the journal's by this.
func (r *rig) options() *storage.Options { return &storage.Options{SyncData: r.sync} }

// sync is each sync of a file's data. Files other than the watched ones are
// images.
func (r *rig) sync(f *os.File) error {
	file := filepath.Base(f.Name())
	if f.Name() != r.path(file) {
		return nil // an image is never lost a second time
	}
	// Read first: whatever is acknowledged by now must be durable already.
	promised := r.promised()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.current()
	if r.synced.journal == nil && now.journal != nil {
		r.synced.journal, r.synced.mark = newJournal(now.journal), now.mark
	}
	r.syncs++
	if !r.quiet {
		r.powerLoss(now, promised)
	}
	if r.fail != nil {
		if err := r.fail(r.syncs, file); err != nil {
			return err
		}
	}
	if file == journalFile {
		r.synced.journal = now.journal
	} else {
		r.synced.partition = now.partition
	}
	return nil
}

// newJournal is a journal as it was made, which is synced before it has its
// name: its head and no record.
func newJournal(now []byte) []byte {
	b := make([]byte, len(now))
	copy(b, now[:pageSize])
	return b
}

// powerLoss tries out what the disk may hold if the power goes now: nothing of
// what was written since the last sync, all of it, and some of it.
func (r *rig) powerLoss(now disk, promised map[string]int64) {
	r.check("nothing new reached the disk", r.synced, promised)
	r.check("everything reached the disk", now, promised)
	for range 3 {
		r.check("some pages reached the disk", r.someOf(now), promised)
	}
}

func (r *rig) someOf(now disk) disk {
	return disk{r.somePages(r.synced.partition, now.partition), r.somePages(r.synced.journal, now.journal), r.somePages(r.synced.mark, now.mark)}
}

// somePages takes each new page or leaves it, whole or by sectors. The file has
// its old length or its new one.
func (r *rig) somePages(synced, now []byte) []byte {
	image := bytes.Clone(synced)
	if len(now) > len(image) && r.random.IntN(2) == 0 {
		image = append(image, make([]byte, len(now)-len(image))...)
	}
	share := r.random.IntN(101)
	for at := 0; at < len(now); at += pageSize {
		end := min(at+pageSize, len(now))
		if at < len(synced) && bytes.Equal(now[at:end], synced[at:min(end, len(synced))]) || at >= len(synced) && allZero(now[at:end]) {
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
func (r *rig) check(what string, image disk, promised map[string]int64) {
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

// layOut makes a data directory with the image in the place of the store's files.
func (r *rig) layOut(image disk) (string, error) {
	dir, err := os.MkdirTemp(r.t.TempDir(), "image")
	if err != nil {
		return "", err
	}
	store := filepath.Join(dir, "store")
	manifest, err := os.ReadFile(r.path("ubl.json"))
	return dir, errors.Join(err,
		os.Mkdir(store, 0o700),
		os.WriteFile(filepath.Join(store, "ubl.json"), manifest, 0o600),
		writeSparse(filepath.Join(store, partitionFile), image.partition),
		writeSparse(filepath.Join(store, journalFile), image.journal),
		writeSparse(filepath.Join(store, markFile), image.mark))
}

// writeSparse writes a file that has a hole where its zeros at the end are; none
// for nil.
func writeSparse(path string, content []byte) error {
	if content == nil {
		return nil
	}
	if err := os.WriteFile(path, bytes.TrimRight(content, "\x00"), 0o600); err != nil {
		return err
	}
	return os.Truncate(path, int64(len(content)))
}

// open opens the store under test.
func (r *rig) open() *storage.Engine {
	r.t.Helper()
	e, err := storage.Open(r.dir, r.options())
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

// becomes puts an image in the place of the store's files, as a machine that
// comes up again finds them. The store must be closed.
func (r *rig) becomes(image disk) {
	r.t.Helper()
	err := errors.Join(writeSparse(r.path(partitionFile), image.partition), writeSparse(r.path(journalFile), image.journal), writeSparse(r.path(markFile), image.mark))
	if err != nil {
		r.t.Fatal(err)
	}
	r.synced = image
}

func (r *rig) String() string { return fmt.Sprintf("%d syncs, %d images", r.syncs, r.images) }
