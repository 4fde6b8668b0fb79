package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/storage"
)

// filesIn are all files below a directory.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// atomsOf reads a group's ledger from a directory, and wants it left as it was.
func atomsOf(t *testing.T, dir string, g ubl.Group) (atoms []string, head ubl.LedgerHead, err error) {
	t.Helper()
	before := filesIn(t, dir)
	defer func() {
		for path, data := range filesIn(t, dir) {
			if before[path] != data {
				t.Errorf("%s was changed", path)
			}
		}
	}()
	l, err := storage.OpenLedger(dir, g, nil)
	if err != nil {
		return nil, head, err
	}
	err = l.Atoms(t.Context(), func(seq int64, atom []byte) error {
		atoms = append(atoms, string(atom))
		return nil
	}, func(from, to int64, why error) error {
		for range to - from + 1 {
			atoms = append(atoms, "")
		}
		return nil
	})
	return atoms, l.Head(), errors.Join(err, l.Lost(), l.Close())
}

// TestLedgerOfDamagedStore: of a store that isn't opened any more, a ledger in a sound
// partition is read whole, and one in a damaged partition around the damage, also what
// only the journal has. Nothing is written.
func TestLedgerOfDamagedStore(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &storage.Options{Partitions: 2})
	groups := []ubl.Group{testGroup, {}}
	for i := 0; groups[1].Tenant == ""; i++ {
		if g := (ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:other%d", i)), Shard: "0"}); e.Partition(g) != e.Partition(testGroup) {
			groups[1] = g
		}
	}
	const batches = 300
	for _, g := range groups {
		w := newWriter(t, e, g)
		for range batches {
			if err := submit(e, message(w, 10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	running := copyDir(t, dir) // with a journal that has what the file lacks
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	atoms, head, err := atomsOf(t, dir, testGroup)
	if err != nil || int64(len(atoms)) != head.Seq || head.Seq < batches {
		t.Fatalf("%d atoms, the head is %+v: %v", len(atoms), head, err)
	}
	if also, headAlso, err := atomsOf(t, running, testGroup); err != nil || headAlso != head || len(also) != len(atoms) {
		t.Errorf("with a journal: %d atoms of %d, the head is %+v: %v", len(also), len(atoms), headAlso, err)
	}
	other := filepath.Join(dir, "store", fmt.Sprintf("partition-%d.db", e.Partition(groups[1])))
	own := filepath.Join(dir, "store", fmt.Sprintf("partition-%d.db", e.Partition(testGroup)))
	spoil := func(path string, change func(b []byte)) (restore func()) {
		clean, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(clean)
		change(b)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.WriteFile(path, clean, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	restore := spoil(other, func(b []byte) { clear(b[:4096]) })
	if _, err := storage.Open(dir, nil); !errors.Is(err, storage.ErrDamaged) {
		t.Fatalf("Open: %v", err)
	}
	if got, _, err := atomsOf(t, dir, testGroup); err != nil || len(got) != len(atoms) {
		t.Errorf("with damage elsewhere: %d atoms of %d, %v", len(got), len(atoms), err)
	}
	restore()
	const spoilt = 200
	restore = spoil(own, func(b []byte) { b[bytes.Index(b, []byte(atoms[spoilt]))+3] ^= 1 })
	if got, _, err := atomsOf(t, dir, testGroup); err != nil || len(got) != len(atoms) || got[spoilt] != "" || got[spoilt+1] != atoms[spoilt+1] {
		t.Errorf("with a damaged atom: %d atoms of %d: %v", len(got), len(atoms), err)
	}
	restore()
	restore = spoil(own, func(b []byte) { clear(b[4096:8192]) }) // a meta page
	defer restore()
	got, _, err := atomsOf(t, dir, testGroup)
	if !errors.Is(err, storage.ErrDamaged) || len(got) == 0 {
		t.Errorf("with a damaged meta page of its own: %d atoms, %v", len(got), err)
	}
	for i := range got {
		if got[i] != atoms[i] {
			t.Fatalf("atom %d is another", i+1)
		}
	}
}
