//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ubl"
)

// endTime is how long a call may stay open: its own minute, the grace behind it,
// and until the keeper comes round, and once more for one that just missed it.
const endTime = 4 * time.Minute

// verify waits until every call has ended, and checks what callers know against
// the ledger and what came here.
func (o *outside) verify(ctx context.Context, v *verdicts) {
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, fmt.Errorf("calls are open after %s", endTime))
	defer cancel()
	var atoms []atom
	err := poll(ctx, 2*time.Second, func(ctx context.Context) (err error) {
		if atoms, err = o.owner.world.ledger(ctx, o.owner.token); err != nil {
			return err
		}
		if open := checkEffects(atoms); len(open) > 0 {
			return errors.New(strings.Join(open, ", "))
		}
		return nil
	})
	v.fail("effects", "t:ubl_core", err)
	v.add("clients", "calls to the outside", o.testimony())
	o.mu.Lock()
	defer o.mu.Unlock()
	v.add("calls to the outside", "t:ubl_core", checkOutside(atoms, o.ran, o.calls))
}

// checkOutside wants each call to be made once at most, each that was made to
// stand in the ledger once, and each that was acknowledged to have been made and
// to have gone well.
func checkOutside(atoms []atom, ran map[int]int, calls map[int]*errand) (wrong []string) {
	intents, outcomes := make(map[string][]atom), make(map[string]string)
	for _, a := range atoms {
		if a.Atom.Did == string(ubl.DidPortalCall) {
			intents[a.Atom.Session] = append(intents[a.Atom.Session], a)
		}
		outcomes[a.Atom.RefActionCID] = a.Atom.Outcome
	}
	all := make(map[int]bool)
	for n := range ran {
		all[n] = true
	}
	for n := range calls {
		all[n] = true
	}
	for _, n := range slices.Sorted(maps.Keys(all)) {
		of := intents["s:"+noteKey(n)]
		if len(of) != 1 || ran[n] > 1 {
			wrong = append(wrong, fmt.Sprintf("call %d was made %d times and is in the ledger %d times", n, ran[n], len(of)))
			continue
		}
		outcome, done := outcomes[of[0].Atom.CID], calls[n] != nil && calls[n].done
		if done && outcome != "ok" || outcome == "ok" && ran[n] != 1 {
			wrong = append(wrong, fmt.Sprintf("call %d, acknowledged: %v, made %d times, ended %q", n, done, ran[n], outcome))
		}
	}
	return first(wrong)
}
