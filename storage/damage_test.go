package storage_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/storage"
)

// victim is a closed directory of one partition that tests damage: a tree of
// several levels, with overflow pages, free pages and deleted keys.
type victim struct {
	dir, file   string
	journalFile string
	clean       []byte
	journal     []byte // beside it
	truth       map[string]string
	used        int // bytes below bbolt's high water mark, about
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{dir: t.TempDir()}
	v.file = filepath.Join(v.dir, "store", "partition-0.db")
	v.journalFile = v.file + ".journal"
	e := open(t, v.dir, &storage.Options{Partitions: 1})
	fill(t, e, 12, 25, 150)
	w := newWriter(t, e, testGroup)
	for i := range 30 {
		b := message(w, 200+i%3*6000)
		if i > 20 {
			b.Records = append(b.Records, ubl.Record{Key: []byte("m000003")}, ubl.Record{Key: []byte("m000010")})
		}
		if err := submit(e, b); err != nil {
			t.Fatal(err)
		}
	}
	v.truth = mustContents(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if v.clean, err = os.ReadFile(v.file); err != nil {
		t.Fatal(err)
	}
	if v.journal, err = os.ReadFile(v.journalFile); err != nil {
		t.Fatal(err)
	}
	for v.used = len(v.clean); v.clean[v.used-1] == 0; v.used-- {
	}
	if have, err := v.try(t, v.clean, nil); err != nil || !maps.Equal(have, v.truth) {
		t.Fatalf("the undamaged file: %v", err)
	}
	return v
}

// try puts damaged bytes in the file's place and reads all there is.
func (v *victim) try(t *testing.T, damaged []byte, o *storage.Options) (map[string]string, error) {
	t.Helper()
	// What lies above the bytes in use is a hole, and stays one.
	if err := os.WriteFile(v.file, damaged[:min(v.used, len(damaged))], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(v.file, int64(len(damaged))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(v.journalFile, v.journal, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := storage.Open(v.dir, o)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	all, err := contents(t, e)
	// A writer meets the damage too; it must get an answer.
	if lease, head, err := e.Begin(t.Context(), testGroup); err == nil {
		submit(e, &ubl.Batch{Group: testGroup, Lease: lease, Head: head, Next: head,
			Records: []ubl.Record{{Key: []byte("new"), Value: []byte("value")}}})
	}
	return all, err
}

// damage flips some bytes below the high water mark.
func (v *victim) damage(r *rand.Rand) []byte {
	b := append([]byte(nil), v.clean...)
	at := r.IntN(v.used)
	if r.IntN(3) == 0 { // the structure at the beginning of a page
		at = min(at/4096*4096+r.IntN(96), v.used-1)
	}
	for i := range 1 + r.IntN(3) {
		b[min(at+i, v.used-1)] ^= byte(1 + r.IntN(255))
	}
	return b
}

// TestFlippedBytes: whatever is damaged, Open says so or everything is there.
func TestFlippedBytes(t *testing.T) {
	v := newVictim(t)
	found := 0
	for seed := range uint64(400) {
		have, err := v.try(t, v.damage(rand.New(rand.NewPCG(1, seed))), nil)
		switch {
		case errors.Is(err, storage.ErrDamaged), errors.Is(err, storage.ErrNewerFormat):
			found++
		case err != nil:
			t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
		case !maps.Equal(have, v.truth):
			t.Errorf("seed %d: the damage was not noticed and the data is wrong", seed)
		}
	}
	if found < 60 {
		t.Errorf("only %d of 400 damages were noticed: does the test reach the data?", found)
	}
}

// TestFlippedBytesWhileServing skips the check at Open, as for a file that is
// damaged later: a value that is read is the true one, and nothing crashes.
func TestFlippedBytesWhileServing(t *testing.T) {
	v := newVictim(t)
	for seed := range uint64(200) {
		have, err := v.try(t, v.damage(rand.New(rand.NewPCG(2, seed))), &storage.Options{VerifyBytes: -1})
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
		}
		for key, value := range have {
			if v.truth[key] != value {
				t.Errorf("seed %d: a wrong value of %q", seed, key)
			}
		}
	}
}

// TestFlippedBytesInLargeFile is for a file of which Open checks the inner pages
// only: whatever is damaged, there is an answer and no crash.
func TestFlippedBytesInLargeFile(t *testing.T) {
	v := newVictim(t)
	for seed := range uint64(100) {
		_, err := v.try(t, v.damage(rand.New(rand.NewPCG(3, seed))), &storage.Options{VerifyBytes: 1})
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("seed %d: an error that does not say what is wrong: %v", seed, err)
		}
	}
}

func TestTruncatedFile(t *testing.T) {
	v := newVictim(t)
	r := rand.New(rand.NewPCG(4, 0))
	for range 60 {
		size := r.IntN(len(v.clean))
		have, err := v.try(t, v.clean[:size], nil)
		if err == nil && !maps.Equal(have, v.truth) {
			t.Errorf("cut to %d of %d bytes: not noticed", size, len(v.clean))
		}
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
		if size < v.used && err == nil {
			t.Errorf("cut to %d bytes, below the %d in use: not noticed", size, v.used)
		}
	}
}

// TestOneDamagedMeta: bbolt would go back to the commit before.
func TestOneDamagedMeta(t *testing.T) {
	v := newVictim(t)
	for _, page := range []int{0, 1} {
		b := append([]byte(nil), v.clean...)
		b[page*4096+40] ^= 1
		if _, err := v.try(t, b, nil); !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("meta page %d damaged: %v", page, err)
		}
	}
}
