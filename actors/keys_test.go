package actors

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/test/soak"
)

const (
	hour = ubl.Time(time.Hour / time.Millisecond)
	day  = 24 * hour
	now  = 100 * day
)

// memory is a store of one group, which counts what is read.
type memory struct {
	ubl.Snapshot
	kv     map[string][]byte
	sorted []string // the keys in order, and those that were deleted
	// read counts keys visited, longest the most of one View.
	read, longest int
}

func (m *memory) View(_ context.Context, _ ubl.Group, fn func(ubl.Snapshot) error) error {
	before := m.read
	err := fn(m)
	m.longest = max(m.longest, m.read-before)
	return err
}

func (m *memory) Get(k []byte) ([]byte, error) {
	m.read++
	return m.kv[string(k)], nil
}

func (m *memory) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	return m.walk(slices.Values(m.between(from, to)), fn)
}

func (m *memory) Descend(from, to []byte, fn func(k, v []byte) bool) error {
	keys := m.between(from, to)
	return m.walk(func(yield func(string) bool) {
		for _, k := range slices.Backward(keys) {
			if !yield(k) {
				return
			}
		}
	}, fn)
}

func (m *memory) between(from, to []byte) []string {
	first, _ := slices.BinarySearch(m.sorted, string(from))
	end, _ := slices.BinarySearch(m.sorted, string(to))
	return m.sorted[first:end]
}

func (m *memory) walk(keys iter.Seq[string], fn func(k, v []byte) bool) error {
	for k := range keys {
		v, ok := m.kv[k]
		if !ok {
			continue
		}
		if m.read++; !fn([]byte(k), v) {
			break
		}
	}
	return nil
}

func (m *memory) commit(a *Append) {
	for _, r := range a.Records {
		if r.Value == nil {
			delete(m.kv, string(r.Key))
			continue
		}
		m.kv[string(r.Key)] = r.Value
		if i, found := slices.BinarySearch(m.sorted, string(r.Key)); !found {
			m.sorted = slices.Insert(m.sorted, i, string(r.Key))
		}
	}
}

// desk is an actor's keys over a memory, and every key that was sent.
type desk struct {
	t    *testing.T
	m    *memory
	k    *Keys
	now  ubl.Time
	sent []entry
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, m: &memory{kv: map[string][]byte{}}, now: now}
	d.load()
	return d
}

// load loads the keys anew and counts what that reads.
func (d *desk) load() {
	d.t.Helper()
	d.m.read, d.m.longest = 0, 0
	k, err := LoadKeys(d.t.Context(), d.m, "t:x|r:y", d.now)
	if err != nil {
		d.t.Fatal(err)
	}
	d.k = k
}

func keyOf(n int64) Key {
	b := binary.BigEndian.AppendUint64(nil, uint64(n))
	return Key{hash: ubl.Fingerprint(string(b))}
}

// send uses new keys.
func (d *desk) send(n int) {
	for range n {
		d.use(keyOf(int64(len(d.sent)) + 1))
	}
}

// use has a key lead to its place among all that were sent.
func (d *desk) use(key Key) {
	a := &Append{}
	e := entry{n: int64(len(d.sent)) + 1, at: d.now, key: key}
	d.k.add(a, key, d.now, Ref{N: e.n})
	d.m.commit(a)
	d.sent = append(d.sent, e)
	if len(a.Records) > 2*keysEvicted {
		d.t.Fatalf("an append has %d records", len(a.Records))
	}
}

func (d *desk) find(key Key) int64 {
	d.t.Helper()
	ref, err := d.k.Find(d.t.Context(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	if ref == nil {
		return 0
	}
	return ref.N
}

// known checks that keys sent within the window lead to where they led, and that
// one never sent leads nowhere.
func (d *desk) known(when string, sent ...entry) {
	d.t.Helper()
	for _, e := range sent {
		if got := d.find(e.key); got != e.n {
			d.t.Errorf("%s: key %d leads to %d", when, e.n, got)
		}
	}
	if got := d.find(keyOf(-1)); got != 0 {
		d.t.Errorf("%s: a new key leads to %d", when, got)
	}
}

// light checks that a load reads no more than the newest keys and a run of others,
// and a filter for each run before.
func (d *desk) light(when string) {
	d.t.Helper()
	if most := keysHot + filterKeys + len(d.sent)/filterKeys + 10; d.m.read > most {
		d.t.Errorf("%s: a load reads %d of %d keys, want %d at most", when, d.m.read, len(d.sent), most)
	}
	d.short(when)
}

func (d *desk) short(when string) {
	d.t.Helper()
	if d.m.longest > keysHot+1 {
		d.t.Errorf("%s: a view reads %d keys", when, d.m.longest)
	}
}

// TestLoadAfterABusyDay: however many keys an actor was sent, loading it reads
// few, and each counts for a day.
func TestLoadAfterABusyDay(t *testing.T) {
	d := newDesk(t)
	d.send(soak.Of(2, 4)*filterKeys + 30_000)
	some := []entry{}
	for i := 0; i < len(d.sent); i += 9973 {
		some = append(some, d.sent[i])
	}
	d.known("live", some...)
	d.load()
	d.light("the same day")
	d.known("the same day", some...)

	d.now += day - 1
	d.load()
	d.known("a day later", some...)

	d.now += hour
	d.load()
	d.light("after that day")
	if len(d.k.cold) > 0 {
		t.Errorf("after that day %d filters are kept", len(d.k.cold))
	}
	stored := len(d.m.kv)
	d.send(100)
	d.load()
	d.light("a quiet day")
	d.known("a quiet day", d.sent[len(d.sent)-100:]...)
	if got, want := len(d.m.kv), stored-100*(keysEvicted-1); got > want {
		t.Errorf("%d keys and filters are stored, want %d", got, want)
	}
}

// TestKeysWithoutFilters: what a release stored that kept filters in memory only
// is loaded by its keys, in short views, as far back as they count.
func TestKeysWithoutFilters(t *testing.T) {
	d := newDesk(t)
	d.send(filterKeys)
	d.now += 20 * hour
	d.send(2 * filterKeys)
	for k := range d.m.kv {
		if bytes.HasPrefix([]byte(k), d.k.logKey(-1)) {
			delete(d.m.kv, k)
		}
	}
	d.load()
	d.short("within the day")
	d.known("within the day", d.sent[0], d.sent[filterKeys], d.sent[len(d.sent)-1])

	d.now += 5 * hour
	d.load()
	d.short("the next day")
	if got := d.k.known(); got != filterKeys {
		t.Errorf("the oldest key known is %d, want %d: the run before has expired", got, filterKeys)
	}
	d.known("the next day", d.sent[filterKeys], d.sent[len(d.sent)-1])
	d.send(filterKeys)
	d.load()
	d.known("with filters and without", d.sent[filterKeys], d.sent[2*filterKeys], d.sent[3*filterKeys])
}

// TestOnceWithinADay: over random histories of bursts, pauses and loads, a key
// sent within a day leads to where it led, one used anew after that to where it
// led last, and the log has no holes.
func TestOnceWithinADay(t *testing.T) {
	for seed := range soak.Of[uint64](1, 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := newDesk(t)
			random := rand.New(rand.NewPCG(seed, 0))
			for range soak.Of(10, 15) {
				d.now += ubl.Time(random.Int64N(int64(16 * hour)))
				d.send(random.IntN(25_000))
				d.anew(random)
				if random.IntN(2) == 0 {
					d.load()
					d.short("loaded")
				}
				d.check(random)
			}
		})
	}
}

// TestKeyUsedAnewOutlivesItsFirst: where a load has found both uses of a key, memory lets go of the
// first alone.
func TestKeyUsedAnewOutlivesItsFirst(t *testing.T) {
	d := newDesk(t)
	d.send(3 * keysKept)
	key := d.sent[2*keysKept-1].key // more expired ones come before it than an append evicts
	d.now += day + hour
	d.send(1)
	if got := d.find(key); got != 0 {
		t.Fatalf("it still leads to %d", got)
	}
	d.use(key)
	d.load()
	d.known("loaded", d.sent[len(d.sent)-1])
	d.send(1)
	d.known("behind its first use", d.sent[len(d.sent)-2])
}

// anew uses keys again that have been forgotten.
func (d *desk) anew(random *rand.Rand) {
	for range min(5, len(d.sent)) {
		if key := d.sent[random.IntN(len(d.sent))].key; d.find(key) == 0 {
			d.use(key)
		}
	}
}

func (d *desk) check(random *rand.Rand) {
	d.t.Helper()
	last := make(map[Key]entry, len(d.sent))
	for _, e := range d.sent {
		last[e.key] = e
	}
	for range min(8, len(d.sent)) {
		e := last[d.sent[random.IntN(len(d.sent))].key]
		if got := d.find(e.key); got != e.n && (got != 0 || e.at > d.now-day) {
			d.t.Fatalf("at %d, key %d of %d leads to %d", d.now, e.n, e.at, got)
		}
	}
	logged, runs := int64(0), 0
	for k := range d.m.kv {
		if bytes.HasPrefix([]byte(k), d.k.logKey(-1)) {
			runs++
		} else {
			logged++
		}
	}
	if logged != d.k.High-d.k.Low+1 || runs > int(d.k.High/filterKeys-d.k.Low/filterKeys) {
		d.t.Fatalf("%d keys and %d filters are stored for %d to %d", logged, runs, d.k.Low, d.k.High)
	}
}

// TestUnknownFilter: a filter of a newer version is refused, not guessed at.
func TestUnknownFilter(t *testing.T) {
	d := newDesk(t)
	d.send(filterKeys + keysHot)
	d.m.kv[string(d.k.filterKey(filterKeys-1))][0]++
	if _, err := LoadKeys(t.Context(), d.m, "t:x|r:y", d.now); ubl.CodeOf(err) != ubl.CodeInternal {
		t.Errorf("the load ends with %v", err)
	}
}
