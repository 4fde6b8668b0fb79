package commit

import (
	"path/filepath"
	"testing"

	"ubl/test/bench/internal/receipt"
)

func TestEveryEntryIsAnsweredAndStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	done := make(chan error, n)
	for i := range uint64(n) {
		l.Enqueue(receipt.Entry{RoomSeq: i + 1, Seq: 2*i + 1, Message: []byte("m"), Action: []byte("a"), Effect: []byte("e")}, done)
	}
	for range n {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Transactions(); got == 0 || got > n {
		t.Errorf("%d transactions for %d entries", got, n)
	}
	tx, err := l.db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	if got := tx.Bucket([]byte(atomsBucket)).Stats().KeyN; got != 2*n {
		t.Errorf("%d atoms stored, want %d", got, 2*n)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
