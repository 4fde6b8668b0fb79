package actors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ubl"
)

// book is the model: what must be so, made of the atoms of the ledger as they become durable.
type book struct {
	w *world

	mu      sync.Mutex
	seq     int64
	deeds   map[string]deed
	allowed map[happening]bool                // by the seat
	acts    map[string]*bookedAct             // by cid
	counts  map[string]int                    // of what has happened to whom
	done    map[string][]string               // what has, by actor and kind of event
	entries map[string][]int64                // that followers are to hear of, by subject
	times   map[int64]ubl.Time                // of entries
	heard   map[int64]bool                    // on the left
	last    map[string]int64                  // of these, by subject
	alarms  map[string]map[string]bookedAlarm // that are armed, by actor and key
	errands map[string]*bookedErrand
}

// bookedAct is an action, with the effect that came of it.
type bookedAct struct {
	bookedAtom
	seq, effect int64
	outcome     string // "" while it has none
}

// bookedAlarm is when an alarm is due, and since when that is known.
type bookedAlarm struct{ at, set ubl.Time }

// bookedErrand is what an alarm on the right is to lead to.
type bookedErrand struct {
	due, set ubl.Time
	ended    ubl.Time // 0 while nobody has moved or cleared it
	rang     int
}

// bookedAtom is an atom as far as the model reads it.
type bookedAtom struct {
	Kind, Did, CID, Status string
	Ref                    string `json:"ref_action_cid"`
	When                   ubl.Time
	This                   happening
	Effects                []happening
}

// withoutKey is what happens, without the key of its outbound.
func withoutKey(what string) string {
	what, _, _ = strings.Cut(what, "!")
	return what
}

// happening is what happens to whom.
type happening struct{ As, At, What, Subject, Founds string }

func readAtom(atom []byte) (a bookedAtom) {
	if err := json.Unmarshal(atom, &a); err != nil {
		panic(err)
	}
	return a
}

func newBook(w *world) *book {
	return &book{
		w: w, deeds: make(map[string]deed), allowed: make(map[happening]bool), acts: make(map[string]*bookedAct), counts: make(map[string]int), done: make(map[string][]string),
		entries: make(map[string][]int64), heard: make(map[int64]bool), times: make(map[int64]ubl.Time), last: make(map[string]int64),
		alarms: make(map[string]map[string]bookedAlarm), errands: make(map[string]*bookedErrand),
	}
}

func (b *book) intend(d deed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deeds[d.Tag] = d
}

// allow notes what the seat has allowed.
func (b *book) allow(h happening) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed[h] = true
}

func (b *book) head() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seq
}

// written takes in a batch that is durable.
func (b *book) written(batch *ubl.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, atom := range batch.Atoms {
		b.seq++
		b.atom(readAtom(atom))
	}
	for _, r := range batch.Records {
		if local, ok := bytes.CutPrefix(r.Key, []byte("i\x03")); ok {
			b.cursor(string(local), r.Value)
		}
	}
}

func (b *book) atom(a bookedAtom) {
	if ubl.IsAction(a.Kind) {
		b.acts[a.CID] = &bookedAct{bookedAtom: a, seq: b.seq}
		if a.Status == string(ubl.StatusIntended) {
			b.entry(a, a.When)
		}
		b.happens(a.This, a.When)
		return
	}
	act := b.acts[a.Ref]
	late := act != nil && act.Status == string(ubl.StatusIntended)
	if act == nil || act.effect != 0 || !late && act.seq != b.seq-1 {
		b.w.breaks("atom %d is the effect of no action that waits for one: %+v", b.seq, a)
		return
	}
	act.effect = b.seq
	b.entry(act.bookedAtom, a.When)
	if late {
		act.outcome = a.Effects[0].What
		b.sent(act, a.When)
		b.happens(a.Effects[0], a.When)
	}
}

// sent sees that an outbound is done in time.
func (b *book) sent(act *bookedAct, when ubl.Time) {
	_, id, _ := strings.Cut(withoutKey(act.This.What), ":")
	if out := b.deeds[id].Out; out != nil {
		b.onTime("the effect of "+id, max(act.When, out.Lease), when, sendTakes)
	}
}

// entry is one that both followers are to hear of.
func (b *book) entry(a bookedAtom, when ubl.Time) {
	if strings.HasSuffix(a.Did, ".do") || strings.HasSuffix(a.Did, ".deed") {
		b.entries[a.This.Subject] = append(b.entries[a.This.Subject], b.seq)
		b.times[b.seq] = when
	}
}

// happens takes in what happens to somebody, in the order of the ledger.
func (b *book) happens(h happening, when ubl.Time) {
	if h.What == "" {
		return // a redrive
	}
	kind, id, _ := strings.Cut(withoutKey(h.What), ":")
	b.w.saw(kind)
	if h.Founds != "" {
		b.w.saw("found")
		b.done["event "+h.Founds] = append(b.done["event "+h.Founds], "found:"+id)
		b.arm(h.Founds, foundedAlarm.Key, when.Add(foundedAlarm.After), when)
	}
	if slices.Contains([]string{"event", "item", "passing"}, kind) {
		b.does(b.deeds[id], h)
	}
	if h.As != "" {
		b.done[h.As+" "+h.At] = append(b.done[h.As+" "+h.At], h.What)
	}
	if b.counts[h.What]++; b.counts[h.What] > 1 && kind != "ring" {
		b.w.breaks("%s has happened twice", h.What)
	}
	h.Founds = ""
	if slices.Contains([]string{"event", "item", "passing", "ring", "heard"}, kind) && !b.allowed[h] {
		b.w.breaks("%s has happened, and the seat was not asked", h.What)
	}
	switch kind {
	case "event", "item", "passing":
		for _, alarm := range b.deeds[id].Alarms {
			at := alarm.At
			if alarm.After > 0 {
				at = when.Add(alarm.After)
			}
			b.arm(h.At, alarm.Key, at, when)
		}
		if of, ok := strings.CutPrefix(id, "rang|"); ok {
			b.errand(of, when)
		}
	case "ring":
		b.ring(h.At, id, when)
	case "heard":
		b.hear(id, when)
	}
}

// does takes in that a deed is done, before its own event, item or passing is.
func (b *book) does(d deed, h happening) {
	if known := len(b.done["event "+h.At]); d.If != "" {
		b.w.saw("matched")
		if d.If != strconv.Itoa(known) {
			b.w.breaks("%s was to happen at version %s, and has at %d", h.What, d.If, known)
		}
	}
	if d.Beside {
		b.w.saw("beside")
		b.done["item "+h.At] = append(b.done["item "+h.At], d.beside())
	}
}

// version is one so far from what an actor is known to have; "" for any.
func (b *book) version(local, away string) string {
	n, err := strconv.Atoi(away)
	if err != nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.Itoa(len(b.done["event "+local]) + n)
}

// arm has an alarm armed, moved or, of time 0, cleared.
func (b *book) arm(local, key string, at, when ubl.Time) {
	if b.alarms[local] == nil {
		b.alarms[local] = make(map[string]bookedAlarm)
	}
	was := b.alarms[local][key].at
	if e := b.errands[b.errandOf(local, key, was)]; e != nil && was != at {
		e.ended = when
	}
	if at == 0 {
		delete(b.alarms[local], key)
		return
	}
	b.alarms[local][key] = bookedAlarm{at, when}
	if strings.HasPrefix(local, "right:") && key[0] != 'n' && b.errands[b.errandOf(local, key, at)] == nil {
		b.errands[b.errandOf(local, key, at)] = &bookedErrand{due: at, set: when}
	}
}

// onTime sees that where nothing has gone wrong lately nothing is late.
func (b *book) onTime(what string, due, when ubl.Time, takes time.Duration) {
	// Until commits before it are durable, and what other alarms of the tenant lead to is done.
	const slack = 300*time.Millisecond + max(errandTakes, readTakes+deliverTakes)
	if b.w.calm(due) && when > due.Add(takes+slack) {
		b.w.breaks("%s was due at %d, and comes at %d", what, due, when)
	}
}

// errandOf is the key of the request that an alarm leads to.
func (b *book) errandOf(local, key string, at ubl.Time) string {
	return fmt.Sprintf("alarm:%s:%s:%d", b.w.at(local), key, at)
}

// ring is an alarm on the left that rings: it was armed, and is no more.
func (b *book) ring(local, key string, when ubl.Time) {
	alarm, armed := b.alarms[local][key]
	if !armed || alarm.at > when {
		b.w.breaks("%s rings %s at %d, armed is %+v", local, key, when, alarm)
	}
	b.onTime("ring:"+key, max(alarm.at, alarm.set), when, 0)
	delete(b.alarms[local], key)
	if key[0] == 'g' && b.counts["ring:"+key+" "+local]%3 != 2 {
		b.alarms[local][key] = bookedAlarm{when.Add(againAfter), when}
	}
	b.counts["ring:"+key+" "+local]++
}

// errand is one that an alarm on the right has led to: it was due, and had not been cleared
// before that.
func (b *book) errand(of string, when ubl.Time) {
	e := b.errands[of]
	if e == nil || e.due > when || e.ended != 0 && e.ended < e.due || e.rang > 0 {
		b.w.breaks("the errand %s is done at %d: %+v", of, when, e)
		return
	}
	b.onTime(of, max(e.due, e.set), when, errandTakes)
	e.rang++
	b.w.saw("rang")
}

// soonest is the nth alarm that is due within a minute.
func (b *book) soonest(n int, now ubl.Time) (local, key string, at ubl.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, of := range slices.Sorted(maps.Keys(b.alarms)) {
		for _, k := range slices.Sorted(maps.Keys(b.alarms[of])) {
			if due := b.alarms[of][k].at; due > now && due < now.Add(time.Minute) {
				if local, key, at = of, k, due; n == 0 {
					return local, key, at
				}
				n--
			}
		}
	}
	return local, key, at
}

// hear is an entry that has had its effect on the left, in the order of its subject.
func (b *book) hear(seq string, when ubl.Time) {
	n, _ := strconv.ParseInt(seq, 10, 64)
	b.heard[n] = true
	for subject, list := range b.entries {
		if slices.Contains(list, n) {
			if b.w.calm(0) {
				b.onTime("heard:"+seq, b.times[n], when, 2*(followEvery+readTakes))
			}
			if n < b.last[subject] {
				b.w.breaks("atom %d is heard of behind %d", n, b.last[subject])
			}
			b.last[subject] = n
			return
		}
	}
	b.w.breaks("atom %d is heard of, and nobody asked for it", n)
}

// cursor sees that all entries before it have had their effect, or wait for it.
func (b *book) cursor(local string, stored []byte) {
	var c struct{ Seq int64 }
	if err := json.Unmarshal(stored, &c); err != nil || c.Seq > b.seq {
		b.w.breaks("the cursor of %s is %s, the ledger has %d; %v", local, stored, b.seq, err)
	}
	parked := b.parked(local)
	for subject, list := range b.entries {
		from, waits := parked[subject]
		for _, seq := range list {
			if seq <= c.Seq && !b.had(local, seq) && (!waits || seq < from) {
				b.w.breaks("the cursor of %s is %d and atom %d of %q had no effect", local, c.Seq, seq, subject)
			}
		}
	}
}

// had tells whether an entry has had its effect.
func (b *book) had(local string, seq int64) bool {
	if local == "left:tail" {
		return b.heard[seq]
	}
	b.w.outside.mu.Lock()
	defer b.w.outside.mu.Unlock()
	return b.w.outside.told[seq]
}

// parked are the subjects that wait, and from where on.
func (b *book) parked(local string) map[string]int64 {
	parked := make(map[string]int64)
	b.w.each("i\x01"+local+"\x00tail:", func(rest string) {
		number, subject, _ := strings.Cut(rest, ":")
		from, _ := strconv.ParseInt(number, 10, 64)
		parked[subject] = from
	})
	return parked
}

// each tells the keys with a beginning that are durable, without it.
func (w *world) each(prefix string, fn func(rest string)) {
	_ = w.disk.View(context.Background(), w.group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte(prefix), []byte(prefix+"\xff"), func(k, _ []byte) bool {
			fn(string(k[len(prefix):]))
			return true
		})
	})
}

// state is what the ledger says that an actor's state is.
func (b *book) state(local string) sideState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return sideState{Name: local, Done: b.done["event "+local], Beside: besides{Passed: b.done["passing "+local], Items: int64(len(b.done["item "+local]))}}
}

// locals are the actors of whom there are any.
func (b *book) locals() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	locals := map[string]bool{}
	for key := range b.done {
		_, local, _ := strings.Cut(key, " ")
		locals[local] = true
	}
	return slices.Sorted(maps.Keys(locals))
}

// settled sees that once all time has passed nothing is left to be done, and that all that was
// promised is.
func (b *book) settled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.w.asked {
		b.deedDone(a)
	}
	for _, act := range b.acts {
		b.closed(act)
	}
	for of, e := range b.errands {
		if e.rang == 0 && e.ended == 0 {
			b.w.breaks("the errand %s was never done", of)
		}
	}
	for local, alarms := range b.alarms {
		for key := range alarms {
			if strings.HasPrefix(local, "left:") && key[0] != 'n' {
				b.w.breaks("%s of %s never rang", key, local)
			}
		}
	}
	for subject, list := range b.entries {
		for _, seq := range list {
			if !b.had("left:tail", seq) || !b.had("right:tail", seq) {
				b.w.breaks("atom %d of %q had no effect", seq, subject)
			}
		}
	}
	for of, list := range b.done {
		if local, ok := strings.CutPrefix(of, "item "); ok {
			b.kept(local, list)
		}
	}
	for _, space := range []string{"i\x00", "i\x01", "i\x02"} {
		b.w.each(space, func(rest string) { b.w.breaks("left in the store is %q", space+rest) })
	}
}

// kept sees that an actor's items are stored under their numbers.
func (b *book) kept(local string, list []string) {
	for i, what := range list {
		item, err := readItem(context.Background(), b.w.disk, b.w.at(local), int64(i+1))
		if err != nil || item.What != what || item.Receipt.CID == "" {
			b.w.breaks("item %d of %s is %+v, %v, want %s", i+1, local, item, err, what)
		}
	}
}

// deedDone sees that what was acknowledged is on record, and what was refused isn't.
func (b *book) deedDone(a asked) {
	d, want := a.deed, 0
	if a.answer != nil {
		want = 1
	}
	parts := map[string]bool{d.name(): true, "first:" + d.Tag: d.First, "event:" + d.Tag + "t": d.Then, "also:" + d.Tag + d.intends(true): d.Also}
	for what, part := range parts {
		if part && b.counts[what] != want {
			b.w.breaks("%s has happened %d times, want %d", what, b.counts[what], want)
		}
	}
}

// closed sees that an act has its effect, and that an outbound came to what it says.
func (b *book) closed(act *bookedAct) {
	if act.effect == 0 {
		b.w.breaks("%+v has no effect", act)
		return
	}
	if act.Status != string(ubl.StatusIntended) {
		return
	}
	_, id, _ := strings.Cut(withoutKey(act.This.What), ":")
	out, o := b.deeds[id].Out, b.w.outside
	outcome, ok := strings.CutPrefix(act.outcome, "end:"+id+":")
	o.mu.Lock()
	defer o.mu.Unlock()
	did := o.effects[act.CID]
	b.w.saw("end:" + strings.TrimSuffix(outcome, " "+strconv.Quote("did "+id)))
	switch answer, good := strings.CutPrefix(outcome, "ok "); {
	case !ok:
		b.w.breaks("%s came to %q", id, act.outcome)
	case outcome == "by hand":
	case good && (did == "" || did != answer), outcome == string(ubl.CodeForbidden) && did != "":
		b.w.breaks("%s came to %q, outside to %q", id, outcome, did)
	case !good && outcome != string(ubl.CodeForbidden) && !out.Once && out.Deadline == 0:
		b.w.breaks("%s was given up: %q", id, outcome)
	}
	if key := o.keys[id]; key != "" && key != act.CID {
		b.w.breaks("%s was attempted as %s, its intent is %s", id, key, act.CID)
	}
}
