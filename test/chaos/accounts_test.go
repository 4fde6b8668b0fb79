//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
)

// accounts are what a tenant's ledger says of its credits.
type accounts struct {
	balances map[string]int64    // by container
	issued   int64               // in all
	issues   map[int64]int       // how often each amount was
	journeys map[string]*journey // by transfer
	byAction map[string]*journey // by the cid of the action
	wrong    []string
}

// journey is a transfer on its way.
type journey struct {
	seq             int64 // of its action
	this            matter
	arrived, denied int
	ended           string // the outcome of its effect, "" before it
}

// keepAccounts follows a ledger from its beginning. No wallet may ever hold less
// than nothing, and nothing may arrive that hasn't left.
func keepAccounts(atoms []atom) *accounts {
	k := &accounts{balances: make(map[string]int64), issues: make(map[int64]int),
		journeys: make(map[string]*journey), byAction: make(map[string]*journey)}
	for _, a := range atoms {
		this := a.Atom.This
		switch a.Atom.Did + " " + a.Atom.Status {
		case "credits.issue executed":
			k.move(a.Seq, this.ContainerID, this.Amount)
			k.issued += this.Amount
			k.issues[this.Amount]++
		case "container.transfer intended":
			k.blame(k.journeys[this.TransferID] != nil, a.Seq, "%+v leaves again", this)
			j := &journey{seq: a.Seq, this: this}
			k.journeys[this.TransferID], k.byAction[a.Atom.CID] = j, j
			k.move(a.Seq, this.From, -this.Amount)
		case "container.receive executed":
			k.move(a.Seq, this.To, this.Amount)
			k.reach(a, func(j *journey) { j.arrived++ })
		case "container.receive denied":
			k.reach(a, func(j *journey) { j.denied++ })
		}
		if j := k.byAction[a.Atom.RefActionCID]; j != nil {
			k.end(a, j)
		}
	}
	return k
}

func (k *accounts) blame(wrong bool, seq int64, format string, args ...any) {
	if wrong {
		k.wrong = append(k.wrong, fmt.Sprintf("at %d, ", seq)+fmt.Sprintf(format, args...))
	}
}

func (k *accounts) move(seq int64, wallet string, amount int64) {
	k.balances[wallet] += amount
	k.blame(k.balances[wallet] < 0, seq, "%d leave %s with less than nothing", amount, wallet)
}

// reach is a transfer's coming to its target, which takes it in or doesn't.
func (k *accounts) reach(a atom, note func(*journey)) {
	j := k.journeys[a.Atom.This.TransferID]
	if j == nil || j.this != a.Atom.This {
		k.blame(true, a.Seq, "%+v comes and hasn't left", a.Atom.This)
		return
	}
	note(j)
	k.blame(j.arrived+j.denied > 1, a.Seq, "%+v comes again", j.this)
}

// end is the effect of a transfer: it has arrived, or it comes back.
func (k *accounts) end(a atom, j *journey) {
	k.blame(j.ended != "", a.Seq, "%+v ends again", j.this)
	if j.ended = a.Atom.Outcome; j.ended == "ok" {
		k.blame(j.arrived != 1, a.Seq, "%+v is said to have arrived", j.this)
		return
	}
	k.blame(j.denied != 1, a.Seq, "%+v comes back, and wasn't denied", j.this)
	k.move(a.Seq, j.this.From, j.this.Amount)
}

// checkAccounts wants nothing to be on its way, each wallet to hold what the
// ledger says, all together what was issued, and every payment to be there as
// its client was told.
func checkAccounts(k *accounts, held map[string]int64, tried map[int64]*payment) []string {
	wrong, sum := slices.Clone(k.wrong), int64(0)
	for _, id := range slices.Sorted(maps.Keys(held)) {
		sum += held[id]
		if held[id] != k.balances[id] {
			wrong = append(wrong, fmt.Sprintf("%s holds %d, by the ledger %d", id, held[id], k.balances[id]))
		}
	}
	if sum != k.issued {
		wrong = append(wrong, fmt.Sprintf("the wallets hold %d, issued were %d", sum, k.issued))
	}
	made := make(map[int64][]*journey)
	for _, id := range slices.Sorted(maps.Keys(k.journeys)) {
		j := k.journeys[id]
		made[j.this.Amount] = append(made[j.this.Amount], j)
		if p := tried[j.this.Amount]; j.ended == "" || p == nil || p.from != j.this.From || p.to != j.this.To {
			wrong = append(wrong, fmt.Sprintf("%+v ended %q; tried was %+v", j.this, j.ended, p))
		}
	}
	for _, amount := range slices.Sorted(maps.Keys(tried)) {
		p := tried[amount]
		if !p.fits(k.issues[amount], made[amount]) {
			wrong = append(wrong, fmt.Sprintf("%+v is there %d times, as %+v", *p, k.issues[amount]+len(made[amount]), made[amount]))
		}
	}
	return first(wrong)
}

// fits reports whether what was made of a payment is what its client was told:
// once where it was done or came back, never where it was refused, and at most
// once where nobody knows.
func (p *payment) fits(issued int, made []*journey) bool {
	if p.from == "" {
		return len(made) == 0 && (issued == 1 || issued == 0 && !p.done)
	}
	switch {
	case issued > 0 || len(made) > 1 || p.refused && len(made) > 0:
		return false
	case p.done:
		return len(made) == 1 && made[0].ended == "ok" && made[0].seq == p.seq && made[0].this.TransferID == p.transfer
	case p.back:
		return len(made) == 1 && made[0].ended == "error"
	}
	return true
}
