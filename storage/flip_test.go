package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/test/soak"
)

// lay puts a file with its journal in the victim's place.
func (v *victim) lay(t *testing.T, file []byte) {
	t.Helper()
	for path, data := range map[string][]byte{v.file: file[:min(v.used, len(file))], v.journalFile: v.journal, v.journalFile + ".acked": v.mark} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// What lies above the bytes in use is a hole, and stays one.
	if err := os.Truncate(v.file, int64(len(file))); err != nil {
		t.Fatal(err)
	}
}

// reached asks for each key by itself, and gives those that are read.
func (v *victim) reached(t *testing.T, e *storage.Engine) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, want := range v.truth {
		group, key, _ := strings.Cut(name, " ")
		tenant, shard, _ := strings.Cut(group, "|")
		err := e.View(t.Context(), ubl.Group{Tenant: ubl.TenantID(tenant), Shard: shard}, func(s ubl.Snapshot) error {
			value, err := s.Get([]byte(key))
			if err == nil && string(value) != want {
				t.Errorf("%s is read as %q", name, value)
			}
			if err == nil {
				found[name] = string(value)
			}
			return err
		})
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%s: an error that doesn't say what is wrong: %v", name, err)
		}
	}
	return found
}

// scribble writes to every group, and removes much, so that pages are freed and
// merged. It changes what must be read afterwards as far as that was acknowledged.
func scribble(t *testing.T, e *storage.Engine, round int, must map[string]string) {
	t.Helper()
	var settle []func()
	for i := range 13 {
		g := testGroup
		if i < 12 {
			g = ubl.Group{Tenant: ubl.TenantID(fmt.Sprintf("t:fill%d", i)), Shard: "0"}
		}
		lease, head, err := e.Begin(t.Context(), g)
		if err != nil {
			continue
		}
		b := &ubl.Batch{Group: g, Lease: lease, Head: head, Next: head}
		for n := range 20 {
			b.Records = append(b.Records, ubl.Record{Key: fmt.Appendf(nil, "m%06d", n+1)})
		}
		for n := range 4 {
			b.Records = append(b.Records, ubl.Record{Key: fmt.Appendf(nil, "n%d-%d", round, n), Value: bytes.Repeat([]byte{byte(round)}, 900)})
		}
		done := make(chan error, 1)
		e.Submit(b, func(err error) { done <- err })
		settle = append(settle, func() { settled(t, <-done, b, must) })
	}
	for _, wait := range settle {
		wait()
	}
}

// settled notes what a batch has changed.
func settled(t *testing.T, err error, b *ubl.Batch, must map[string]string) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("a write to %s: %v", b.Group, err)
		}
		return
	}
	for _, r := range b.Records {
		if name := b.Group.String() + " " + string(r.Key); r.Value == nil {
			delete(must, name)
		} else {
			must[name] = string(r.Value)
		}
	}
}

// flipped lives with a damaged file: what is read is right and whole or an error, and
// writes lose neither what could be read before nor what was acknowledged.
func (v *victim) flipped(t *testing.T, what string, file []byte, o *storage.Options) (served bool) {
	t.Helper()
	v.lay(t, file)
	e, err := storage.Open(v.dir, o)
	if err != nil {
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrNewerFormat) {
			t.Errorf("%s: a start is refused with %v", what, err)
		}
		return false
	}
	told := e.Stats().Partitions[0].Damaged > 0
	all, err := contents(t, e)
	if err == nil && !maps.Equal(all, v.truth) {
		t.Errorf("%s: %d of %d values are read, and no error", what, len(all), len(v.truth))
	}
	if spoiled := e.Stats().Partitions[0].Spoiled; o == nil && (err != nil) != told || err != nil && !spoiled {
		t.Errorf("%s: reading gives %v, and the start told of damage: %t, later: %t", what, err, told, spoiled)
	}
	must := v.reached(t, e)
	for round := range 3 {
		scribble(t, e, round, must)
	}
	if err := e.Close(); err != nil {
		t.Errorf("%s: closing: %v", what, err)
	}
	if e, err = storage.Open(v.dir, o); err != nil {
		t.Errorf("%s: it can't be opened again after writes: %v", what, err)
		return true
	}
	defer e.Close()
	after := *v
	after.truth = must
	if have := after.reached(t, e); len(have) < len(must) {
		t.Errorf("%s: %d of %d values are lost after writes", what, len(must)-len(have), len(must))
	}
	return true
}

// TestFlippedBit: a node alone starts where one leaf is damaged, whatever the size of
// its file, and is refused where a write could destroy more.
func TestFlippedBit(t *testing.T) {
	v := newVictim(t)
	seed := soak.Seed(t, "UBL_FLIP_SEED", 12)
	for _, o := range []*storage.Options{nil, {VerifyBytes: 1}} {
		served, rounds := 0, soak.Of(40, 2000)
		for round := range rounds {
			r := rand.New(rand.NewPCG(seed, uint64(round)))
			at := r.IntN(v.used)
			if round%3 == 0 { // the structure at the beginning of a page
				at = min(at/4096*4096+r.IntN(64), v.used-1)
			}
			bit := r.IntN(8)
			v.clean[at] ^= 1 << bit
			if v.flipped(t, fmt.Sprintf("bit %d of byte %d of page %d", bit, at%4096, at/4096), v.clean, o) {
				served++
			}
			v.clean[at] ^= 1 << bit // back; copies of the whole file are dear under the race detector
		}
		if served < rounds/4 {
			t.Errorf("only %d of %d damaged files are served", served, rounds)
		}
	}
}

// TestFlippedFreePage: a list of free pages that names a page in use, also one that
// only a leaf's overflow tells of, is refused; and so is a root that points elsewhere.
func TestFlippedFreePage(t *testing.T) {
	v := newVictim(t)
	e := open(t, v.dir, nil)
	scribble(t, e, 0, map[string]string{})
	v.take(t, e)
	order := binary.NativeEndian
	meta := 0
	if order.Uint64(v.clean[4096+64:]) > order.Uint64(v.clean[64:]) {
		meta = 4096
	}
	root, list := int(order.Uint64(v.clean[meta+32:]))*4096, int(order.Uint64(v.clean[meta+48:]))*4096
	data := root + 16 + int(order.Uint32(v.clean[root+20:])) + len("data")
	free := int(order.Uint16(v.clean[list+10:]))
	places := []int{data} // whose bits matter up to the file's size
	for i := range free {
		places = append(places, list+16+8*i)
	}
	for i, at := range places {
		for bit := range 8 {
			number := order.Uint64(v.clean[at:])
			v.clean[at] ^= 1 << bit
			for n, o := range []*storage.Options{{VerifyBytes: 1}, nil} {
				if n > 0 && i > 0 {
					continue // a full check counts all pages
				}
				if v.flipped(t, fmt.Sprintf("bit %d of page number %d", bit, number), v.clean, o) {
					t.Errorf("bit %d of page number %d: the start is not refused", bit, number)
				}
			}
			v.clean[at] ^= 1 << bit
		}
	}
	if free < 3 {
		t.Errorf("%d pages are free: does the test reach the list?", free)
	}
}
