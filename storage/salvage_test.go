package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
)

// wreck is a partition's file that a test damages, and what was in its ledger.
type wreck struct {
	dir, path string
	clean     []byte
	atoms     []string // by seq - 1
	leaves    []int    // pages of the tree with the ledger's atoms
	branches  []int
	below     map[int]int // how many of the atoms are at or below a page
}

const (
	pageSize   = 4096
	branchFlag = 1
	leafFlag   = 2
)

func newWreck(t *testing.T) *wreck {
	t.Helper()
	v := &wreck{dir: t.TempDir(), below: map[int]int{}}
	e := open(t, v.dir, &storage.Options{Partitions: 1})
	done := make(chan error, 1)
	for _, g := range []ubl.Group{testGroup, {Tenant: "t:a", Shard: "0"}, {Tenant: "t:z", Shard: "0"}} { // before and behind it
		w := newWriter(t, e, g)
		for n := range 250 {
			atom := func(size int) string { return fmt.Sprintf(`{"cid":"c:%d","pad":"%0*d","prev_hash":"h:1"}`, n, size, 0) }
			e.Submit(w.Batch(atom(180+n), atom(280-n)), func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	v.path = filepath.Join(v.dir, "store", "partition-0.db")
	var err error
	if v.clean, err = os.ReadFile(v.path); err != nil {
		t.Fatal(err)
	}
	atoms, holes, err := v.read(t)
	if err != nil || len(holes) > 0 {
		t.Fatalf("a sound ledger has the holes %v: %v", holes, err)
	}
	for seq := range int64(len(atoms)) {
		v.atoms = append(v.atoms, atoms[seq+1])
	}
	v.walk(v.root())
	if len(v.leaves) < 10 || len(v.branches) == 0 {
		t.Fatalf("%d leaves and %d branches are too few", len(v.leaves), len(v.branches))
	}
	return v
}

// root is the page at which the data bucket begins: that of the newest meta page says.
func (v *wreck) root() int {
	newest := v.clean[16:]
	if other := v.clean[pageSize+16:]; number(other[48:]) > number(newest[48:]) {
		newest = other
	}
	buckets := v.clean[number(newest[16:])*pageSize:]
	at := 16 + int(binary.NativeEndian.Uint32(buckets[20:])) + int(binary.NativeEndian.Uint32(buckets[24:]))
	return number(buckets[at:])
}

func number(b []byte) int { return int(binary.NativeEndian.Uint64(b)) }

// walk notes the pages below one, and counts the ledger's atoms there.
func (v *wreck) walk(page int) (atoms int) {
	b := v.clean[page*pageSize:]
	if binary.NativeEndian.Uint16(b[8:]) == leafFlag {
		if atoms = bytes.Count(b[:pageSize], []byte("t:test|0\x00a")); atoms > 0 {
			v.leaves = append(v.leaves, page)
		}
		v.below[page] = atoms
		return atoms
	}
	v.branches = append(v.branches, page)
	for i := range int(binary.NativeEndian.Uint16(b[10:])) {
		atoms += v.walk(number(b[16+16*i+8:]))
	}
	v.below[page] = atoms
	return atoms
}

// read gives the ledger's atoms by seq, and the holes.
func (v *wreck) read(t *testing.T) (atoms map[int64]string, holes []ubl.Hole, err error) {
	t.Helper()
	l, err := storage.OpenLedger(v.dir, testGroup, nil)
	if err != nil {
		return nil, nil, err
	}
	atoms, next := map[int64]string{}, int64(1)
	follows := func(from int64) {
		if from != next {
			t.Errorf("%d comes where %d is next", from, next)
		}
	}
	err = l.Atoms(t.Context(), func(seq int64, atom []byte) error {
		follows(seq)
		atoms[seq], next = string(atom), seq+1
		return nil
	}, func(from, to int64, why error) error {
		follows(from)
		if why == nil || why.Error() == "" || to < from {
			t.Errorf("the hole from %d to %d is there because of %v", from, to, why)
		}
		holes, next = append(holes, ubl.Hole{From: from, To: to, Reason: why.Error()}), to+1
		return nil
	})
	if err == nil && next != l.Head().Seq+1 {
		t.Errorf("it ends before %d, the head is at %d", next, l.Head().Seq)
	}
	if v.atoms != nil && l.Head().Seq != int64(len(v.atoms)) && l.Lost() == nil {
		t.Errorf("the ledger ends at %d, and nothing is said to be lost", l.Head().Seq)
	}
	return atoms, holes, errors.Join(err, l.Close())
}

// lay writes the pages that differ.
func (v *wreck) lay(t *testing.T, from, to []byte) {
	t.Helper()
	f, err := os.OpenFile(v.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(to); at += pageSize {
		if page := to[at:min(at+pageSize, len(to))]; !bytes.Equal(page, from[at:at+len(page)]) {
			_, errPage := f.WriteAt(page, int64(at))
			err = errors.Join(err, errPage)
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// damaged reads the ledger with some bytes changed, and gives how many atoms are missing.
// What is given must be what was written.
func (v *wreck) damaged(t *testing.T, what string, change func(b []byte)) (missing int) {
	t.Helper()
	b := bytes.Clone(v.clean)
	change(b)
	v.lay(t, v.clean, b)
	defer v.lay(t, b, v.clean)
	atoms, holes, err := v.read(t)
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%s: an error that doesn't say what is wrong: %v", what, err)
		}
		return len(v.atoms)
	}
	for seq, atom := range atoms {
		if atom != v.atoms[seq-1] {
			t.Errorf("%s: atom %d is another: %q", what, seq, atom)
		}
	}
	for _, h := range holes {
		missing += int(h.To - h.From + 1)
	}
	if missing+len(atoms) > len(v.atoms) {
		t.Errorf("%s: %d atoms and %d missing are too many", what, len(atoms), missing)
	}
	return len(v.atoms) - len(atoms)
}

// TestSalvage: of a damaged ledger everything is read that can be, around the damage, and
// each hole is told; wherever in the tree the damage is.
func TestSalvage(t *testing.T) {
	v := newWreck(t)
	random := rand.New(rand.NewPCG(3, 12))
	at := func(pages []int) int { return pages[random.IntN(len(pages))] * pageSize }
	content := func(b []byte) int { // some byte behind a page's header and before its end
		last := 16 + 16*(int(binary.NativeEndian.Uint16(b[10:]))-1)
		end := last + int(binary.NativeEndian.Uint32(b[last+4:])) + int(binary.NativeEndian.Uint32(b[last+8:])) + int(binary.NativeEndian.Uint32(b[last+12:]))
		return 16 + random.IntN(end-16)
	}
	for n := range 40 {
		leaf := at(v.leaves)
		in := leaf + content(v.clean[leaf:leaf+pageSize])
		if missing := v.damaged(t, "a bit of a leaf", func(b []byte) { b[in] ^= 1 << random.IntN(8) }); missing > 1 {
			t.Errorf("%d: one bit at %d of page %d costs %d atoms", n, in-leaf, leaf/pageSize, missing)
		}
	}
	for range 10 {
		leaf := at(v.leaves)
		inside := v.below[leaf/pageSize]
		if missing := v.damaged(t, "a leaf of zeros", func(b []byte) { clear(b[leaf : leaf+pageSize]) }); missing != inside {
			t.Errorf("page %d without anything costs %d atoms, want %d", leaf/pageSize, missing, inside)
		}
	}
	for _, page := range v.branches {
		b := v.clean[page*pageSize:]
		for i := 0; i < int(binary.NativeEndian.Uint16(b[10:])); i += 1 + random.IntN(6) {
			element := page*pageSize + 16 + 16*i
			key := element + int(binary.NativeEndian.Uint32(v.clean[element:]))
			inside := random.IntN(int(binary.NativeEndian.Uint32(v.clean[element+4:])))
			for _, at := range []int{0, inside, int(binary.NativeEndian.Uint32(v.clean[element+4:])) - 1} {
				if missing := v.damaged(t, "a key of a branch", func(b []byte) { b[key+at] ^= 2 }); missing > 0 {
					t.Errorf("byte %d of key %d of branch %d costs %d atoms", at, i, page, missing)
				}
			}
			below := v.below[number(v.clean[element+8:])]
			if missing := v.damaged(t, "a branch below itself", func(b []byte) { binary.NativeEndian.PutUint64(b[element+8:], uint64(page)) }); missing != below {
				t.Errorf("child %d of branch %d costs %d atoms, want %d", i, page, missing, below)
			}
		}
		if missing := v.damaged(t, "a branch of zeros", func(b []byte) { clear(b[page*pageSize : (page+1)*pageSize]) }); missing != v.below[page] {
			t.Errorf("branch %d without anything costs %d atoms, want %d", page, missing, v.below[page])
		}
	}
	for range 30 {
		spoiled := 1 + random.IntN(20)
		v.damaged(t, fmt.Sprintf("%d bytes anywhere", spoiled), func(b []byte) {
			for range spoiled {
				b[2*pageSize+random.IntN(len(b)-2*pageSize)] = byte(random.Uint32())
			}
		})
		v.damaged(t, "pages in one another's place", func(b []byte) {
			one, other := at(v.leaves), at(v.leaves)
			copy(b[one:one+pageSize], v.clean[other:])
			copy(b[other:other+pageSize], v.clean[one:])
		})
	}
	for i := 0; i < len(v.leaves); i += 5 {
		leaf := v.leaves[i]
		if err := os.Truncate(v.path, int64(leaf)*pageSize+100); err != nil {
			t.Fatal(err)
		}
		atoms, _, err := v.read(t)
		for seq, atom := range atoms {
			if atom != v.atoms[seq-1] {
				t.Errorf("cut off in page %d, atom %d is another", leaf, seq)
			}
		}
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("cut off in page %d: %v", leaf, err)
		}
		if err := os.WriteFile(v.path, v.clean, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCutShort: of a file that was cut short everything is read that lies before the cut, and
// what can't be read is told in plain words, wherever the cut is.
func TestCutShort(t *testing.T) {
	v := newWreck(t)
	pages, whole := len(v.clean)/pageSize, 0
	for cut := 2; cut < pages; cut += 7 {
		if err := os.Truncate(v.path, int64(cut)*pageSize+100); err != nil {
			t.Fatal(err)
		}
		atoms, holes, err := v.read(t)
		said := fmt.Sprint(holes, err)
		if strings.Contains(said, "panic") || strings.Contains(said, "runtime error") {
			t.Errorf("cut off in page %d: %s", cut, said)
		}
		if err != nil && (!errors.Is(err, storage.ErrDamaged) || !strings.Contains(said, "nothing of this partition can be read: its root page lies beyond the end of the file")) {
			t.Errorf("cut off in page %d: %v", cut, err)
		}
		for seq, atom := range atoms {
			if atom != v.atoms[seq-1] {
				t.Errorf("cut off in page %d, atom %d is another", cut, seq)
			}
		}
		if len(atoms) > 0 {
			whole++
		}
		if err := os.WriteFile(v.path, v.clean, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if whole == 0 {
		t.Error("no cut leaves anything")
	}
}
