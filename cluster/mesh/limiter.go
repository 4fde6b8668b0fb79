package mesh

import (
	"sync"
	"time"
)

// limiter keeps a log readable: each key may speak once an interval, the others
// are counted. It remembers a bounded number of keys; what comes beyond them
// shares one.
type limiter struct {
	now   func() time.Time
	every time.Duration
	max   int

	mu   sync.Mutex
	seen map[string]*spoken
}

type spoken struct {
	at         time.Time
	suppressed int
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, every: time.Minute, max: 1024, seen: map[string]*spoken{}}
}

// allow reports whether the key may speak now, and how often it was kept quiet
// since it last did.
func (l *limiter) allow(key string) (suppressed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	s := l.entry(key, now)
	if now.Sub(s.at) < l.every {
		s.suppressed++
		return 0, false
	}
	suppressed = s.suppressed
	s.at, s.suppressed = now, 0
	return suppressed, true
}

func (l *limiter) entry(key string, now time.Time) *spoken {
	if s := l.seen[key]; s != nil {
		return s
	}
	if len(l.seen) >= l.max {
		l.sweep(now)
	}
	if len(l.seen) >= l.max {
		key = ""
	}
	if l.seen[key] == nil {
		l.seen[key] = &spoken{}
	}
	return l.seen[key]
}

func (l *limiter) sweep(now time.Time) {
	for key, s := range l.seen {
		if now.Sub(s.at) >= l.every {
			delete(l.seen, key)
		}
	}
}
