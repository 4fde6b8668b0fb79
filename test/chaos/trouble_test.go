//go:build linux

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// errOver is the cause of an end that nothing wrong has brought.
var errOver = errors.New("the test is over")

// complain notes what is wrong, from any goroutine, and ends the world's life: faults,
// clients and streams stop at once, and the checks report it.
func (w *world) complain(format string, args ...any) {
	problem := fmt.Sprintf(format, args...)
	w.mu.Lock()
	if len(w.problems) < 20 {
		w.problems = append(w.problems, problem)
	}
	w.mu.Unlock()
	w.end(errors.New(problem))
}

// failure is what ended the world's life early, nil while nothing did.
func (w *world) failure() error {
	if err := context.Cause(w.life); err != nil && err != errOver {
		return err
	}
	return nil
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

// TestFailedRunEnds: whatever finds that something is wrong, faults, clients, streams
// and waits end soon, and say why.
func TestFailedRunEnds(t *testing.T) {
	for name, find := range map[string]func(w *world, l *load){
		"a process":  func(w *world, _ *load) { w.complain("something is wrong") },
		"a client":   func(_ *world, l *load) { l.tenants[0].rooms[0].blame("something is wrong") },
		"the faults": func(w *world, _ *load) { w.complain("the faults stopped early: %v", errors.New("something is wrong")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, usual, plan{count: 1, alone: true, loopback: true})
			w.up()
			l := w.begin(weight{tenants: 1, rooms: 1, senders: 1, users: 1, writers: 1, carriers: 1, wallets: 2,
				pace: 60 * time.Millisecond, patience: always})
			must(t, w.node(1).signal(stop)) // so that everybody waits
			ended := make(chan error, 1)
			go func() {
				err := newDriver(w).run(time.Hour)
				l.clients.Wait()
				l.streams.Wait()
				ended <- err
			}()
			pause(t.Context(), time.Second) // in which they begin to wait
			find(w, l)
			select {
			case err := <-ended:
				if err == nil || !strings.Contains(err.Error(), "something is wrong") {
					t.Errorf("the faults ended with %v", err)
				}
			case <-time.After(deadline):
				t.Error("not all has ended within a minute")
			}
			w.complaints() // which would fail this test
		})
	}
}
