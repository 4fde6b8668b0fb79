package storage_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ubl/storage"
)

// TestDamagedReplicaIsRemade: a replica whose file is damaged opens empty, whatever the
// damage is. It keeps the file and takes the log from its beginning; killed halfway, it
// does so again.
func TestDamagedReplicaIsRemade(t *testing.T) {
	for name, spoil := range map[string]func(b []byte) []byte{
		"keys of leaves": func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte("\x00m0000"), []byte("\x00m0010")) // in stale pages, too
		},
		"a meta page": func(b []byte) []byte { b[4096+40] ^= 1; return b },
		"cut short":   func(b []byte) []byte { return b[:5*4096] },
		"nothing":     func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			log, truth := someLog(t)
			dir := t.TempDir()
			e := openReplica(t, dir, newLog(), storage.Options{})
			mustApply(t, e, log)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "store", "partition-0.db")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			spoiled := spoil(data)
			if err := os.WriteFile(file, spoiled, 0o600); err != nil {
				t.Fatal(err)
			}
			s := &stepper{t: t, dir: dir}
			var told error
			e = openReplica(t, dir, newLog(), storage.Options{Step: s.step, Remade: func(_ int, kept string, cause error) {
				if told = cause; kept != "partition-0.db.damaged" {
					t.Errorf("it is kept as %q", kept)
				}
			}})
			if !errors.Is(told, storage.ErrDamaged) {
				t.Errorf("told %v", told)
			}
			if kept, err := os.ReadFile(file + ".damaged"); err != nil || !bytes.Equal(kept, spoiled) {
				t.Errorf("the damaged file isn't kept: %v", err)
			}
			if s := e.Stats().Partitions[0]; s.DamagedAt.IsZero() {
				t.Error("when the damage was met isn't told")
			}
			if n := e.Stats().Partitions[0].Damaged; n != 1 {
				t.Errorf("Stats counts %d damages", n)
			}
			checkBeginsAnew(t, e, log, truth)
			s.checkCopies([]string{"remake: kept", "reset: staged", "reset: renamed"}, "", map[string]string{}, nil)
		})
	}
}

// TestDamageBesideAJournal: a file with a journal of a node alone is not thrown away.
func TestDamageBesideAJournal(t *testing.T) {
	v := newVictim(t)
	b := bytes.Clone(v.clean)
	b[v.leafOf(t, 8)+10]--
	if err := os.WriteFile(v.file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tryReplica(v.dir, newLog(), storage.Options{}); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("opened as a replica: %v", err)
	}
	if have, err := v.try(t, v.clean, nil); err != nil || !maps.Equal(have, v.truth) {
		t.Errorf("whole again: %v", err)
	}
}

// TestResumeOfADamagedFile: a replica that was halted by a full disk, and whose file is
// damaged meanwhile, is remade as well.
func TestResumeOfADamagedFile(t *testing.T) {
	log, truth := someLog(t)
	dir := t.TempDir()
	e := openReplica(t, dir, newLog(), storage.Options{})
	mustApply(t, e, log)
	dump(t, e) // which has it committed
	if _, err := e.Apply(0, []storage.Entry{{Index: log[len(log)-1].Index + 1, Term: 1, Data: []byte{0xff}}}); err == nil {
		t.Fatal("an entry of a newer version was applied")
	}
	file := filepath.Join(dir, "store", "partition-0.db")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[4096+40] ^= 1
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data[4096:8192], 4096); err != nil {
		t.Fatal(err)
	}
	if err := e.Resume(0); err != nil {
		t.Fatal(err)
	}
	checkBeginsAnew(t, e, log, truth)
}
