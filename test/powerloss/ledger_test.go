//go:build powerloss

package powerloss

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"ubl"
	"ubl/storage"
	"ubl/storage/storetest"
)

// acks is what the store has promised: the newest settled head of each group,
// and what was submitted to get there.
type acks struct {
	mu     sync.Mutex
	groups map[string]*ledger
}

// ledger is one group as its writer knows it.
type ledger struct {
	group   ubl.Group
	settled int64            // seq of the newest head that settled with nil
	heads   map[int64]string // every head that was ever submitted, by seq
}

// promised is, for each group, up to where nothing may be lost.
func (a *acks) promised() map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := map[string]int64{}
	for name, l := range a.groups {
		p[name] = l.settled
	}
	return p
}

func (a *acks) ledger(g ubl.Group) *ledger {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.groups[g.String()]
	if l == nil {
		l = &ledger{group: g, heads: map[int64]string{0: ubl.Genesis}}
		a.groups[g.String()] = l
	}
	return l
}

// write submits n messages, up to eight at a time, and stops at the first that
// fails.
func (a *acks) write(e *storage.Engine, g ubl.Group, n int) error {
	l := a.ledger(g)
	w, err := storetest.NewWriter(context.Background(), e, g)
	if err != nil {
		return err
	}
	results := make(chan error, n)
	failed := error(nil)
	waiting := 0
	for i := 0; i < n && failed == nil || waiting > 0; {
		if i < n && failed == nil && waiting < 8 {
			b := message(w)
			a.mu.Lock()
			l.heads[b.Next.Seq] = b.Next.HeadHash
			a.mu.Unlock()
			e.Submit(b, func(err error) {
				if err == nil {
					a.mu.Lock()
					l.settled = max(l.settled, b.Next.Seq)
					a.mu.Unlock()
				}
				results <- err
			})
			i++
			waiting++
			continue
		}
		if err := <-results; err != nil && failed == nil {
			failed = err
		}
		waiting--
	}
	return failed
}

// message writes two atoms, a counter, a record that stays and one that the
// next message deletes. Sizes vary, so that pages split, overflow and merge.
func message(w *storetest.Writer) *ubl.Batch {
	n := w.Head.Seq/2 + 1
	b := w.Batch(atom(w.Group, 2*n-1), atom(w.Group, 2*n))
	b.Counters = []ubl.Counter{{Key: []byte("c"), From: n - 1, To: n}}
	b.Records = []ubl.Record{
		{Key: recordKey("m", n), Value: recordValue(n)},
		{Key: recordKey("t", n), Value: []byte("for a moment")},
		{Key: recordKey("t", n-1)},
	}
	return b
}

func atom(g ubl.Group, seq int64) string { return fmt.Sprintf("atom %d of %s", seq, g) }

func recordKey(space string, n int64) []byte {
	return binary.BigEndian.AppendUint64([]byte(space), uint64(n))
}

func recordValue(n int64) []byte {
	size := 60
	if n%17 == 0 {
		size = 9000
	}
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(n + int64(i)%7)
	}
	return value
}

// verify reads all groups: whole batches only, none missing below the head, the
// head one that was submitted and not before what was promised.
func (a *acks) verify(e *storage.Engine, promised map[string]int64) error {
	for name, settled := range promised {
		a.mu.Lock()
		l := a.groups[name]
		a.mu.Unlock()
		err := e.View(context.Background(), l.group, func(s ubl.Snapshot) error { return a.verifyGroup(s, l, settled) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (a *acks) verifyGroup(s ubl.Snapshot, l *ledger, settled int64) error {
	head, err := s.Head()
	if err != nil {
		return err
	}
	a.mu.Lock()
	submitted := l.heads[head.Seq]
	a.mu.Unlock()
	if head.Seq < settled || head.HeadHash != submitted {
		return fmt.Errorf("head %v, promised %d; lost or never submitted", head, settled)
	}
	hash := ubl.Genesis
	for seq := int64(1); seq <= head.Seq; seq++ {
		have, err := s.Atom(seq)
		if err != nil {
			return err
		}
		if string(have) != atom(l.group, seq) {
			return fmt.Errorf("atom %d is %q", seq, have)
		}
		hash = ubl.NextHead(hash, ubl.CID(have))
	}
	if hash != head.HeadHash {
		return fmt.Errorf("the chain ends at %s, the head is %s", hash, head.HeadHash)
	}
	return verifyRecords(s, head.Seq/2)
}

func verifyRecords(s ubl.Snapshot, last int64) error {
	n, err := s.Counter([]byte("c"))
	if err != nil || n != last {
		return fmt.Errorf("the counter is %d, %v; want %d", n, err, last)
	}
	for i := int64(1); i <= last+1; i++ {
		value, err := s.Get(recordKey("m", i))
		if err != nil {
			return err
		}
		if (i <= last) != (value != nil) || i <= last && string(value) != string(recordValue(i)) {
			return fmt.Errorf("message %d of %d: %d bytes", i, last, len(value))
		}
		if value, err = s.Get(recordKey("t", i)); err != nil || (i == last) != (value != nil) {
			return fmt.Errorf("temporary record %d of %d: %q, %v", i, last, value, err)
		}
	}
	return nil
}
