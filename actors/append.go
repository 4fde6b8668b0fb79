package actors

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"ubl"
	"ubl/panics"
)

// Act is one action with its effect, before the ledger has numbered it. With an
// effect outside it is two: first one of status intended, which writes the action
// alone, and later one that Closes it, which writes the effect alone.
type Act struct {
	Did       ubl.Did
	Agreement ubl.AgreementID
	// AgreementHash is of the record as the decision read it, "" where another actor keeps it and
	// hasn't said.
	AgreementHash string
	Request       ubl.Request
	This          ubl.Fields
	Effects       []ubl.Fields
	Pointers      ubl.Fields
	At            ubl.Time
	// Status is executed where empty. A denied act has an Error and no effects.
	Status ubl.Status
	// Error makes the effect's outcome error.
	Error *ubl.AtomError
	// Closes is the receipt of the intended action whose effect this is; nil for
	// every other act.
	Closes *ubl.Receipt
	// Receipt is filled by the ledger before it seals records: that of the action,
	// and of the effect where the act closes one.
	Receipt ubl.Receipt

	receipt []byte // as records have it, once one is sealed
}

// last is the seq of the act's last atom, once its receipt is known.
func (a *Act) last() int64 {
	if a.Closes != nil || a.Status == ubl.StatusIntended {
		return a.Receipt.Seq
	}
	return a.Receipt.Seq + 1
}

// Record is a key of the deciding actor and its value. Where Seal is set the
// ledger calls it, once all receipts of the append are known, for the value.
type Record struct {
	Key, Value []byte
	Seal       func() []byte
	// Frees is how long the value of a removed record was that counted as stored by the
	// tenant, see [ubl.Content].
	Frees int
}

// Append is one decision on its way to the ledger: acts, records and counters
// that become durable together, and the events that tell it afterwards. It is
// a command that only a LedgerShard answers, and only from inside the group.
type Append struct {
	Acts     []*Act
	Records  []Record
	Counters []ubl.Counter
	// First and Last are the seqs of the append's atoms, filled by the ledger.
	First, Last int64

	events []func() ubl.Event
	due    ubl.Time // when the scheduler of alarms is to look into the group; 0 for never

	cell *cell
	cost int       // bytes, given back when it settles; 0 where nothing was taken
	at   time.Time // when they were taken
	env  envelope  // its own, to the LedgerShard
	once sync.Once // settles

	mu      sync.Mutex
	settled bool
	err     error // of those who wait for it
	own     error // of the command that made it
	waiters []func(error)
}

// Cost is 0: the command that led to it was admitted.
func (*Append) Cost() int { return 0 }

// OnCommit adds an event that is made and published once the append is durable.
func (a *Append) OnCommit(event func() ubl.Event) { a.events = append(a.events, event) }

// Move moves a counter; two moves of one counter become one.
func (a *Append) Move(key []byte, from, to int64) {
	for i, c := range a.Counters {
		if bytes.Equal(c.Key, key) && c.To == from {
			a.Counters[i].To = to
			return
		}
	}
	a.Counters = append(a.Counters, ubl.Counter{Key: key, From: from, To: to})
}

// merge adds what another, uncommitted append holds.
func (a *Append) merge(b *Append) {
	a.Acts = append(a.Acts, b.Acts...)
	a.Records = append(a.Records, b.Records...)
	a.Counters = append(a.Counters, b.Counters...)
	a.events = append(a.events, b.events...)
	if b.due != 0 {
		a.alarm(b.due)
	}
}

func (a *Append) init(c *cell, cost int, at time.Time) {
	a.cell, a.cost, a.at = c, cost, at
	a.env = envelope{ctx: context.Background(), cmd: a}
}

// Settle tells the outcome; the LedgerShard calls it in commit order. Only the
// first call counts. On success events are published before any answer goes
// out, so that who has an answer knows that the event is on its way; on failure
// the group is over before anyone learns of it, so that a retry finds a group
// loaded anew.
func (a *Append) Settle(err error) {
	a.once.Do(func() { a.settle(err) })
}

func (a *Append) settle(err error) {
	own := err
	if err != nil {
		a.cell.group.fail(err)
		err = a.cell.group.err()
		// What panics is not worth asking again; everybody else's is.
		if !errors.Is(own, panics.ErrPanic) {
			own = err
		}
	} else {
		a.publish()
	}
	a.cell.rt.followers.committed(a.cell.group.key, a.Acts)
	if a.due != 0 {
		a.cell.rt.alarms.set(a.cell.group.key, a.due, err != nil)
	}
	a.Records, a.events = nil, nil // the cell keeps its newest append, which may be megabytes
	a.mu.Lock()
	a.settled, a.err, a.own = true, err, own
	waiters := a.waiters
	a.waiters = nil
	a.mu.Unlock()
	for _, w := range waiters {
		w(err)
	}
	if a.cost > 0 {
		a.cell.group.give(a.at, a.cost)
	}
	a.cell.pending.Add(-1)
}

// then runs fn once the append is settled, at once if it is.
func (a *Append) then(fn func(error)) {
	a.mu.Lock()
	if !a.settled {
		a.waiters = append(a.waiters, fn)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	fn(a.err)
}

// wait returns once the append is settled.
func (a *Append) wait() {
	settled := make(chan struct{})
	a.then(func(error) { close(settled) })
	<-settled
}

// publish tells the ledger's listeners of the whole commit and each place's of
// its own events. A fault in there must not take the settler with it: streams
// notice what they missed.
func (a *Append) publish() {
	defer a.cell.rt.opts.Panics.Recover(nil, "publishing a commit")
	f := &a.cell.rt.feed
	p := ubl.Publication{First: a.First, Last: a.Last}
	for _, event := range a.events {
		p.Events = append(p.Events, event())
	}
	f.publish(a.cell.group.key.Ledger(), p)
	for rest := p.Events; len(rest) > 0; {
		place := rest[0].Place()
		n := 1
		for n < len(rest) && rest[n].Place() == place {
			n++
		}
		if place != "" {
			f.publish(place, ubl.Publication{First: a.First, Last: a.Last, Events: rest[:n]})
		}
		rest = rest[n:]
	}
}
