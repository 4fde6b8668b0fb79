package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/memstore"
)

// step is one of a history.
type step struct {
	Do    string
	At    []int // who
	Deeds []deed
	N     int
	Flag  bool
	For   time.Duration
	Fate  memstore.Fate

	Troubles map[string]trouble
}

// bases are the actors that there are from the beginning.
var bases = []string{"left:1", "left:2", "left:tail", "right:1", "right:2", "right:tail"}

// TestHistories: whatever becomes of two families that use all that the kernel offers, while
// commits fail, nodes die, other sides are away and code panics: what was acknowledged is on
// record once, and what was refused is not; each alarm, outbound and entry of the ledger has
// its effect once; no cursor is ahead of its effects; who met no panic has an answer. Actors
// know the same live, loaded and replayed, byte for byte, and where a history runs alike twice,
// the same bytes are stored.
func TestHistories(t *testing.T) {
	alike, runs, seen := 0, 0, make(map[string]int)
	rapid.Check(t, func(rt *rapid.T) {
		history := rapid.SliceOfN(rapid.Custom(drawStep), 10, 24).Draw(rt, "history")
		first := play(t, rt, history)
		for what, n := range first.seen {
			seen[what] += n
		}
		if runs++; runs%2 == 0 {
			return
		}
		if second := play(t, rt, history); reflect.DeepEqual(first.traces, second.traces) {
			alike++
			first.compare(rt, second)
		}
	})
	t.Logf("%d of %d histories ran alike twice; seen were %v", alike, (runs+1)/2, seen)
	if runs >= 50 && alike < runs/8 {
		t.Error("too few histories ran alike twice")
	}
	for _, what := range everything {
		if runs >= 500 && seen[what] == 0 { // fewer may not have everything
			t.Errorf("no history had %q", what)
		}
	}
}

// everything is what histories are to have.
var everything = strings.Fields("event item beside passing first also found matched unmatched ring rang heard " +
	"end:ok end:forbidden end:unavailable end:by-hand snapshot refused retried conflict dead-alarm dead-outbound dead-tail " +
	"panic-at-decide panic-at-receive panic-at-answer panic-at-then panic-at-seal panic-at-wake panic-at-errand panic-at-outside panic-at-ended panic-at-hear panic-at-deliver " +
	"lost late unknown died restart kill take-over revive evict reload interfere reuse")

// played is what a run of a history has left.
type played struct {
	broken []string
	traces map[string][]string
	stored map[string]string
	seen   map[string]int
}

func (p played) compare(rt *rapid.T, other played) {
	for _, key := range slices.Sorted(maps.Keys(p.stored)) {
		if p.stored[key] != other.stored[key] {
			rt.Errorf("under %q is stored\n%q, then\n%q", key, p.stored[key], other.stored[key])
		}
	}
	if len(p.stored) != len(other.stored) {
		rt.Errorf("%d keys are stored, then %d", len(p.stored), len(other.stored))
	}
}

// play runs a history in a bubble.
func play(t *testing.T, tb rapid.TB, history []step) (p played) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for i, s := range history {
			w.await(i)
			if w.gone() {
				w.restart("revive")
			}
			w.step(i, s)
		}
		w.settle(t)
		w.close(w.now())
		for _, end := range w.left {
			end()
		}
		p = played{w.broken, w.traces, w.disk.Dump(w.group()), w.seen}
	})
	if len(p.broken) > 0 {
		tb.Fatalf("broken:\n%s", strings.Join(p.broken, "\n"))
	}
	return p
}

// TestHistoryFollowerReloadedWhileReading: a follower that is loaded again between reading a page
// and taking it in knows an older cursor than the page is behind of. What is in the page must not wait for
// the tenant's next act.
func TestHistoryFollowerReloadedWhileReading(t *testing.T) {
	play(t, t, []step{
		{Do: "do", At: []int{69}, N: 9, Deeds: []deed{{
			As: "item", Found: true, Alarms: []actors.Alarm{{Key: "g1", At: 1000}},
			Out: &actors.Outbound{Key: "k1", Content: []byte{}, Lease: 6000, Once: true},
		}}},
		{Do: "pass", For: 30 * time.Second},
		{Do: "do", At: []int{0}, N: 1, Deeds: []deed{{As: "event", Also: true, Then: true, Yields: true}}},
		{Do: "pass"},
		{Do: "reload"},
	})
}

// await waits for the moment of a step. All waits are of whole seconds, so that what follows
// from different steps meets seldom: then the order in which goroutines run decides.
func (w *world) await(i int) {
	now := time.Now()
	time.Sleep(now.Truncate(time.Second).Add(time.Second + time.Duration(i%40)*25*time.Millisecond).Sub(now))
}

func (w *world) step(i int, s step) {
	switch s.Do {
	case "do":
		w.burst(i, s)
	case "again":
		w.again(s.N, s.Flag)
	case "hand":
		w.hand(s.N, fmt.Sprint("hand ", i))
	case "reuse":
		w.reuse(i, s)
	case "redrive":
		w.redrive(bases[s.N%len(bases)], "r1", fmt.Sprint("redrive ", i))
	case "pass":
		time.Sleep(s.For)
	case "trouble":
		w.begin(s.Troubles)
	case "ordeal":
		w.begin(s.Troubles)
		w.burst(i, s)
		time.Sleep(s.For)
		w.begin(nil)
	case "fault":
		w.mu.Lock()
		w.fault = &fault{s.N, s.Fate}
		w.mu.Unlock()
	case "reload":
		w.saw(s.Do)
		rt, _ := w.now()
		rt.Passivate(-time.Hour)
	case "evict":
		w.saw(s.Do)
		w.stir()
		rt, node := w.now()
		rt.Evict(memstore.ErrLost, func(ubl.Group) bool { return true })
		node.Barrier()
		rt.Led(0)
	case "compare":
		w.compare()
	case "interfere":
		w.interfere(i, s)
	default:
		w.restart(s.Do)
	}
}

// burst has several deeds done nearly at once.
func (w *world) burst(i int, s step) {
	locals := append(slices.Clone(bases), w.founded()...)
	var all sync.WaitGroup
	for n, d := range s.Deeds {
		d.Tag = fmt.Sprintf("d%d", 10*i+n)
		local := locals[s.At[n]%len(locals)]
		if !strings.HasPrefix(local, "left:") {
			d.Found = false
		}
		d.Also = d.Also || d.Out != nil && (d.Found || d.As == "item")
		d.Alarms, d.Out, d.If = absolute(d.Alarms), absoluteOut(d.Out), w.ledger.version(local, d.If)
		all.Go(func() { w.do(local, d, 10*i+n) })
		time.Sleep(time.Duration(s.N) * time.Millisecond)
	}
	all.Wait()
}

// reuse intends an outbound under the key of another, while an attempt at that goes on.
func (w *world) reuse(i int, s step) {
	w.begin(s.Troubles)
	for n, d := range s.Deeds {
		w.burst(i, step{At: s.At, Deeds: []deed{d}, N: 500})
		if n == 0 {
			w.hand(len(w.asked)-1, fmt.Sprint("hand ", i))
			i += 50
		}
	}
	w.saw(s.Do)
}

// interfere has an alarm moved or cleared about when it is due.
func (w *world) interfere(i int, s step) {
	local, key, at := w.ledger.soonest(s.N%5, ubl.TimeOf(time.Now()))
	if local == "" {
		return
	}
	d := deed{Tag: fmt.Sprintf("d%d", 10*i), As: "event", Alarms: []actors.Alarm{{Key: key}}}
	if s.Flag {
		d.Alarms[0].After = 7 * time.Second
	}
	time.Sleep(time.Until(at.Std().Add(s.For)))
	w.saw(s.Do)
	w.do(local, d, 10*i)
}

// founded are the actors that were, and are known to be.
func (w *world) founded() (locals []string) {
	for _, a := range w.asked {
		if a.deed.Found && a.answer != nil {
			locals = append(locals, a.deed.founds())
		}
	}
	return locals
}

// absolute makes times of a step's waits: those of alarms at a time are drawn as if it were 0.
func absolute(alarms []actors.Alarm) []actors.Alarm {
	alarms = slices.Clone(alarms)
	for i := range alarms {
		if alarms[i].At != 0 {
			alarms[i].At += ubl.TimeOf(time.Now())
		}
	}
	return alarms
}

func absoluteOut(out *actors.Outbound) *actors.Outbound {
	if out == nil {
		return nil
	}
	o, now := *out, ubl.TimeOf(time.Now())
	if o.Lease != 0 {
		o.Lease += now
	}
	if o.Deadline != 0 {
		o.Deadline += now
	}
	return &o
}

// settle ends all trouble, and lets all time pass.
func (w *world) settle(t *testing.T) {
	w.begin(nil)
	w.mu.Lock()
	w.fault = nil
	w.mu.Unlock()
	if w.gone() {
		w.restart("revive")
	}
	for range 40 {
		time.Sleep(lastRetry + time.Second)
		w.redriveAll()
		if w.idle() {
			break
		}
	}
	time.Sleep(time.Minute)
	w.ledger.settled()
	head := w.ledger.head()
	for n := range w.asked {
		if w.asked[n].answer != nil {
			w.again(n, false)
		}
	}
	if w.ledger.head() != head {
		w.breaks("retries have left %d atoms", w.ledger.head()-head)
	}
	w.compare()
	rt, _ := w.now()
	if err := harness.Verify(t.Context(), rt, w.who.TenantID); err != nil {
		w.breaks("the ledger doesn't verify: %v", err)
	}
}

// idle tells whether nothing waits for a time.
func (w *world) idle() bool {
	idle := true
	w.each("i\x01", func(string) { idle = false })
	return idle
}

// redriveAll has all dead letters tried again.
func (w *world) redriveAll() {
	answer, err := w.ask("ledger|0", "", ubl.ListDeadLetters{})
	letters, ok := answer.([]ubl.DeadLetter)
	if err != nil || !ok {
		w.breaks("dead letters are %v, %v", answer, err)
	}
	for _, l := range letters {
		w.saw("dead-" + l.Kind)
		w.redrive(l.Subject, l.Key, fmt.Sprint("redrive ", l.Key, time.Now().UnixMilli()))
	}
}

// compare sees that each live actor knows what the ledger says, and so do one that is loaded from
// its snapshot and one that is replayed from its first event.
func (w *world) compare() {
	for _, local := range w.ledger.locals() {
		for range 100 {
			head := w.batches()
			live, err := w.ask(local, "", tell{})
			if err != nil {
				w.breaks("%s is answered %v", local, err)
				return
			}
			loaded, replayed := w.load(local, false), w.load(local, true)
			want := encodeJSON(w.ledger.state(local))
			if w.batches() != head {
				continue // something else has happened meanwhile
			}
			for what, got := range map[string][]byte{"live": live.([]byte), "loaded": loaded, "replayed": replayed} {
				if !bytes.Equal(got, want) {
					w.breaks("%s is %s\n%s, want\n%s", local, what, got, want)
				}
			}
			break
		}
	}
}

// batches counts those that were written.
func (w *world) batches() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.traces["batches"])
}

// load is an actor's state as it is loaded from the disk.
func (w *world) load(local string, replays bool) []byte {
	name, _, _ := strings.Cut(local, ":")
	var read ubl.Reader = w.disk
	if replays {
		read = withoutSnapshots{w.disk}
	}
	w.each("i\x04"+local, func(rest string) {
		if rest == "" {
			w.saw("snapshot")
		}
	})
	x, err := side{w, name}.kind().Load(context.Background(), read,
		actors.Env{Name: w.at(local), Now: time.Now, Random: rand.NewChaCha8([32]byte{}), Log: slog.New(slog.DiscardHandler)}, actors.Hooks[sideEvent]{})
	if err != nil {
		w.breaks("couldn't load %s: %v", local, err)
		return nil
	}
	return encodeJSON(x.State)
}

// withoutSnapshots is a reader that finds none.
type withoutSnapshots struct{ ubl.Reader }

func (r withoutSnapshots) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return r.Reader.View(ctx, g, func(snap ubl.Snapshot) error { return fn(snapshotless{snap}) })
}

type snapshotless struct{ ubl.Snapshot }

func (s snapshotless) Get(key []byte) ([]byte, error) {
	if bytes.HasPrefix(key, []byte{'i', 4}) {
		return nil, nil
	}
	return s.Snapshot.Get(key)
}
