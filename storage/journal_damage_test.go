package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
	"ubl/test/soak"
)

// TestDamagedJournal: damage is told, unless it is of the record that was being
// written.
func TestDamagedJournal(t *testing.T) {
	const page = 4096
	flip := func(at int64) func(t *testing.T, dir string) error {
		return func(t *testing.T, dir string) error {
			f, err := os.OpenFile(journalOf(dir), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			b := make([]byte, 1)
			_, errRead := f.ReadAt(b, at)
			b[0] ^= 0x40
			_, errWrite := f.WriteAt(b, at)
			return errors.Join(errRead, errWrite, f.Close())
		}
	}
	const records = 10 // a page each, behind the head
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string) error
		lost  int // records at the end
		want  error
	}{
		{"none", func(*testing.T, string) error { return nil }, 0, nil},
		{"in the zeros behind a record", flip(2*page - 1), 0, nil},
		{"in the newest record", flip(records*page + 60), 0, storage.ErrDamaged},
		{"in the newest record, before it was acknowledged", func(t *testing.T, dir string) error {
			unacknowledge(t, dir)
			return flip(records*page+60)(t, dir)
		}, 1, nil},
		{"in the last two records", func(t *testing.T, dir string) error {
			return errors.Join(flip(records*page+60)(t, dir), flip((records-1)*page+60)(t, dir))
		}, 0, storage.ErrDamaged},
		{"in the mark", func(_ *testing.T, dir string) error {
			mark, err := os.ReadFile(journalOf(dir) + ".acked")
			mark[24] ^= 1
			return errors.Join(err, os.WriteFile(journalOf(dir)+".acked", mark, 0o600))
		}, 0, storage.ErrDamaged},
		{"no mark", func(_ *testing.T, dir string) error { return os.Remove(journalOf(dir) + ".acked") }, 0, storage.ErrDamaged},
		{"in the first record", flip(page + 60), 0, storage.ErrDamaged},
		{"in the index of a record", flip(3*page + 15), 0, storage.ErrDamaged},
		{"in the length of a record", flip(3*page + 17), 0, storage.ErrDamaged},
		{"in the head", flip(20), 0, storage.ErrDamaged},
		{"cut short behind the records", func(_ *testing.T, dir string) error { return os.Truncate(journalOf(dir), (records+1)*page) }, 0, nil},
		{"cut short in the newest record", func(_ *testing.T, dir string) error { return os.Truncate(journalOf(dir), records*page+60) }, 0, storage.ErrDamaged},
		{"cut short to nothing", func(_ *testing.T, dir string) error { return os.Truncate(journalOf(dir), 0) }, 0, storage.ErrDamaged},
		{"missing", func(_ *testing.T, dir string) error { return os.Remove(journalOf(dir)) }, 0, storage.ErrDamaged},
		{"of another directory", func(t *testing.T, dir string) error {
			other := t.TempDir()
			e := open(t, other, &storage.Options{Partitions: 1})
			write(t, e, newWriter(t, e, testGroup), 1, 10)
			return errors.Join(e.Close(), os.Rename(journalOf(other), journalOf(dir)))
		}, 0, storage.ErrDamaged},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, &storage.Options{Partitions: 1})
				w := newWriter(t, e, testGroup)
				write(t, e, w, records, 100)
				left := copyDir(t, dir)
				if err := test.spoil(t, left); err != nil {
					t.Fatal(err)
				}
				killed, err := storage.Open(left, nil)
				if !errors.Is(err, test.want) {
					t.Fatalf("Open: %v, want %v", err, test.want)
				}
				if err != nil {
					return
				}
				if again := newWriter(t, killed, testGroup); again.Head.Seq != w.Head.Seq-2*int64(test.lost) {
					t.Errorf("the head is %v; want %d messages less than %v", again.Head, test.lost, w.Head)
				}
				if info, err := os.Stat(journalOf(left)); err != nil || info.Size() != 2<<20 {
					t.Errorf("the journal's length is %d (%v)", info.Size(), err)
				}
				if err := killed.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestGiveUpOnlyWhatIsLost: told to, the store opens with every record that is there,
// whatever else of the journal is damaged, and names just what is missing.
func TestGiveUpOnlyWhatIsLost(t *testing.T) {
	const page, records = 4096, 10
	cut := func(at int64) func(string) error { return func(path string) error { return os.Truncate(path, at) } }
	tests := map[string]struct {
		spoil func(path string) error
		lost  int64 // records at the end
		told  bool  // as a range
		kept  bool
	}{
		"cut short in the eighth": {cut(8*page + 60), 3, true, true},
		"no mark":                 {func(path string) error { return os.Remove(path + ".acked") }, 0, false, true},
		"a torn mark":             {func(path string) error { return os.Truncate(path+".acked", 10) }, 0, false, true},
		"no head": {func(path string) error {
			b, err := os.ReadFile(path)
			clear(b[:page])
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		}, 0, false, true},
		"no journal":             {os.Remove, records, true, false},
		"no journal and no mark": {func(path string) error { return errors.Join(os.Remove(path), os.Remove(path+".acked")) }, records, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, &storage.Options{Partitions: 1})
				w := newWriter(t, e, testGroup)
				write(t, e, w, records, 100)
				left := copyDir(t, dir)
				if err := test.spoil(journalOf(left)); err != nil {
					t.Fatal(err)
				}
				_, err := storage.Open(left, nil)
				if !errors.Is(err, storage.ErrDamaged) || !errors.Is(err, storage.ErrJournalLoss) {
					t.Fatalf("Open: %v", err)
				}
				again := open(t, left, &storage.Options{AcceptJournalLoss: true})
				losses, err := again.Losses()
				if err != nil || len(losses) != 1 {
					t.Fatalf("the losses are %+v, %v", losses, err)
				}
				l := losses[0]
				if told := l.To != 0; told != test.told || told && int64(l.To-l.From)+1 != test.lost {
					t.Errorf("lost are %d to %d, want %d", l.From, l.To, test.lost)
				}
				if (l.Kept != "") != test.kept {
					t.Errorf("the journal is kept as %q", l.Kept)
				}
				if have := newWriter(t, again, testGroup).Head.Seq; have != w.Head.Seq-2*test.lost {
					t.Errorf("the head is %d, want %d", have, w.Head.Seq-2*test.lost)
				}
				if err := errors.Join(e.Close(), again.Close()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// unacknowledge sets the mark back to the record before the newest, as it is while
// that is being written.
func unacknowledge(t *testing.T, dir string) {
	t.Helper()
	path := journalOf(dir) + ".acked"
	mark, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	index := binary.BigEndian.Uint64(mark[20:])
	binary.BigEndian.PutUint64(mark[20:], index-1)
	binary.BigEndian.PutUint32(mark[28:], crc32.Checksum(mark[:28], crc32.MakeTable(crc32.Castagnoli)))
	if err := os.WriteFile(path, mark, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEndOfJournal tears the newest record at every place, and damages every byte
// of the newest two. Torn, it was never acknowledged and is gone; damaged, the
// start is refused and names the record. Nothing else becomes of it.
func TestEndOfJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := open(t, dir, &storage.Options{Partitions: 1})
		w := newWriter(t, e, testGroup)
		const records, page = 6, 4096
		for range 2 { // the second round lies over the records of the first
			mustContents(t, e)
			write(t, e, w, records, 600)
		}
		left := copyDir(t, dir)
		clean, err := os.ReadFile(journalOf(left))
		if err != nil {
			t.Fatal(err)
		}
		try := func(journal []byte) (int64, error) {
			if err := os.WriteFile(journalOf(left), journal, 0o600); err != nil {
				t.Fatal(err)
			}
			tried := copyDir(t, left)
			defer os.RemoveAll(tried)
			again, err := storage.Open(tried, nil)
			if err != nil {
				return 0, err
			}
			defer again.Close()
			return newWriter(t, again, testGroup).Head.Seq, nil
		}
		if have, err := try(clean); err != nil || have != w.Head.Seq {
			t.Fatalf("the undamaged journal: %d, %v; want %d", have, err, w.Head.Seq)
		}
		last := records * page
		used := last + page
		for used > last && clean[used-1] == 0 {
			used--
		}
		step := soak.Of(97, 1) // a prime, so that every kind of field is hit
		for at := last - page; at < used; at += step {
			b := bytes.Clone(clean)
			b[at] ^= 0x20
			have, err := try(b)
			told := errors.Is(err, storage.ErrDamaged)
			if !told && (err != nil || have != w.Head.Seq) {
				t.Errorf("byte %d damaged: the head is %d, want %d or an error that says so (%v)", at, have, w.Head.Seq, err)
			}
			if !told && clean[at] != 0 {
				t.Errorf("byte %d damaged: not noticed", at)
			}
		}
		unacknowledge(t, left)
		for at := last; at < used; at += step {
			b := bytes.Clone(clean)
			for i := at; i < used; i++ {
				b[i] = byte(i * 31) // what an earlier round left there
			}
			if have, err := try(b); err != nil || have != w.Head.Seq-2 {
				t.Errorf("torn at byte %d: the head is %d, %v; want %d", at, have, err, w.Head.Seq-2)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestGiveUpDamagedJournal: told to, the store opens without what was lost, says
// what that is until it is told, keeps the damaged journal, and works on.
func TestGiveUpDamagedJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		e := open(t, dir, &storage.Options{Partitions: 1})
		w := newWriter(t, e, testGroup)
		write(t, e, w, 10, 100)
		left := copyDir(t, dir)
		damaged, err := os.ReadFile(journalOf(left))
		if err != nil {
			t.Fatal(err)
		}
		damaged[9*4096+60] ^= 1 // the ninth of ten
		if err := os.WriteFile(journalOf(left), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := storage.Open(left, nil); !errors.Is(err, storage.ErrDamaged) {
			t.Fatalf("Open: %v", err)
		}
		for range 2 { // the second time it is open to all
			again := open(t, left, &storage.Options{AcceptJournalLoss: true})
			losses, err := again.Losses()
			if err != nil || len(losses) != 1 || losses[0].To-losses[0].From != 1 || !slices.Equal(losses[0].Groups, []string{testGroup.String()}) {
				t.Fatalf("the losses are %+v, %v", losses, err)
			}
			kept, err := os.ReadFile(filepath.Join(left, "store", losses[0].Kept))
			if err != nil || !bytes.Equal(kept, damaged) {
				t.Errorf("the damaged journal isn't kept: %v", err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		}
		again := open(t, left, nil)
		more := newWriter(t, again, testGroup)
		if more.Head.Seq != w.Head.Seq-4 {
			t.Errorf("the head is %d, want that of the eighth message, %d", more.Head.Seq, w.Head.Seq-4)
		}
		write(t, again, more, 3, 100)
		losses, _ := again.Losses()
		if err := again.ForgetLoss(losses[0]); err != nil {
			t.Fatal(err)
		}
		killed := open(t, copyDir(t, left), nil)
		if losses, err := killed.Losses(); err != nil || len(losses) != 0 || newWriter(t, killed, testGroup).Head != more.Head {
			t.Errorf("after that: %v, %v", losses, err)
		}
		if err := errors.Join(e.Close(), again.Close(), killed.Close()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLossNamesWhoseItIs: a lost record that still reads, sound behind the damage or
// damaged itself, says which ledger lost which atoms and numbers. Of one that doesn't
// read, all ledgers of the partition are named with how far they are kept.
func TestLossNamesWhoseItIs(t *testing.T) {
	const page = 4096
	other := ubl.Group{Tenant: "t:other", Shard: "0"}
	entry := func(w *storetest.Writer) *ubl.Batch {
		b := message(w, 64)
		n := w.Head.Seq / 2
		b.Records[0].Key = binary.BigEndian.AppendUint64([]byte("mr:room\x00"), uint64(n))
		return b
	}
	tests := map[string]struct {
		spoil func(journal []byte)
		want  []storage.LostLedger
		none  uint64 // records that don't read
	}{
		"the last, which still reads": {func(j []byte) { j[4*page+bytes.Index(j[4*page:], []byte("action"))] ^= 1 },
			[]storage.LostLedger{{Group: "t:test|0", Kept: 4, Newest: 6, Runs: []storage.LostRun{{Space: "m", Name: "r:room", From: 3, To: 3}}}}, 0},
		"the last, which doesn't": {func(j []byte) { clear(j[4*page : 5*page]) },
			[]storage.LostLedger{{Group: "t:other|0", Kept: 2}, {Group: "t:test|0", Kept: 4}}, 1},
		"an earlier one, with sound ones behind": {func(j []byte) { clear(j[2*page : 3*page]) },
			[]storage.LostLedger{{Group: "t:other|0", Newest: 2, Runs: []storage.LostRun{{Space: "m", Name: "r:room", From: 1, To: 1}}},
				{Group: "t:test|0", Kept: 2, Newest: 6, Runs: []storage.LostRun{{Space: "m", Name: "r:room", From: 3, To: 3}}}}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, &storage.Options{Partitions: 1})
				w, o := newWriter(t, e, testGroup), newWriter(t, e, other)
				for _, w := range []*storetest.Writer{w, w, o, w} {
					if err := submit(e, entry(w)); err != nil {
						t.Fatal(err)
					}
				}
				left := copyDir(t, dir)
				journal, err := os.ReadFile(journalOf(left))
				if err != nil {
					t.Fatal(err)
				}
				test.spoil(journal)
				if err := os.WriteFile(journalOf(left), journal, 0o600); err != nil {
					t.Fatal(err)
				}
				again := open(t, left, &storage.Options{AcceptJournalLoss: true, Numbers: numbers()})
				losses, err := again.Losses()
				if err != nil || len(losses) != 1 {
					t.Fatalf("the losses are %+v, %v", losses, err)
				}
				l := losses[0]
				if !reflect.DeepEqual(l.Ledgers, test.want) || l.Unread != test.none {
					t.Errorf("lost are %+v, and %d that don't read; want %+v and %d", l.Ledgers, l.Unread, test.want, test.none)
				}
				if err := errors.Join(e.Close(), again.Close()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
