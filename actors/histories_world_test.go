package actors_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/ledger"
	"ubl/panics"
	"ubl/test/harness"
	"ubl/test/memstore"
)

// world is a node over a disk, with what breaks it, and all that is known of what it did.
// Time is the bubble's.
type world struct {
	who     ubl.Identity
	disk    *memstore.Disk
	busy    chan struct{} // holds one: who restarts the node
	left    []func()      // end the nodes that were taken over from
	ledger  *book
	outside *outsideWorld

	mu      sync.Mutex
	node    *memstore.Store
	rt      *actors.Runtime
	trouble map[string]trouble
	stirred ubl.Time // when trouble was last met, a commit failed, or the node was gone; 0 for never
	fault   *fault
	hurt    map[string][]string // the places at which a deed met a panic
	loads   map[ubl.Name]int
	traces  map[string][]string
	asked   []asked
	broken  []string
	seen    map[string]int
}

// trouble is what happens at a place the next times: where the pattern has an x. A star is
// always.
type trouble struct{ mode, pattern string }

// fault is the fate of a batch that is still so many away.
type fault struct {
	away int
	fate memstore.Fate
}

// asked is a deed that somebody wanted done, and what that came to.
type asked struct {
	at     string
	cmd    ubl.Command
	deed   deed
	answer any // the first one; nil where it was refused
}

func newWorld() *world {
	w := &world{
		who: harness.User("ana@example.com"), disk: memstore.NewDisk(), busy: make(chan struct{}, 1),
		trouble: make(map[string]trouble), hurt: make(map[string][]string), loads: make(map[ubl.Name]int), traces: make(map[string][]string),
		seen: make(map[string]int),
	}
	w.ledger = newBook(w)
	w.outside = newOutsideWorld()
	w.open()
	return w
}

func (w *world) at(local string) ubl.Name { return ubl.Name(string(w.who.TenantID) + "|" + local) }
func (w *world) group() ubl.Group         { return w.at("").Group() }

// breaks notes that something doesn't hold.
func (w *world) breaks(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// saw counts what a history has had.
func (w *world) saw(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[strings.ReplaceAll(what, " ", "-")]++
}

// Write implements [io.Writer] for the log: nothing in memory is damaged by what is done here.
func (w *world) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("damaged")) {
		w.breaks("the log says %s", line)
	}
	return len(line), nil
}

// open starts a node over the disk.
func (w *world) open() {
	node := w.disk.Open(memstore.Options{Delay: 2 * time.Millisecond, Fate: w.fate, Written: w.ledger.written})
	rt := actors.New(actors.Options{
		Families: []actors.Family{side{w, "left"}.family(node), side{w, "right"}.family(node), ledger.Family(node)},
		Now:      time.Now, Random: zeros{}, Panics: panics.New(nil), Shelf: node,
		Log:    slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Limits: actors.Limits{IdleAfter: 10 * time.Minute},
	})
	last := int64(0)
	rt.Subscribe(w.group().Ledger(), func(p ubl.Publication) { last = w.published(p, last) })
	rt.Led(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.node, w.rt = node, rt
}

// published sees that what is told is durable, and in order.
func (w *world) published(p ubl.Publication, last int64) int64 {
	if head := w.ledger.head(); head < p.Last || p.First <= last && p.First <= p.Last {
		w.breaks("atoms %d to %d are told behind %d, while %d are durable", p.First, p.Last, last, head)
	}
	for _, e := range p.Events {
		if e.LedgerSeq < p.First || e.LedgerSeq > p.Last {
			w.breaks("with atoms %d to %d the event %+v is told", p.First, p.Last, e)
		}
	}
	return max(last, p.Last)
}

func (w *world) now() (*actors.Runtime, *memstore.Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rt, w.node
}

// close stops a node.
func (w *world) close(rt *actors.Runtime, node *memstore.Store) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if err := rt.Close(ctx); err != nil {
		w.breaks("couldn't stop a node: %v", err)
	}
	node.Close()
}

// restart starts the node again. Where it is killed, it doesn't end what it does; where it is
// taken over from, it doesn't even know.
func (w *world) restart(how string) {
	w.busy <- struct{}{}
	defer func() { <-w.busy }()
	rt, node := w.now()
	if how == "revive" && !node.Gone() {
		return // somebody else has
	}
	w.saw(how)
	w.stir()
	if how == "kill" || how == "take-over" {
		synctest.Wait() // nothing is just being written
		node.Kill()
	}
	if how == "take-over" {
		w.left = append(w.left, func() { w.close(rt, node) })
	} else {
		w.close(rt, node)
	}
	w.open()
}

func (w *world) gone() bool {
	_, node := w.now()
	return node.Gone()
}

// fate decides what becomes of a batch.
func (w *world) fate(b *ubl.Batch) (fate memstore.Fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.fault; f != nil {
		if f.away--; f.away < 0 {
			fate, w.fault, w.stirred = f.fate, nil, ubl.TimeOf(time.Now())
			w.seen[[]string{"unknown", "lost", "late"}[fate.When]]++
			if fate.Dies {
				w.seen["died"]++
			}
		}
	}
	line := fmt.Sprint(time.Now().UnixMilli(), " ", len(b.Records), " ", fate)
	for _, atom := range b.Atoms {
		line += " " + readAtom(atom).This.What
	}
	for _, r := range b.Records {
		if bytes.HasPrefix(r.Key, []byte("i\x03")) { // how far a page reaches is a matter of who runs first
			line += fmt.Sprintf(" %s", r.Value)
		}
	}
	w.traces["batches"] = append(w.traces["batches"], line)
	return fate
}

// begin plants trouble, or ends all.
func (w *world) begin(troubles map[string]trouble) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if troubles == nil {
		clear(w.trouble)
	}
	maps.Copy(w.trouble, troubles)
}

// takeTrouble is the mode of the trouble at a place now, "" for none.
func (w *world) takeTrouble(place string) string {
	t := w.trouble[place]
	if t.pattern == "" {
		return ""
	}
	now := t.pattern[0]
	if now != '*' {
		t.pattern = t.pattern[1:]
		w.trouble[place] = t
	}
	if now == '.' {
		return ""
	}
	w.stirred = ubl.TimeOf(time.Now())
	return t.mode
}

// calm tells whether nothing has gone wrong for a while before a time, or 0, ever.
func (w *world) calm(before ubl.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stirred == 0 || before > w.stirred.Add(3*time.Second)
}

func (w *world) stir() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stirred = ubl.TimeOf(time.Now())
}

// meet is what happens at a place to somebody.
func (w *world) meet(place, whom string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.takeTrouble(place)
	if t == "" {
		return nil
	}
	w.traces[place] = append(w.traces[place], whom)
	switch t {
	case "panic":
		w.hurt[whom] = append(w.hurt[whom], place)
		w.seen["panic-at-"+place]++
		panic("trouble at " + place)
	case "unavailable":
		return ubl.Errorf(ubl.CodeUnavailable, "trouble at %s", place)
	}
	return ubl.Errorf(ubl.CodeForbidden, "trouble at %s", place)
}

// loaded is the seed of the next instance of an actor.
func (w *world) loaded(name ubl.Name) [32]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loads[name]++
	w.traces[name.Local()] = append(w.traces[name.Local()], "load")
	return sha256.Sum256(fmt.Append(nil, name, w.loads[name]))
}

// trace notes what an actor receives.
func (w *world) trace(local string, now ubl.Time, cmd ubl.Command) {
	line := fmt.Sprintf("%d %T", now, cmd)
	switch c := cmd.(type) {
	case do:
		line += c.Tag
	case passingly:
		line += c.Tag
	}
	if strings.HasSuffix(line, ".fire") {
		line += fmt.Sprint(cmd)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traces[local] = append(w.traces[local], line)
}

// command is the command of a deed, of which the ledger's reader knows then.
func (w *world) command(req ubl.Request, d deed) ubl.Command {
	w.ledger.intend(d)
	if d.As == "passing" {
		return passingly{do{req, d}}
	}
	return do{req, d}
}

// ask has something done, as somebody does who doesn't give up: what is unavailable or
// panics is asked again under the same key.
func (w *world) ask(local, id string, cmd ubl.Command) (any, error) {
	for tries := range 1000 {
		if w.gone() {
			w.restart("revive")
		}
		rt, _ := w.now()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		answer, err := rt.Ask(ctx, w.at(local), cmd)
		waited := ctx.Err()
		cancel()
		switch code := ubl.CodeOf(err); {
		case waited != nil:
			w.breaks("%T %s had no answer", cmd, id)
			return nil, err
		case code == ubl.CodeUnavailable || code == ubl.CodeOverloaded:
		case code == ubl.CodeInternal:
			place := w.pardon(id)
			if place == "" {
				w.breaks("%T %s is answered %v, and met no panic", cmd, id, err)
				return nil, err
			}
			if tries == 0 && yields(cmd) && slices.Contains([]string{"decide", "receive", "seal"}, place) {
				return nil, ubl.Errorf(ubl.CodeConflict, "nobody asks again, and nothing has changed")
			}
		default:
			return answer, err
		}
		time.Sleep(30 * time.Millisecond)
	}
	w.breaks("%T %s is never done", cmd, id)
	return nil, errors.New("never")
}

// pardon takes back a panic that somebody has been told of, and says where it was.
func (w *world) pardon(id string) (place string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.hurt[id]); n > 0 {
		place, w.hurt[id] = w.hurt[id][n-1], w.hurt[id][:n-1]
	}
	return place
}

func yields(cmd ubl.Command) bool {
	switch c := cmd.(type) {
	case do:
		return c.Yields
	case passingly:
		return c.Yields
	}
	return false
}

// do asks for a deed and notes what it came to.
func (w *world) do(local string, d deed, serial int) {
	id := fmt.Sprint("req:", serial)
	req := ubl.Request{Who: w.who, ID: id, Key: id}
	answer, err := w.ask(local, d.Tag, w.command(req, d))
	if !refusal(err) {
		w.breaks("%+v is answered %v", d, err)
	}
	switch {
	case ubl.CodeOf(err) == ubl.CodePrecondition:
		w.saw("unmatched")
	case err != nil:
		w.saw("refused")
	}
	d.Yields = false
	again := w.command(req, d)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, asked{local, again, d, answer})
}

// refusal tells one from another error.
func refusal(err error) bool {
	return err == nil || slices.Contains([]ubl.Code{ubl.CodeConflict, ubl.CodeForbidden, ubl.CodePrecondition}, ubl.CodeOf(err))
}

// again asks for something that was asked before. It is answered as at first, and refused with
// another content.
func (w *world) again(n int, changed bool) {
	if len(w.asked) == 0 {
		return
	}
	a := &w.asked[n%len(w.asked)]
	if changed && a.answer != nil {
		other := a.deed
		other.Memory = !other.Memory
		cmd := a.cmd
		switch c := cmd.(type) {
		case do:
			c.deed = other
			cmd = c
		case passingly:
			c.deed = other
			cmd = c
		}
		if _, err := w.ask(a.at, a.deed.Tag, cmd); ubl.CodeOf(err) != ubl.CodeIdempotencyConflict {
			w.breaks("the key of %s with another content is answered %v", a.deed.Tag, err)
		}
		w.saw("conflict")
		return
	}
	answer, err := w.ask(a.at, a.deed.Tag, a.cmd)
	w.saw("retried")
	switch {
	case a.answer == nil && refusal(err):
		a.answer = answer
	case err != nil:
		w.breaks("a retry of %s is answered %v", a.deed.Tag, err)
	case a.deed.As != "passing" && answer != a.answer:
		w.breaks("a retry of %s is answered %v, first %v", a.deed.Tag, answer, a.answer)
	}
}

// redrive tries to have an alarm tried again, which is refused where that is no dead letter.
func (w *world) redrive(local, letter, key string) {
	req := ubl.Request{Who: w.who, ID: "req:" + key, Key: key}
	if _, err := w.ask(local, key, ubl.Redrive{Request: req, Owner: true, Letter: letter}); err != nil && ubl.CodeOf(err) != ubl.CodeNotFound {
		w.breaks("to redrive %s of %s is answered %v", letter, local, err)
	}
}

// hand ends the nth outbound by hand, if it is open.
func (w *world) hand(n int, key string) {
	var of []asked
	for _, a := range w.asked {
		if a.deed.Out != nil && a.answer != nil {
			of = append(of, a)
		}
	}
	if len(of) == 0 {
		return
	}
	a := of[n%len(of)]
	if _, err := w.ask(a.at, key, hand{ubl.Request{Who: w.who, ID: "req:" + key, Key: key}, a.deed.Out.Key}); !refusal(err) {
		w.breaks("to end %s by hand is answered %v", a.deed.Tag, err)
	}
}
