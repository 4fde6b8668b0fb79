package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"ubl"
)

const (
	// clockLeap is how far the clock may jump ahead before nobody believes it.
	clockLeap = 24 * time.Hour
	// clockWait is how long alarms wait after such a jump: time for somebody to set the
	// clock right before retention removes what isn't old yet.
	clockWait = time.Hour
	// clockAhead is how far a node's clock may be ahead of the other nodes' for its alarms
	// to be fired, and how long they wait for the first comparison after its start.
	clockAhead = time.Minute
)

// clockGuard holds alarms while the clock can't be believed, because what retention
// removes is gone for good. It is asked before any is fired, so that no jump comes between.
type clockGuard struct {
	now     func() time.Time                       // somebody may set it
	elapsed func() time.Duration                   // of the process; nobody sets it
	ahead   func() (off time.Duration, known bool) // of the other nodes; 0 where there are none
	log     *slog.Logger

	mu    sync.Mutex
	began time.Time     // when the process began, by the clock as it was last read; guarded by mu
	until time.Duration // when alarms are fired again, in elapsed time; guarded by mu
}

// since tells when the store was last written, before a node alone fires its first alarm.
func (g *clockGuard) since(newest ubl.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.began = newest.Std().Add(-g.elapsed())
}

// holds reports whether alarms wait.
func (g *clockGuard) holds() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	elapsed := g.elapsed()
	began := g.now().Round(0).Add(-elapsed)
	leap := began.Sub(g.began)
	switch {
	case g.began.IsZero():
	case leap > clockLeap:
		g.until = elapsed + clockWait
		g.log.Warn("the clock is far ahead of when this server last looked: retention and other alarms wait, so that nothing is removed by a wrong clock; check it, and set it right where it is wrong",
			"ahead", leap.Round(time.Second), "wait", clockWait)
	case leap < -clockLeap:
		g.until = 0
		g.log.Warn("the clock was set back", "by", -leap.Round(time.Second))
	}
	g.began = began
	off, known := g.ahead()
	return elapsed < g.until || off > clockAhead || !known && elapsed < clockAhead
}

// clockOffset is how far the clock is ahead of the other nodes', 0 for a node alone, and
// whether they were asked.
func (n *node) clockOffset() (off time.Duration, known bool) {
	if n.cluster == nil {
		return 0, true
	}
	return n.cluster.ClockOffset(), n.cluster.ClockKnown()
}

// guardLook is how many atoms guardClock looks at.
const guardLook = 10

// guardClock has a node alone compare its clock with the newest act of the platform: each
// start and stop is one. That of a restore doesn't count, since it has the clock's time of
// now and says nothing of the backup's. Where the acts can't be read, the start tells.
func (n *node) guardClock(ctx context.Context) {
	ledger := ubl.LedgerName(ubl.CoreTenant)
	head, err := ubl.Ask[ubl.LedgerHead](ctx, n.asker, ledger, ubl.GetLedgerHead{})
	if err != nil || head.Seq == 0 {
		return
	}
	page, err := ubl.Ask[*ubl.AtomPage](ctx, n.asker, ledger, ubl.ReadAtoms{From: max(1, head.Seq-guardLook+1), Limit: guardLook})
	if err != nil {
		return
	}
	var newest ubl.Time
	restored := ubl.Time(-1) // the restore's act, and the message that tells of it in the same commit
	for _, stored := range page.Atoms {
		var atom struct {
			When ubl.Time `json:"when"`
			Did  ubl.Did  `json:"did"`
		}
		if json.Unmarshal(stored, &atom) != nil {
			return
		}
		if atom.Did == ubl.DidPlatformRestore {
			restored = atom.When
		}
		if atom.When != restored {
			newest = atom.When
		}
	}
	if newest > 0 {
		n.clock.since(newest)
	}
}
