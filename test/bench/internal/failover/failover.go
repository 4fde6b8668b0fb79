// Package failover keeps a steady light load on a server of several nodes
// while its nodes are killed, and checks afterwards that the server kept its
// word: what was acknowledged is there, once, at the place that was told.
//
// Every send has an idempotency key of its own. A writer repeats a send under
// its key, at one node after another, until it is acknowledged; only then does
// it go on. So a send may be tried often and must still be one message.
package failover

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Options say what to do to whom.
type Options struct {
	Hosts   []string // HOST:PORT of every node
	Path    string   // where messages are posted
	Token   string
	Writers int
	Pause   time.Duration // between two sends of a writer
	Attempt time.Duration // how long a node may take to answer before the next is asked
}

// backoff is the pause before a send that was refused is tried elsewhere, so
// that writers don't spin while nobody leads.
const backoff = 5 * time.Millisecond

// Ack is an acknowledged send.
type Ack struct {
	Key      string // the idempotency key, which is also the message's text
	Seq      uint64 // the room_seq it was told
	Began    time.Time
	Ended    time.Time
	Attempts int
}

// Load is the writers at work.
type Load struct {
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	acks    []Ack
	err     error         // the first error that no repetition can settle
	changed chan struct{} // closed and replaced with every ack, and on err
}

// Begin starts the writers. Writer i asks the node after the one it asked for
// its send before, so that every node gets its share.
func Begin(ctx context.Context, o Options) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := &Load{cancel: cancel, changed: make(chan struct{})}
	for i := range o.Writers {
		w := &writer{options: o, id: i, lines: make([]line, len(o.Hosts))}
		for j, host := range o.Hosts {
			w.lines[j] = line{host: host, within: o.Attempt}
		}
		l.done.Go(func() { l.write(ctx, w) })
	}
	return l
}

func (l *Load) write(ctx context.Context, w *writer) {
	defer w.close()
	for n := 0; ctx.Err() == nil; n++ {
		ack, err := w.send(ctx, n)
		if ctx.Err() != nil && err != nil {
			return
		}
		l.note(ack, err)
		if err != nil {
			return
		}
		pause(ctx, w.options.Pause)
	}
}

func (l *Load) note(ack Ack, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = errors.Join(l.err, err)
	} else {
		l.acks = append(l.acks, ack)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

// FirstSince waits for the first acknowledgement of a send that began at the
// given time or later, and returns it. What was under way before doesn't
// count: its answer may have left the node before it died.
func (l *Load) FirstSince(ctx context.Context, since time.Time) (Ack, error) {
	seen := 0
	for {
		l.mu.Lock()
		acks, err, changed := l.acks, l.err, l.changed
		l.mu.Unlock()
		if err != nil {
			return Ack{}, err
		}
		for ; seen < len(acks); seen++ {
			if !acks[seen].Began.Before(since) {
				return acks[seen], nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Ack{}, fmt.Errorf("no send was acknowledged: %w", context.Cause(ctx))
		}
	}
}

// End stops the writers and returns what was acknowledged. A send that was
// under way is left as it is: whether it happened is not known.
func (l *Load) End() ([]Ack, error) {
	l.cancel()
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acks, l.err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
