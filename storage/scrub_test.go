package storage_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/storage"
)

func numbers() []ubl.Numbers {
	return []ubl.Numbers{{Space: 'm', Counter: "c", Named: true, Fixed: true, Rewritten: 4}, {Space: 'g', Counter: "e", Named: true, FromOne: true, Fixed: true}}
}

// numberedRecord is record n of a run.
func numberedRecord(space byte, name string, n int, value []byte) ubl.Record {
	return ubl.Record{Key: binary.BigEndian.AppendUint64(fmt.Appendf(nil, "%c%s\x00", space, name), uint64(n)), Value: value}
}

// runs makes a directory whose partition has numbered records: spoil may change each batch.
func runs(t *testing.T, dir string, n int, spoil func(i int, b *ubl.Batch)) {
	t.Helper()
	e := open(t, dir, &storage.Options{Partitions: 1})
	w := newWriter(t, e, testGroup)
	for i := 1; i <= n; i++ {
		b := message(w, 10)
		b.Counters = append(b.Counters, ubl.Counter{Key: []byte("cr:one"), From: int64(i - 1), To: int64(i)})
		b.Records = append(b.Records, numberedRecord('m', "r:one", i, fmt.Appendf(nil, "message %d", i)))
		if spoil != nil {
			spoil(i, b)
		}
		if err := submit(e, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// scrubs is what the scrub of a server and the check of a stopped one find.
func scrubs(t *testing.T, dir string) (found []storage.Place, digests []storage.Digest) {
	t.Helper()
	checked, err := storage.Check(t.Context(), dir, &storage.Options{Numbers: numbers()}, nil)
	if err != nil || len(checked) != 1 {
		t.Fatal(checked, err)
	}
	told := 0
	e, err := storage.Open(dir, &storage.Options{VerifyBytes: -1, Numbers: numbers(), Damaged: func(_ int, err error) {
		if errors.Is(err, storage.ErrDamaged) {
			told++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.ScrubOnce(t.Context())
	s := e.Stats().Partitions[0]
	if len(s.Scrub.Places) != len(checked[0].Places) || s.Scrub.Damages != told || s.Damaged != int64(told) || s.Scrub.Finished == 0 {
		t.Errorf("the scrub found %+v and told %d times, the check %+v", s.Scrub, told, checked[0].Places)
	}
	return checked[0].Places, checked[0].Digests
}

// TestScrubBeside: a partition is spoiled by what is found beside its file, and stays so
// until a pass finds nothing there. What is read beside it is read at the scrub's rate.
func TestScrubBeside(t *testing.T) {
	e := open(t, t.TempDir(), &storage.Options{Partitions: 1})
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var spoiled []bool
	e.Scrub(ctx, storage.ScrubOptions{Rate: 1 << 20, Every: time.Nanosecond, Beside: func(_ context.Context, partition int, pace func(int64)) {
		spoiled = append(spoiled, e.Stats().Partitions[partition].Spoiled)
		switch start := time.Now(); len(spoiled) {
		case 1:
			e.Spoil(partition)
			if pace(32 << 10); time.Since(start) < time.Second/32 {
				t.Errorf("32 KiB at 1 MiB/s were read in %v", time.Since(start))
			}
		case 3:
			cancel()
			if pace(1 << 40); time.Since(start) > time.Minute {
				t.Error("it reads on behind its end")
			}
		}
	}})
	if want := []bool{false, true, false}; !slices.Equal(spoiled, want) {
		t.Errorf("spoiled in each pass: %v, want %v", spoiled, want)
	}
}

// TestScrubNumbers: a record that is missing from a run is found, wherever it was; and neither
// does a backup take it, nor a replica install it.
func TestScrubNumbers(t *testing.T) {
	delete := func(at, n int) func(int, *ubl.Batch) {
		return func(i int, b *ubl.Batch) {
			if i == at {
				b.Records = append(b.Records, numberedRecord('m', "r:one", n, nil))
			}
		}
	}
	for name, test := range map[string]struct {
		spoil func(int, *ubl.Batch)
		want  string
	}{
		"none":       {nil, ""},
		"the oldest": {delete(100, 1), ""}, // as retention does
		"inside":     {delete(100, 50), "lack 50 to 50"},
		"the newest": {delete(100, 100), "lack 100 to 100"},
		"an event, the first": {func(i int, b *ubl.Batch) {
			b.Records = append(b.Records, numberedRecord('g', "r:one", i+1, []byte("e")))
			b.Counters = append(b.Counters, ubl.Counter{Key: []byte("er:one"), From: counted(i), To: int64(i + 1)})
		}, "lack 1 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			runs(t, dir, 100, test.spoil)
			found, _ := scrubs(t, dir)
			if test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || !strings.Contains(found[0].What, test.want) || found[0].Group != testGroup.String()) {
				t.Errorf("found %+v, want %q", found, test.want)
			}
			e := open(t, dir, &storage.Options{Partitions: 1, Numbers: numbers()})
			replica, _ := oldReplica(t, t.TempDir(), storage.Options{Numbers: numbers()})
			for what, err := range map[string]error{
				"a backup":   e.Backup(t.Context(), io.Discard, nil),
				"a snapshot": replica.Install(0, bytes.NewReader(snapshotOf(t, e, 0))),
			} {
				if damaged := errors.Is(err, storage.ErrDamaged); damaged != (test.want != "") || damaged && !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s of it: %v, want %q", what, err, test.want)
				}
			}
		})
	}
}

func counted(i int) int64 {
	if i == 1 {
		return 0
	}
	return int64(i)
}

// TestScrubPages: each damaged page and value is a place, and those behind it are
// read all the same.
func TestScrubPages(t *testing.T) {
	v := newVictim(t)
	at := v.leafOf(t, 8)
	b := bytes.Clone(v.clean)
	b[at+10]--                            // a leaf
	other := at + 4096                    // and a value of another
	for ; other < v.used; other += 4096 { // with some elements
		if binary.NativeEndian.Uint16(b[other+8:]) == 2 && binary.NativeEndian.Uint16(b[other+10:]) > 8 {
			break
		}
	}
	e := other + 16 + 3*16
	b[other+16+3*16+int(binary.NativeEndian.Uint32(b[e+4:]))+int(binary.NativeEndian.Uint32(b[e+8:]))+5] ^= 4
	if _, err := v.try(t, b, nil); !errors.Is(err, storage.ErrDamaged) {
		t.Fatalf("Open: %v", err)
	}
	if err := os.WriteFile(v.file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	found, _ := scrubs(t, v.dir)
	want := []string{fmt.Sprintf("page %d is not valid", at/4096), fmt.Sprintf("a value on page %d does not match", other/4096)}
	for _, w := range want {
		n := 0
		for _, place := range found {
			if strings.Contains(place.What, w) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is found %d times in %+v", w, n, found)
		}
	}
}

// TestScrubSaysNoMore: of a run with a damaged leaf only that leaf's records are said
// to be missing, and of one with a damaged value none.
func TestScrubSaysNoMore(t *testing.T) {
	dir := t.TempDir()
	runs(t, dir, 400, nil)
	file := filepath.Join(dir, "store", "partition-0.db")
	clean, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	leaf := 0 // of atoms alone, with others before it
	prefix := append([]byte(testGroup.String()), 0, 'a')
	var first, count int
	for at := 2 * 4096; at+4096 <= len(clean); at += 4096 {
		n := int(binary.NativeEndian.Uint16(clean[at+10:]))
		if binary.NativeEndian.Uint64(clean[at:]) != uint64(at/4096) || binary.NativeEndian.Uint16(clean[at+8:]) != 2 || n < 3 {
			continue
		}
		keys := clean[at+16+int(binary.NativeEndian.Uint32(clean[at+16+4:])):]
		if number := int(binary.BigEndian.Uint64(keys[len(prefix):])); bytes.HasPrefix(keys, prefix) && number > 1 && number+n < 400 {
			leaf, first, count = at, number, n
		}
	}
	if leaf == 0 {
		t.Fatal("no leaf of atoms")
	}
	value := leaf + 16 + int(binary.NativeEndian.Uint32(clean[leaf+16+4:])) + len(prefix) + 8 + 5
	for what, c := range map[string]struct {
		at   int
		want []string
	}{
		"a leaf":  {leaf + 10, []string{fmt.Sprintf("page %d is not valid", leaf/4096), fmt.Sprintf("the ledger's atoms lack %d to %d", first, first+count-1)}},
		"a value": {value, []string{fmt.Sprintf("a value on page %d does not match", leaf/4096)}},
	} {
		b := bytes.Clone(clean)
		b[c.at] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		found, _ := scrubs(t, dir)
		said := ""
		for _, place := range found {
			said += place.What + "\n"
		}
		if len(found) != len(c.want) || !strings.Contains(said, c.want[0]) || !strings.Contains(said, c.want[len(c.want)-1]) {
			t.Errorf("%s: found %+v, want %q", what, found, c.want)
		}
	}
}

// TestDigests: stores with the same sealed ranges have the same digests, though
// one has more; another value makes another sum of the same ranges.
func TestDigests(t *testing.T) {
	digests := func(n int, spoil func(int, *ubl.Batch)) []storage.Digest {
		dir := t.TempDir()
		runs(t, dir, n, spoil)
		_, list := scrubs(t, dir)
		return list
	}
	one, more := digests(200, nil), digests(230, nil)
	other := digests(200, func(i int, b *ubl.Batch) {
		if i == 7 {
			b.Records[len(b.Records)-1].Value = []byte("another")
		}
	})
	counted, differ := int64(0), 0
	for i := range one {
		counted += one[i].Count
		if one[i] != more[i] {
			t.Errorf("digest %d is %+v, and with more records %+v", i, one[i], more[i])
		}
		if one[i].Ranges != other[i].Ranges {
			t.Errorf("digest %d is of other ranges", i)
		}
		if one[i].Sum != other[i].Sum {
			differ++
		}
	}
	if counted == 0 || differ != 1 {
		t.Errorf("%d ranges, %d digests differ for one value", counted, differ)
	}
	// A copy that was looked at before something was rewritten isn't compared with one that
	// was looked at since.
	rewritten := digests(200, func(i int, b *ubl.Batch) {
		if i == 150 { // the ranges that have record 7 were whole long before
			b.Records = append(b.Records, numberedRecord('m', "r:one", 7, []byte{4}))
		}
	})
	differ = 0
	for i := range one {
		if one[i].Sum != rewritten[i].Sum {
			differ++
			if one[i].Ranges == rewritten[i].Ranges {
				t.Errorf("digest %d is of the same ranges, and one record was rewritten", i)
			}
		}
	}
	if differ != 1 {
		t.Errorf("%d digests differ for one that was rewritten", differ)
	}
}

// TestScrubForgets: what a pass found in a replica's file isn't told of the one that takes its
// place, also before a pass of that.
func TestScrubForgets(t *testing.T) {
	leader, l := lead(t, t.TempDir(), storage.Options{})
	fill(t, leader, 1, 5, 100)
	dir := t.TempDir()
	e := openReplica(t, dir, newLog(), storage.Options{})
	mustApply(t, e, l.all(0))
	if err := e.Close(); err != nil { // which commits
		t.Fatal(err)
	}
	e = openReplica(t, dir, newLog(), storage.Options{})
	path := filepath.Join(dir, "store", "partition-0.db")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := 0; ; at++ { // older pages may have it, too
		next := bytes.Index(file[at:], []byte("effect 3 of"))
		if next < 0 {
			break
		}
		at += next
		if _, err := f.WriteAt([]byte("X"), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	scrub := func() storage.ScrubStats { return e.Stats().Partitions[0].Scrub }
	if e.ScrubOnce(t.Context()); scrub().Damages == 0 {
		t.Fatal("the damage isn't found")
	}
	e.Distrust(0, storage.ErrDamaged)
	if err := e.Resume(0); err != nil {
		t.Fatal(err)
	}
	if s := scrub(); s.Damages != 0 || len(s.Places) != 0 || s.Finished != 0 {
		t.Errorf("the new file is said to have %+v", s)
	}
}
