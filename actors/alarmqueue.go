package actors

import "ubl"

// waiter is a group with alarms.
type waiter struct {
	group  ubl.Group
	at     ubl.Time // when to look into it
	place  int      // in the queue, -1 while it is looked into
	again  ubl.Time // when else, told during a look; 0 for never
	from   []byte   // where the look goes on, which has more pages; nil for the beginning
	missed ubl.Time // since when an alarm of the pages before is due that was tried in vain; 0 for none
	doubt  bool     // a commit failed, and may be durable all the same
	late   ubl.Time // since when an alarm is due that was tried in vain; 0 for none
	tries  int      // looks in a row with one
	failed int      // alarms that have failed for good
}

// looked tells a group that is looked into from one that has only failed alarms.
func (w *waiter) looked() bool { return w.at != 0 }

// sooner is the earlier of two times, of which 0 is never.
func sooner(a, b ubl.Time) ubl.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// waiters is the queue, a heap by time.
type waiters []*waiter

// next is the earliest time, 0 where nobody waits.
func (q waiters) next() ubl.Time {
	if len(q) == 0 {
		return 0
	}
	return q[0].at
}

func (q waiters) Len() int           { return len(q) }
func (q waiters) Less(i, j int) bool { return q[i].at < q[j].at }
func (q waiters) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements [heap.Interface].
func (q *waiters) Push(w any) {
	w.(*waiter).place = len(*q)
	*q = append(*q, w.(*waiter))
}

// Pop implements [heap.Interface].
func (q *waiters) Pop() any {
	last := len(*q) - 1
	w := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	w.place = -1
	return w
}
