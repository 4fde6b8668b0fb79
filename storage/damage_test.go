package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/test/soak"
)

// victim is a closed directory of one partition that tests damage: a tree of
// several levels, with overflow pages, free pages and deleted keys.
type victim struct {
	dir, file   string
	journalFile string
	clean       []byte
	journal     []byte // beside it
	mark        []byte // of the journal
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
	v.take(t, e)
	if have, err := v.try(t, v.clean, nil); err != nil || !maps.Equal(have, v.truth) {
		t.Fatalf("the undamaged file: %v", err)
	}
	return v
}

// take closes the store and keeps what it is.
func (v *victim) take(t *testing.T, e *storage.Engine) {
	t.Helper()
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
	if v.mark, err = os.ReadFile(v.journalFile + ".acked"); err != nil {
		t.Fatal(err)
	}
}

// try puts damaged bytes in the file's place and reads all there is.
func (v *victim) try(t *testing.T, damaged []byte, o *storage.Options) (map[string]string, error) {
	t.Helper()
	v.lay(t, damaged)
	e, err := storage.Open(v.dir, o)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	all, err := contents(t, e)
	if counted := e.Stats().Partitions[0].Damaged > 0; errors.Is(err, storage.ErrDamaged) && !counted {
		t.Errorf("a read met damage that Stats doesn't count: %v", err)
	}
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
	found, rounds := 0, soak.Of[uint64](120, 2000)
	for seed := range rounds {
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
	if found < int(rounds)/7 {
		t.Errorf("only %d of %d damages were noticed: does the test reach the data?", found, rounds)
	}
}

// TestFlippedBytesWhileServing skips the check at Open, as for a file that is
// damaged later, and TestFlippedBytesInLargeFile has it look at the inner pages
// only: all that was written is read, or an error says that there is damage.
func TestFlippedBytesWhileServing(t *testing.T) {
	wholeOrTold(t, 2, soak.Of[uint64](80, 5000), &storage.Options{VerifyBytes: -1})
}

func TestFlippedBytesInLargeFile(t *testing.T) {
	wholeOrTold(t, 3, soak.Of[uint64](80, 5000), &storage.Options{VerifyBytes: 1})
}

func wholeOrTold(t *testing.T, seed, rounds uint64, o *storage.Options) {
	v := newVictim(t)
	for round := range rounds {
		have, err := v.try(t, v.damage(rand.New(rand.NewPCG(seed, round))), o)
		if err != nil && !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrNewerFormat) {
			t.Errorf("round %d: an error that does not say what is wrong: %v", round, err)
		}
		if err == nil && !maps.Equal(have, v.truth) {
			t.Errorf("round %d: %d of %d values are read, and no error", round, len(have), len(v.truth))
		}
		for key, value := range have {
			if v.truth[key] != value {
				t.Errorf("round %d: a wrong value of %q", round, key)
			}
		}
	}
}

// leafOf finds the leaf that begins with a key of many, and where its elements are.
func (v *victim) leafOf(t *testing.T, least int) (at int) {
	t.Helper()
	for at = 2 * 4096; at < v.used; at += 4096 {
		flags, count := binary.NativeEndian.Uint16(v.clean[at+8:]), int(binary.NativeEndian.Uint16(v.clean[at+10:]))
		if flags == 2 && count >= least && bytes.Contains(v.clean[at:at+4096], []byte("\x00m0000")) {
			return at
		}
	}
	t.Fatal("no leaf with messages")
	return 0
}

// TestHiddenValues: what a damaged leaf hides is never passed over in silence, by
// no way of reading, and a write doesn't make a sound page of what is left.
func TestHiddenValues(t *testing.T) {
	v := newVictim(t)
	at := v.leafOf(t, 8)
	key := func(b []byte, i int) []byte {
		e := at + 16 + 16*i
		pos, size := int(binary.NativeEndian.Uint32(b[e+4:])), int(binary.NativeEndian.Uint32(b[e+8:]))
		return b[e+pos : e+pos+size]
	}
	for name, spoil := range map[string]func(b []byte){
		"a lowered count":       func(b []byte) { b[at+10]-- },
		"no values":             func(b []byte) { b[at+10], b[at+11] = 0, 0 },
		"a key far beyond":      func(b []byte) { key(b, 3)[0] ^= 0x80 },
		"the last key, further": func(b []byte) { k := key(b, int(b[at+10])-1); k[len(k)-1] ^= 0x40 },
		"the first key, before": func(b []byte) { k := key(b, 0); k[len(k)-1] ^= 0x10 },
		"a value":               func(b []byte) { e := at + 32; b[e+int(binary.NativeEndian.Uint32(b[e+4:]))+40] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(v.clean)
			spoil(b)
			for _, o := range []*storage.Options{{VerifyBytes: -1}, {VerifyBytes: 1}, {}} {
				if _, err := v.try(t, b, o); !errors.Is(err, storage.ErrDamaged) {
					t.Errorf("reading, checked up to %d bytes: %v", o.VerifyBytes, err)
				}
			}
			if name != "a value" {
				i := 0
				for !bytes.Contains(key(v.clean, i), []byte("\x00m0000")) {
					i++
				}
				v.writeInto(t, key(v.clean, i))
			}
			if checked, err := storage.Check(t.Context(), v.dir, nil, nil); err != nil || len(checked[0].Places) == 0 {
				t.Errorf("after a write the damage is not seen any more: %+v, %v", checked, err)
			}
		})
	}
}

// writeInto writes beside a key of the file that try has left, and expects to be
// refused.
func (v *victim) writeInto(t *testing.T, full []byte) {
	t.Helper()
	name, key, _ := bytes.Cut(full, []byte{0})
	tenant, shard, _ := bytes.Cut(name, []byte("|"))
	g := ubl.Group{Tenant: ubl.TenantID(tenant), Shard: string(shard)}
	e := open(t, v.dir, &storage.Options{VerifyBytes: -1})
	defer e.Close()
	lease, head, err := e.Begin(t.Context(), g)
	if err != nil {
		return // which is told, too
	}
	err = submit(e, &ubl.Batch{Group: g, Lease: lease, Head: head, Next: head,
		Records: []ubl.Record{{Key: append(bytes.Clone(key), 0), Value: []byte("value")}}})
	if !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("a write into the damaged page: %v", err)
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
