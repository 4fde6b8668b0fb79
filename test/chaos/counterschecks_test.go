//go:build linux

package chaos

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// tallied is what a tenant's ledger says of its counters.
type tallied struct {
	values map[string]int64
	armed  map[string]int64   // the addition since whose effect a counter is to go back, by counter
	made   map[int64]int      // how often each addition was
	calls  map[string]counted // of the hook, by the cid of their intent
	open   map[string]bool    // of these, those without an effect
	due    counted            // what the last addition is to call the hook with; zero for nothing
	told   []string           // all changes
	wrong  []string
}

// tallyCounters follows a ledger from its beginning. What comes of an addition is in the same
// commit: its effect, and the intent to call the hook right behind it.
func tallyCounters(atoms []atom, tried map[int64]*addition) *tallied {
	k := &tallied{values: make(map[string]int64), armed: make(map[string]int64), made: make(map[int64]int), calls: make(map[string]counted), open: make(map[string]bool)}
	for _, a := range atoms {
		call := a.Atom.Did == "counter.call"
		k.blame(k.due != counted{} && !call, a.Seq, "the hook is to hear of %+v, and isn't", k.due)
		if call {
			at := counted{a.Atom.This.CounterID, a.Atom.This.Value}
			k.blame(at != k.due, a.Seq, "the hook is called with %+v, want %+v", at, k.due)
			k.calls[a.Atom.CID], k.open[a.Atom.CID] = at, true
		}
		k.due = counted{}
		if of := a.Atom.RefActionCID; k.open[of] {
			delete(k.open, of)
			k.blame(a.Atom.Outcome != "ok", a.Seq, "the call with %+v ended %q", k.calls[of], a.Atom.Outcome)
			continue
		}
		for _, e := range a.Atom.Effects {
			k.change(a.Seq, e, tried)
		}
	}
	return k
}

// change is one of a counter.
func (k *tallied) change(seq int64, e countChange, tried map[int64]*addition) {
	switch e.Op {
	case "counter.add":
		by := e.Value - k.values[e.CounterID]
		a := tried[by]
		k.made[by]++
		k.blame(a == nil || a.counter != e.CounterID || a.done && a.value != e.Value, seq, "%+v adds %d, tried was %+v", e, by, a)
		if a != nil && a.resets {
			k.armed[e.CounterID] = by
		}
		if a != nil && a.calls {
			k.due = counted{e.CounterID, e.Value}
		}
	case "counter.reset":
		k.blame(k.armed[e.CounterID] == 0, seq, "%s goes back to nothing, and nobody wanted it", e.CounterID)
		delete(k.armed, e.CounterID)
	default:
		return
	}
	k.values[e.CounterID] = e.Value
	k.told = append(k.told, fmt.Sprint(e.Op, " ", e.CounterID, " ", e.Value))
}

func (k *tallied) blame(wrong bool, seq int64, format string, args ...any) {
	if wrong {
		k.wrong = append(k.wrong, fmt.Sprintf("at %d, ", seq)+fmt.Sprintf(format, args...))
	}
}

// waiting is what is still to happen by itself.
func (k *tallied) waiting() (what []string) {
	for _, id := range slices.Sorted(maps.Keys(k.armed)) {
		what = append(what, fmt.Sprintf("%s has not gone back to nothing since %d was added", id, k.armed[id]))
	}
	for cid := range k.open {
		what = append(what, fmt.Sprintf("the call with %+v has no effect", k.calls[cid]))
	}
	return what
}

// checkCounters wants every addition once where it was acknowledged, and at most once where
// nobody knows.
func checkCounters(k *tallied, tried map[int64]*addition) []string {
	wrong := append(slices.Clone(k.wrong), k.waiting()...)
	for _, by := range slices.Sorted(maps.Keys(tried)) {
		if n := k.made[by]; n > 1 || n == 0 && tried[by].done {
			wrong = append(wrong, fmt.Sprintf("%+v is there %d times", *tried[by], n))
		}
	}
	return first(wrong)
}

// checkTold wants each change to come over the stream once, in the order of the ledger.
func checkTold(got, want []string) (wrong []string) {
	if len(got) != len(want) {
		wrong = append(wrong, fmt.Sprintf("%d changes were told, the ledger has %d", len(got), len(want)))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return append(wrong, fmt.Sprintf("change %d was told as %q, the ledger has %q", i+1, got[i], want[i]))
		}
	}
	return wrong
}

// check wants the hook to have heard of each call in the ledgers, with its key and what it
// says, and of nothing else: what isn't durable is not done.
func (h *hook) check(calls map[string]counted) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	wrong := slices.Clone(h.wrong)
	for _, key := range slices.Sorted(maps.Keys(h.heard)) {
		if _, there := calls[key]; !there {
			wrong = append(wrong, fmt.Sprintf("it was called with %s, and no ledger has %s", h.heard[key], key))
		}
	}
	for _, cid := range slices.Sorted(maps.Keys(calls)) {
		var said counted
		if err := json.Unmarshal([]byte(h.heard[cid]), &said); err != nil || said != calls[cid] {
			wrong = append(wrong, fmt.Sprintf("it heard %q, the ledger has %+v", h.heard[cid], calls[cid]))
		}
	}
	return first(wrong)
}
