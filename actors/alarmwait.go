package actors

import (
	"maps"
	"time"

	"ubl"
)

// atOnce is the wait of what waits for nothing.
const atOnce ubl.Time = 1

// clockSlack is how far the clocks of two nodes may differ without any wait being begun again.
const clockSlack = ubl.Time(time.Minute / time.Millisecond)

// waitAgain begins waits again that were begun later than now: the clock was ahead.
func (x *Entity[S, E]) waitAgain(t *Turn) {
	now := t.Now()
	x.waits = 0
	for key, as := range maps.Clone(x.alarms) {
		if as.began()-clockSlack <= now {
			continue
		}
		wait, tried := as.wait()
		was := as.Due
		as.Due = now + wait
		switch {
		case !tried:
			as.For = as.Due
		case as.Wait == 0: // it is for a time, which may not have come
			as.Due = max(as.Due, as.For)
		}
		if as.Due < was {
			setting := as.setting
			x.setUnreceipted(t, key, &as)
			as.setting = setting // an attempt may be under way
			x.alarms[key] = as
		}
	}
}

// wait is how long the alarm waits this time, 0 where that is for a time; and whether it was
// tried before.
func (as armed) wait() (wait ubl.Time, tried bool) {
	switch {
	case as.Begun:
		return ubl.Time(sendLease.Milliseconds()), true
	case as.Attempts > 0:
		return ubl.Time(retryAfter(as.Attempts).Milliseconds()), true
	}
	return as.Wait, false
}

// began is when that wait began, 0 where there is none.
func (as armed) began() ubl.Time {
	if wait, _ := as.wait(); wait > 0 && !as.Failed {
		return as.Due - wait
	}
	return 0
}

// waiting notes the time before which a clock shows that a wait began too late.
func (x *Entity[S, E]) waiting(as armed) {
	x.waits = max(x.waits, as.began()-clockSlack)
}
