//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// witness notes what is wrong that no later look would show. It is safe for
// concurrent use.
type witness struct {
	mu    sync.Mutex
	wrong []string
}

func (w *witness) blame(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) < 20 {
		w.wrong = append(w.wrong, short(fmt.Sprintf(format, args...)))
	}
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
