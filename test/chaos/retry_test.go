//go:build linux

package chaos

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// Between two tries a client waits: leastWait at first, twice as long each time, up
// to mostWait. A server in trouble is not asked thousands of times a second.
const (
	leastWait = 20 * time.Millisecond
	mostWait  = time.Second
)

// backoff spreads the tries of one client. Its jitter is drawn from the run's seed.
// It is for one goroutine.
type backoff struct {
	draw  *rand.Rand
	tries int // without success
}

// backoff is that of the next client, or of its next act.
func (w *world) backoff() *backoff {
	return &backoff{draw: draws(w.seed, "back off", w.backoffs.Add(1))}
}

// next is how long to wait after a try that failed.
func (b *backoff) next() time.Duration {
	longest := min(mostWait, leastWait<<min(b.tries, 10))
	b.tries++
	return between(b.draw, longest/2, longest)
}

// wait waits after a try that failed, or less where ctx ends.
func (b *backoff) wait(ctx context.Context) { pause(ctx, b.next()) }

// worked says that a try succeeded: the next failure is the first again.
func (b *backoff) worked() { b.tries = 0 }

// TestBackoff: waits grow, stay bounded, are the same for the same seed, and begin
// again after a success.
func TestBackoff(t *testing.T) {
	waits := func(seed uint64) (out []time.Duration) {
		b := (&world{seed: seed}).backoff()
		for range 40 {
			out = append(out, b.next())
		}
		b.worked()
		return append(out, b.next())
	}
	one, again, other := waits(1), waits(1), waits(2)
	same := 0
	for i, d := range one {
		if d != again[i] {
			t.Errorf("wait %d is %s, and with the same seed %s", i, d, again[i])
		}
		if d == other[i] {
			same++
		}
		longest := min(mostWait, leastWait<<min(i, 10))
		if i == len(one)-1 {
			longest = leastWait
		}
		if d < longest/2 || d > longest {
			t.Errorf("wait %d is %s, want %s to %s", i, d, longest/2, longest)
		}
	}
	if same > len(one)/2 {
		t.Errorf("%d of %d waits are the same with another seed", same, len(one))
	}
}
