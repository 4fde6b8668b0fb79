package limits

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets is how many buckets of one limit are kept in each of two generations.
const maxBuckets = 50_000

// buckets has a bucket of tokens for each who. It keeps those that were used lately: when
// the young generation is full it becomes the old one, and the old one is forgotten.
type buckets struct {
	rate  rate.Limit
	burst int

	mu         sync.Mutex
	young, old map[string]*rate.Limiter
}

func newBuckets(perSecond rate.Limit, burst int64) *buckets {
	return &buckets{rate: perSecond, burst: int(burst), young: map[string]*rate.Limiter{}}
}

// take uses a token. Where there is none it uses none, and says how long to wait.
func (b *buckets) take(who string, now time.Time) (wait time.Duration) {
	r := b.of(who).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// spend uses n tokens, also of those to come, and says how long that takes.
func (b *buckets) spend(who string, n int, now time.Time) (wait time.Duration) {
	l := b.of(who)
	for ; n > 0 && b.burst > 0; n -= b.burst {
		wait = l.ReserveN(now, min(n, b.burst)).DelayFrom(now)
	}
	return wait
}

func (b *buckets) of(who string) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.young[who]; l != nil {
		return l
	}
	l := b.old[who]
	if l == nil {
		l = rate.NewLimiter(b.rate, b.burst)
	}
	if len(b.young) >= maxBuckets {
		b.old, b.young = b.young, make(map[string]*rate.Limiter)
	}
	b.young[who] = l
	return l
}
