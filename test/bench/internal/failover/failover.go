// Package failover keeps a steady light load on a server of several nodes
// while its nodes are killed, and checks afterwards that the server kept its
// word: what was acknowledged is there, once, at the place that was told.
//
// Every send has an idempotency key of its own. A writer repeats a send under
// its key, at one node after another or at its own, until it is acknowledged;
// only then does it go on. So a send may be tried often and must still be one
// message.
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
	Name    string // begins the keys of all sends; no two loads of a server have the same
	Writers int
	Stay    bool          // each writer stays at a node, the next one at the next
	Pause   time.Duration // between two sends of a writer
	Attempt time.Duration // how long a node may take to answer before the next is asked
}

// backoff is the pause before a send that was refused is tried elsewhere, so
// that writers don't spin while nobody leads.
const backoff = 5 * time.Millisecond

// Ack is an acknowledged send.
type Ack struct {
	Writer   int
	Key      string // the idempotency key, which is also the message's text
	Seq      uint64 // the room_seq it was told
	Began    time.Time
	Ended    time.Time
	Attempts int
}

// Load is the writers at work.
type Load struct {
	writers int
	cancel  context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	acks    []Ack
	err     error         // the first error that no repetition can settle
	changed chan struct{} // closed and replaced with every ack, and on err
}

// Begin starts the writers. One that doesn't stay asks the node after the one it
// asked for its send before, so that every node gets its share.
func Begin(ctx context.Context, o Options) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := &Load{writers: o.Writers, cancel: cancel, changed: make(chan struct{})}
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
	var first Ack
	return first, l.follow(ctx, func(ack Ack) (done bool) {
		first = ack
		return !ack.Began.Before(since)
	})
}

// EachSince waits until every writer has an acknowledgement of a send that began at the
// given time or later.
func (l *Load) EachSince(ctx context.Context, since time.Time) error {
	answered := make(map[int]bool)
	return l.follow(ctx, func(ack Ack) (done bool) {
		if !ack.Began.Before(since) {
			answered[ack.Writer] = true
		}
		return len(answered) == l.writers
	})
}

// follow shows every acknowledgement, old and new, until it is told that that will do.
func (l *Load) follow(ctx context.Context, show func(Ack) (done bool)) error {
	seen := 0
	for {
		l.mu.Lock()
		acks, err, changed := l.acks, l.err, l.changed
		l.mu.Unlock()
		if err != nil {
			return err
		}
		for ; seen < len(acks); seen++ {
			if show(acks[seen]) {
				return nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no send was acknowledged: %w", context.Cause(ctx))
		}
	}
}

// Longest is how long the send took, all attempts together, that took longest of those
// acknowledged since.
func Longest(acks []Ack, since time.Time) (longest time.Duration) {
	for _, ack := range acks {
		if !ack.Ended.Before(since) {
			longest = max(longest, ack.Ended.Sub(ack.Began))
		}
	}
	return longest
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
