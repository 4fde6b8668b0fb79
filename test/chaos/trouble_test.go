//go:build linux

package chaos

import (
	"cmp"
	"fmt"
)

// complain notes what is wrong, from any goroutine; the checks report it.
func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.problems) < 20 {
		w.problems = append(w.problems, fmt.Sprintf(format, args...))
	}
}

// complaints are what was noted since the last call.
func (w *world) complaints() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.problems
	w.problems = nil
	return out
}

// trouble is what is being done to the world now.
func (w *world) trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.broken, "nothing")
}

func (w *world) setTrouble(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = what
}
