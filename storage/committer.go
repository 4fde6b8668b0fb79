package storage

import (
	"fmt"
	"runtime"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// chunk is what one transaction did, on its way to the settler. Where it went
// to a log instead, the settler waits for its proposal first.
type chunk struct {
	items    []item
	commit   Commit
	proposal Proposal // nil where nothing was proposed
}

// commitAll is the committer: the only goroutine that writes to the partition.
func (p *partition) commitAll() {
	debug.SetPanicOnFault(true)
	defer close(p.settling)
	for {
		if p.replicated() {
			p.proposals <- struct{}{}
		}
		items := p.queue.take(nil, p.opts.TxBatches, p.opts.TxBytes)
		if len(items) == 0 {
			return
		}
		if p.replicated() {
			p.settling <- p.propose(items)
		} else {
			p.settling <- p.process(items)
			if p.openBytes >= p.openLimit() {
				_ = p.flush() // who comes next is told
			}
		}
		// Whoever is called back now may have more to submit: going to the end of
		// the line lets it into the next transaction, and costs nothing when idle.
		runtime.Gosched()
	}
}

// process writes the items of a node alone and notes what became of each.
func (p *partition) process(items []item) chunk {
	start := p.opts.Now()
	err := p.write(items)
	c := Commit{Partition: p.index, Took: p.opts.Now().Sub(start), Err: err}
	for i := range items {
		it := &items[i]
		switch {
		case it.begin != nil:
			p.grant(it.begin)
		case it.end != nil, it.settled == nil: // which leaves the one that wakes
		case it.note != nil:
			it.err = ubl.Errorf(ubl.CodeInternal, "a node alone keeps no notes")
		case it.batch == nil: // refused at the door
			c.Refused++
		default:
			if err != nil {
				it.err = err
			}
			if it.err != nil {
				_ = p.tell(it.err)
				c.Refused++
			} else {
				c.Batches++
				c.Bytes += it.size
			}
			it.batch = nil
		}
	}
	return chunk{items: items, commit: c}
}

// leased does what an item says about leases; false if it says nothing.
func (p *partition) leased(it *item) bool {
	switch {
	case it.begin != nil:
		p.granted++
		p.generations[it.begin.group] = p.granted
	case it.end != nil:
		if p.generations[it.end.group] == it.end.lease.Generation {
			delete(p.generations, it.end.group)
		}
	default:
		return false
	}
	p.leases.Store(int64(len(p.generations)))
	return true
}

func (p *partition) leaseOf(g ubl.Group) ubl.Lease {
	return ubl.Lease{Generation: p.generations[g], Epoch: p.epoch.Load()}
}

func commitTx(tx *bolt.Tx) (err error) {
	defer guard(&err)
	return tx.Commit()
}

// rollback ends a transaction that may have ended itself already; it reports
// false if even that panicked.
func rollback(tx *bolt.Tx) (ok bool) {
	defer func() { ok = recover() == nil }()
	_ = tx.Rollback() // ErrTxClosed after a failed Commit
	return true
}

// grant answers with the newest lease and the durable head. No batch can have
// moved the head since the lease was counted: nobody held it yet.
func (p *partition) grant(b *begin) {
	if err := p.failure(); err != nil {
		b.result.err = err
		return
	}
	b.result.lease = p.leaseOf(b.group)
	b.result.head, b.result.err = p.durableHead(b.group)
}

func (p *partition) durableHead(g ubl.Group) (head ubl.LedgerHead, err error) {
	defer guard(&err)
	tx, err := p.beginReadOf(nil, g)
	if err == nil {
		defer tx.Rollback()
		head, err = readHead(tx, g)
	}
	if err != nil {
		err = p.tell(fmt.Errorf("couldn't read the ledger's head: %w", err))
	}
	return head, err
}

func readHead(tx *bolt.Tx, g ubl.Group) (ubl.LedgerHead, error) {
	bucket := tx.Bucket(dataBucket)
	if bucket == nil {
		return ubl.LedgerHead{}, unreadable(damaged("a bucket is missing"))
	}
	key := append(appendPrefix(nil, g), headSpace)
	value, err := getStored(bucket, key)
	if err == nil && value == nil {
		err = absent(tx, key)
	}
	if err != nil {
		return ubl.LedgerHead{}, err
	}
	return parseHead(value)
}
