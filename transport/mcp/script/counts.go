package script

import (
	"context"
	"errors"
	"sync/atomic"

	"ubl"
)

// How runs end that no bound stops; those that one stops end by their [Reason].
const (
	endedDone    = "done"    // by itself
	endedThrew   = "threw"   // by an error that the program didn't catch
	endedRefused = "refused" // no place became free
	endedGone    = "gone"    // whoever asked for it has gone
	endedError   = "error"   // it couldn't be started or confined
)

// counts are how many runs have ended, by how, and how many are under way. It is safe for concurrent use.
type counts struct {
	ended map[string]*atomic.Int64 // doesn't change once it is made
	open  atomic.Int64
}

func newCounts() *counts {
	c := &counts{ended: map[string]*atomic.Int64{}}
	for _, how := range []string{
		endedDone, endedThrew, endedRefused, endedGone, endedError, string(StoppedTime), string(StoppedCPU), string(StoppedMemory),
		string(StoppedStack), string(StoppedCalls), string(StoppedCrashed),
	} {
		c.ended[how] = new(atomic.Int64)
	}
	return c
}

// end counts a run that has ended.
func (c *counts) end(out *Outcome, err error) { c.ended[howEnded(out, err)].Add(1) }

func howEnded(out *Outcome, err error) string {
	switch code := ubl.CodeOf(err); {
	case err == nil && out.Stopped != "":
		return string(out.Stopped)
	case err == nil && out.Failure != nil:
		return endedThrew
	case err == nil:
		return endedDone
	case code == ubl.CodeOverloaded || code == ubl.CodeRateLimited:
		return endedRefused
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return endedGone
	}
	return endedError
}

// Ended is how many runs have ended, by how: done, threw, refused, gone, error, or the bound that
// stopped them. Each is there from the beginning.
func (r *Runner) Ended() map[string]int64 {
	out := make(map[string]int64, len(r.counts.ended))
	for how, n := range r.counts.ended {
		out[how] = n.Load()
	}
	return out
}

// Open is how many runs are under way, without those that wait for a place.
func (r *Runner) Open() int64 { return r.counts.open.Load() }
