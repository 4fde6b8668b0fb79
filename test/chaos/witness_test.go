//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// witness notes what is wrong that no later look would show. It is safe for
// concurrent use.
type witness struct {
	world *world
	mu    sync.Mutex
	wrong []string
}

// blame notes it and ends the world's life, so that a test that has failed ends soon.
// What clients meet once that is over says nothing.
func (w *witness) blame(format string, args ...any) {
	if w.world.life.Err() != nil {
		return
	}
	what := short(fmt.Sprintf(format, args...))
	w.mu.Lock()
	w.wrong = append(w.wrong, what)
	w.mu.Unlock()
	w.world.end(errors.New(what))
}

// testimony is what was noted.
func (w *witness) testimony() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

// deadline is how long a patient client tries before it is an error. Faults of
// a minority are over sooner.
const deadline = time.Minute

// patience draws how long a client tries. Now and then one gives up early, and
// never learns.
func patience(draw *rand.Rand) time.Duration {
	if draw.IntN(12) == 0 {
		return between(draw, time.Millisecond, 50*time.Millisecond)
	}
	return deadline
}

// always is the patience of those who never give up early.
func always(*rand.Rand) time.Duration { return deadline }
