package search

import (
	"context"
	"sync/atomic"
	"time"

	"ubl"
)

// To index a message costs more than to send it. So the index of a group works for a while and then
// rests, restFor times as long. While many write it rests busyRestFor times as long, unless somebody
// has searched lately: they want to find what is new.
const (
	busyRestFor   = 39
	leastBusyRest = 5 * time.Second
	maxBusyRest   = 20 * time.Second
	// busyFrom is how many writes a second are many, while the last rest is no longer ago than
	// lately. Where it is, nobody knows yet: a glance tells.
	busyFrom = 500
	lately   = 5 * time.Second
	glance   = 500 * time.Millisecond
	// searchedFor is how long somebody who has searched may search again.
	searchedFor = time.Minute
)

// labour is what a book of messages has done since its rest before, and for whom.
type labour struct {
	worked   atomic.Int64 // ns
	searched atomic.Int64 // when somebody did last, Unix ns
	written  atomic.Int64 // what the node had written by the rest before
	rested   atomic.Int64 // when that was, Unix ns
}

// rest is how long to rest at a time, when the node has written so much since its start.
func (l *labour) rest(now time.Time, written int64) time.Duration {
	worked := time.Duration(l.worked.Swap(0))
	before, since := l.written.Swap(written), now.Sub(time.Unix(0, l.rested.Swap(now.UnixNano())))
	if worked == 0 && since > lately {
		return glance
	}
	many := float64(written-before) > busyFrom*since.Seconds()
	if many && now.Sub(time.Unix(0, l.searched.Load())) > searchedFor {
		return min(max(busyRestFor*worked, leastBusyRest), maxBusyRest)
	}
	return min(restFor*worked, maxRest)
}

// RestOfMessages implements [ubl.MessageSearcher].
func (x *Index) RestOfMessages(g ubl.Group) time.Duration {
	if x.restless {
		return 0
	}
	b, err := x.take(messagesName(g))
	if err != nil {
		return 0
	}
	defer x.give(b)
	return b.rest(time.Now(), x.written())
}

// breathe waits, unless the index is closed.
func (x *Index) breathe(ctx context.Context, rest time.Duration) {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-x.ctx.Done():
	}
}
