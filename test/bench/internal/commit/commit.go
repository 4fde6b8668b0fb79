// Package commit is the plainest durable store that still shares its fsyncs:
// one goroutine takes all that is queued, writes it in one bbolt transaction
// and then answers everyone. It is the storage of the bare program and, driven
// directly, the "bare group-commit loop".
package commit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"ubl/test/bench/internal/receipt"
)

// queueLen bounds what may wait for the committer; submitters block beyond it.
const queueLen = 4096

// RecordsPerEntry is how many keys one entry writes: message, two atoms, two
// counters.
const RecordsPerEntry = 5

// ErrClosed answers a submission to a loop that has been closed.
var ErrClosed = errors.New("the commit loop is closed")

// Loop owns a bbolt file. Enqueue may be called by many goroutines.
type Loop struct {
	db           *bolt.DB
	queue        chan pending
	stop         chan struct{}
	stopped      sync.WaitGroup
	transactions atomic.Uint64
}

type pending struct {
	entry receipt.Entry
	done  chan<- error
}

// Open creates or opens the file and starts the committer.
//
// The options are the fast ones that keep every commit durable: an in-memory
// map of free pages that isn't rewritten each time, and a mapping large enough
// not to be made anew while measured.
func Open(path string) (*Loop, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		NoFreelistSync:  true,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: 1 << 30,
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't open %s: %w", path, err)
	}
	l := &Loop{db: db, queue: make(chan pending, queueLen), stop: make(chan struct{})}
	if err := db.Update(createBuckets); err != nil {
		db.Close()
		return nil, fmt.Errorf("couldn't prepare %s: %w", path, err)
	}
	l.stopped.Go(l.run)
	return l, nil
}

// Enqueue hands an entry over; done, which needs room for one value, gets nil
// once the entry is durable. Entries commit in the order of the calls.
func (l *Loop) Enqueue(e receipt.Entry, done chan<- error) {
	select {
	case l.queue <- pending{e, done}:
	case <-l.stop:
		done <- ErrClosed
	}
}

// Transactions counts the commits so far, each of which was synced to disk.
func (l *Loop) Transactions() uint64 { return l.transactions.Load() }

// Close ends the committer and closes the file. Callers must have their
// answers first.
func (l *Loop) Close() error {
	close(l.stop)
	l.stopped.Wait()
	if err := l.db.Close(); err != nil {
		return fmt.Errorf("couldn't close the store: %w", err)
	}
	return nil
}

func (l *Loop) run() {
	batch := make([]pending, 0, queueLen)
	for {
		select {
		case p := <-l.queue:
			batch = l.drain(append(batch[:0], p))
		case <-l.stop:
			return
		}
		err := l.db.Update(func(tx *bolt.Tx) error { return write(tx, batch) })
		l.transactions.Add(1)
		for _, p := range batch {
			p.done <- err
		}
	}
}

// drain adds what is queued already and waits for nothing: a single writer
// must not pay for company that isn't there.
func (l *Loop) drain(batch []pending) []pending {
	for len(batch) < queueLen {
		select {
		case p := <-l.queue:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// The buckets of the file.
const (
	messagesBucket = "messages"
	atomsBucket    = "atoms"
	countersBucket = "counters"
)

func createBuckets(tx *bolt.Tx) error {
	for _, name := range []string{messagesBucket, atomsBucket, countersBucket} {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("couldn't create bucket %s: %w", name, err)
		}
	}
	return nil
}

// write stores a batch, every entry with its own counters: the loop knows
// nothing about them, so it does not guess which writes it may leave out.
func write(tx *bolt.Tx, batch []pending) error {
	messages := tx.Bucket([]byte(messagesBucket))
	atoms := tx.Bucket([]byte(atomsBucket))
	counters := tx.Bucket([]byte(countersBucket))
	// Keys only ever grow, so pages may be filled to the brim.
	messages.FillPercent, atoms.FillPercent = 1, 1
	for _, p := range batch {
		e := &p.entry
		err := errors.Join(
			messages.Put(key(e.RoomSeq), e.Message),
			atoms.Put(key(e.Seq), e.Action),
			atoms.Put(key(e.Seq+1), e.Effect),
			counters.Put([]byte("room_seq"), key(e.RoomSeq)),
			counters.Put([]byte("head"), []byte(e.Head)),
		)
		if err != nil {
			return fmt.Errorf("couldn't write room_seq %d: %w", e.RoomSeq, err)
		}
	}
	return nil
}

func key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
