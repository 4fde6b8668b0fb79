//go:build linux

package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	bolt "go.etcd.io/bbolt"
)

// TestTornLog: a log that was torn again and again keeps every entry that was
// stored, and takes more. Sealing is left out: what the library makes of that
// the product must make good, and the clusters' tests look at it.
func TestTornLog(t *testing.T) {
	dir, draw := t.TempDir(), draws(seedOf(t), "torn")
	var want [][]byte
	for range 200 {
		log, err := wal.Open(dir, wal.WithSegmentSize(16<<20))
		must(t, err)
		checkLog(t, log, want)
		for range draw.IntN(4) {
			data := bytes.Repeat([]byte{byte(draw.Uint32())}, 1+draw.IntN(2000))
			want = append(want, data)
			must(t, log.StoreLog(&raft.Log{Index: uint64(len(want)), Term: 1, Data: data}))
		}
		must(t, log.Close())
		segment, err := newestSegment(dir)
		must(t, err)
		must(t, change(segment, func(e extent) []byte {
			for {
				if batch := tornBatch(e, draw); !bytes.Contains(batch, []byte{frameIndex, 0, 0, 0}) {
					return batch
				}
			}
		}))
	}
	t.Logf("%d entries", len(want))
}

func checkLog(t *testing.T, log *wal.WAL, want [][]byte) {
	t.Helper()
	last, err := log.LastIndex()
	must(t, err)
	if last != uint64(len(want)) {
		t.Fatalf("the log ends at %d, want %d", last, len(want))
	}
	for i, data := range want {
		var entry raft.Log
		must(t, log.GetLog(uint64(i+1), &entry))
		if !bytes.Equal(entry.Data, data) {
			t.Fatalf("entry %d is another", i+1)
		}
	}
}

// TestTearTouchesNothingBefore: all bytes up to the last commit stay, and some
// behind it change.
func TestTearTouchesNothingBefore(t *testing.T) {
	dir, draw := t.TempDir(), draws(seedOf(t), "tear")
	log, err := wal.Open(dir, wal.WithSegmentSize(64<<10))
	must(t, err)
	for i := range 10 {
		must(t, log.StoreLog(&raft.Log{Index: uint64(i + 1), Term: 1, Data: []byte("an entry")}))
	}
	must(t, log.Close())
	segment, err := newestSegment(dir)
	must(t, err)
	file, err := os.Open(segment)
	must(t, err)
	whole, err := scan(file)
	must(t, err)
	end := whole.end
	before, err := os.ReadFile(segment)
	must(t, err)
	must(t, tear(segment, draw))
	must(t, seal(segment))
	after, err := os.ReadFile(segment)
	must(t, err)
	if len(whole.entries) != 10 || !bytes.Equal(before[:end], after[:end]) || bytes.Equal(before, after) {
		t.Errorf("the tear at %d changed what was before it, or nothing", end)
	}
	must(t, file.Close())
}

// TestHashSeesEverything: the hash of a replica changes with any key or value,
// and with nothing else.
func TestHashSeesEverything(t *testing.T) {
	hash := func(pairs ...string) string {
		path := filepath.Join(t.TempDir(), "partition.db")
		db, err := bolt.Open(path, 0o600, nil)
		must(t, err)
		must(t, db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket([]byte("data"))
			for i := 0; err == nil && i < len(pairs); i += 2 {
				err = b.Put([]byte(pairs[i]), []byte(pairs[i+1]))
			}
			return err
		}))
		must(t, db.Close())
		h, err := hashData(path)
		must(t, err)
		return h
	}
	one := hash("a", "1", "b", "2")
	if again := hash("b", "2", "a", "1"); again != one {
		t.Errorf("the order of writing changes the hash: %s, %s", one, again)
	}
	for name, other := range map[string]string{
		"another value": hash("a", "1", "b", "3"), "another key": hash("a", "1", "c", "2"), "a key less": hash("a", "1"),
		"a key more": hash("a", "1", "b", "2", "c", ""), "a byte moved from value to key": hash("a", "1", "b2", ""),
	} {
		if other == one {
			t.Error(fmt.Sprint(name, " doesn't change the hash"))
		}
	}
}
