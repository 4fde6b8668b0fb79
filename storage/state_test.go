package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
)

// TestIllegalMoves: what the table doesn't have is refused, whatever it is.
func TestIllegalMoves(t *testing.T) {
	for from := idle; from <= closed; from++ {
		for to := idle; to <= closed; to++ {
			var m machine
			m.now.Store(uint32(from))
			func() {
				legal := from == to || slices.Contains(moves[from], to)
				defer func() {
					if refused := recover() != nil; refused == legal {
						t.Errorf("from %v to %v: refused: %v", from, to, refused)
					}
				}()
				m.move(to)
			}()
		}
	}
}

// crashes is a partition of which every move is noted, with a copy of its directory, as a
// kill right there would leave it, and what was acknowledged until then.
type crashes struct {
	t          *testing.T
	e          *Engine
	opts       Options
	dir        string
	replicated bool
	lease      ubl.Lease
	head       ubl.LedgerHead
	log        []Entry

	mu           sync.Mutex
	acknowledged map[string]bool
	seen         []crash
	failSync     bool
}

type crash struct {
	from, to     state
	dir          string
	acknowledged map[string]bool
}

var crashGroup = ubl.Group{Tenant: "t:a", Shard: "0"}

const roomy = 64 << 20

func newCrashes(t *testing.T, replicated bool, change func(*Options)) *crashes {
	c := &crashes{t: t, dir: t.TempDir(), replicated: replicated, acknowledged: make(map[string]bool)}
	c.opts = Options{Partitions: 1, MaxBytes: roomy, spare: -1 << 40, moved: c.moved, SyncData: c.sync}
	if change != nil {
		change(&c.opts)
	}
	c.e = c.open(c.dir, c.opts)
	t.Cleanup(func() { c.e.Close() }) // which failed before
	if c.head, _ = parseHead(nil); !replicated {
		c.begin()
	}
	return c
}

func (c *crashes) open(dir string, o Options) *Engine {
	c.t.Helper()
	open := Open
	if c.replicated {
		o.Propose = func(int, []byte) Proposal { return func() ([]error, error) { return nil, errClosed() } }
		open = OpenReplicas
	}
	e, err := open(dir, &o)
	if err != nil {
		c.t.Fatal(err)
	}
	return e
}

func (c *crashes) begin() {
	c.t.Helper()
	var err error
	if c.lease, c.head, err = c.e.Begin(c.t.Context(), crashGroup); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crashes) sync(*os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failSync {
		return errors.New("input/output error")
	}
	return nil
}

func (c *crashes) moved(from, to state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir := filepath.Join(c.t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(c.dir)); err != nil {
		c.t.Error(err)
	}
	c.seen = append(c.seen, crash{from, to, dir, maps.Clone(c.acknowledged)})
}

func (c *crashes) partition() *partition { return c.e.partitions[0] }

func (c *crashes) batch(key string, size int) *ubl.Batch {
	value := make([]byte, size) // which the journal can't compress
	_, _ = rand.NewChaCha8([32]byte{}).Read(value)
	return &ubl.Batch{Group: crashGroup, Lease: c.lease, Head: c.head, Next: c.head,
		Records: []ubl.Record{{Key: []byte("m" + key), Value: value}}}
}

// write submits a batch and notes whether it was acknowledged. A replica has it applied.
func (c *crashes) write(key string, size int) error {
	c.t.Helper()
	if c.replicated {
		b := c.batch(key, size)
		b.Lease = ubl.Lease{Generation: 1, Epoch: 1}
		c.log = append(c.log, Entry{Index: uint64(len(c.log) + 1), Term: 1, Data: sealEntry(appendOperation(nil, operation{batch: b}), nil)})
		c.note("m" + key) // the log has it, whatever becomes of it here
		refused, err := c.e.Apply(0, c.log[len(c.log)-1:])
		return errors.Join(append(slices.Concat(refused...), err)...)
	}
	done := make(chan error, 1)
	c.e.Submit(c.batch(key, size), func(err error) { done <- err })
	err := <-done
	if err == nil {
		c.note("m" + key)
	}
	return err
}

func (c *crashes) note(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged[key] = true
}

func (c *crashes) mustWrite(key string, size int) {
	c.t.Helper()
	if err := c.write(key, size); err != nil {
		c.t.Fatal(err)
	}
}

// read gives the keys that are there.
func (c *crashes) read(e *Engine) (map[string]bool, error) {
	if c.replicated {
		e.Lead(0, 1)
		defer e.Lead(0, 0)
	}
	keys := make(map[string]bool)
	err := e.View(context.Background(), crashGroup, func(s ubl.Snapshot) error {
		return s.Ascend([]byte("m"), []byte("n"), func(k, _ []byte) bool { keys[string(k)] = true; return true })
	})
	return keys, err
}

func (c *crashes) mustRead() {
	c.t.Helper()
	if _, err := c.read(c.e); err != nil {
		c.t.Fatal(err)
	}
}

// refused wants that the partition is in a state and takes no writes, and no reads
// unless it is broken.
func (c *crashes) refused(in state) {
	c.t.Helper()
	if s := c.partition().state.is(); s != in {
		c.t.Fatalf("the partition is %v, want %v", s, in)
	}
	if _, err := c.read(c.e); (err == nil) != (in == broken) {
		c.t.Errorf("%v: a reader gets %v", in, err)
	}
	if err := c.e.Stats().Partitions[0].Failed; ubl.CodeOf(err) != ubl.CodeUnavailable {
		c.t.Errorf("%v: it failed with %v", in, err)
	}
}

// fillUp writes until there is no room.
func (c *crashes) fillUp() {
	for n := range 1000 {
		if err := c.write(fmt.Sprintf("%04d", n), 40_000); err != nil {
			return
		}
	}
	c.t.Fatal("the disk was never full")
}

// makeRoom lets the file grow again.
func (c *crashes) makeRoom() {
	p := c.partition()
	p.applying.Lock()
	defer p.applying.Unlock()
	p.database().MaxSize = roomy
}

// breakFile has bbolt's next write fail.
func (c *crashes) breakFile() {
	p := c.partition()
	p.applying.Lock()
	defer p.applying.Unlock()
	if err := p.opened.Load().file.Close(); err != nil {
		c.t.Error(err)
	}
}

// end closes the partition, and opens what each kill left: all that was acknowledged is
// there, of a replica by the log.
func (c *crashes) end() []crash {
	_ = c.e.Close() // which may say why it can't
	for _, crash := range c.seen {
		e := c.open(crash.dir, Options{Partitions: 1, MaxBytes: roomy})
		if c.replicated {
			if _, err := e.Apply(0, c.log[e.Applied(0):]); err != nil {
				c.t.Errorf("killed between %v and %v: %v", crash.from, crash.to, err)
			}
		}
		keys, err := c.read(e)
		for key := range crash.acknowledged {
			if !keys[key] {
				c.t.Errorf("killed between %v and %v: %s of %d was acknowledged and is lost: %v", crash.from, crash.to, key, len(crash.acknowledged), err)
				break
			}
		}
		if err := e.Close(); err != nil {
			c.t.Errorf("killed between %v and %v: %v", crash.from, crash.to, err)
		}
	}
	return c.seen
}

// small lets the file hold no more than some writes.
func small(o *Options) { o.MaxBytes = 4 << 20 }

// directly has nothing left to the journal.
func directly(o *Options) { o.spare = 1 << 60 }

// TestEveryMove makes every move of the table, ends the process at each, and sees that
// nothing acknowledged is lost.
func TestEveryMove(t *testing.T) {
	made := make(map[[2]state]bool)
	for name, run := range map[string]struct {
		replicated bool
		change     func(*Options)
		do         func(c *crashes)
	}{
		"written and read": {do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustWrite("b", 10)
			c.mustRead()
			c.mustWrite("c", 3*mib) // more than the journal takes
		}},
		"all refused": {do: func(c *crashes) {
			c.lease.Generation++
			if err := c.write("a", 10); err == nil {
				c.t.Error("a wrong lease was accepted")
			}
		}},
		"without a journal": {change: directly, do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustWrite("b", 10)
		}},
		"no room": {change: small, do: func(c *crashes) {
			c.fillUp()
			_ = c.partition().flush()
			c.refused(starved)
			c.makeRoom()
			time.Sleep(3 * time.Second) // of the bubble
			c.begin()
			c.mustWrite("x", 10)
			c.mustRead()
		}},
		"closed without room": {change: small, do: func(c *crashes) {
			c.fillUp()
			_ = c.partition().flush()
			c.refused(starved)
		}},
		"no room, and nothing was acknowledged": {change: func(o *Options) { small(o); directly(o) }, do: func(c *crashes) {
			c.mustWrite("a", 10)
			if err := c.write("b", 8*mib); !errors.Is(err, ErrFull) {
				c.t.Errorf("a write without room: %v", err)
			}
			c.mustRead()
		}},
		"a failed sync of the journal": {do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.failSync = true
			_ = c.write("b", 10)
			c.refused(hiding)
		}},
		"a failed commit of what was acknowledged": {do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.breakFile()
			_ = c.partition().flush()
			c.refused(hiding)
		}},
		"a failed commit behind no journal": {change: directly, do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.breakFile()
			_ = c.write("b", 10)
			c.refused(broken)
		}},
		"a failed commit of a large batch": {change: func(o *Options) { o.MaxBytes = 0 }, do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustRead()
			c.breakFile()
			_ = c.write("b", 3*mib)
			c.refused(broken)
		}},
		"a transaction that can't begin": {do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustRead()
			c.breakFile() // whose length is asked for
			_ = c.write("b", 10)
			c.refused(broken)
		}},
		"applied and read": {replicated: true, do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustRead()
			c.mustWrite("b", 10)
			if err := c.e.Reset(0); err != nil {
				c.t.Error(err)
			}
		}},
		"a replica without room": {replicated: true, change: small, do: func(c *crashes) {
			c.fillUp()
			if c.partition().state.is() != halted {
				_ = c.partition().flush()
			}
			c.refused(halted)
			if err := c.e.Resume(0); err != nil {
				c.t.Error(err)
			}
			c.e.Distrust(0, fmt.Errorf("once more: %w", errEntry))
			c.refused(halted)
		}},
		"a damaged replica": {replicated: true, do: func(c *crashes) {
			c.mustWrite("a", 10)
			c.mustRead()
			c.mustWrite("b", 10)
			c.e.Distrust(0, damaged("a page is not what it should be"))
			c.refused(distrusted)
			if err := c.e.Resume(0); err != nil {
				c.t.Error(err)
			}
			c.e.Distrust(0, damaged("a page is not what it should be"))
			c.refused(distrusted)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []crash
			synctest.Test(t, func(t *testing.T) {
				c := newCrashes(t, run.replicated, run.change)
				run.do(c)
				seen = c.end()
			})
			for _, crash := range seen {
				made[[2]state{crash.from, crash.to}] = true
			}
		})
	}
	for from, list := range moves {
		for _, to := range list {
			if !made[[2]state{state(from), to}] {
				t.Errorf("no test moves from %v to %v", state(from), to)
			}
		}
	}
}

// TestNoReadBeforeTheFailure: between the end of a transaction that holds what was
// acknowledged and its failure, nobody reads the file without it.
func TestNoReadBeforeTheFailure(t *testing.T) {
	type answer struct {
		keys map[string]bool
		err  error
	}
	var c *crashes
	var failing atomic.Bool // the commit has failed, and the next that looks at the clock decides what of it
	answers, ask := make(chan answer, 1), sync.Once{}
	c = newCrashes(t, false, func(o *Options) {
		small(o)
		o.ObserveFile = func(_ int, _ time.Duration, err error) { failing.Store(err != nil) }
		o.Now = func() time.Time {
			if failing.Load() {
				ask.Do(func() {
					read := make(chan struct{})
					go func() {
						keys, err := c.read(c.e)
						answers <- answer{keys, err}
						close(read)
					}()
					select { // a reader that waits for the lock can't be told from a slow one
					case <-read:
					case <-time.After(50 * time.Millisecond):
					}
				})
			}
			return time.Now()
		}
	})
	c.fillUp()
	_ = c.partition().flush()
	if !failing.Load() {
		t.Fatal("no commit failed")
	}
	if a := <-answers; a.err == nil && len(a.keys) < len(c.acknowledged) {
		t.Errorf("a reader sees %d of %d records and no error", len(a.keys), len(c.acknowledged))
	}
}
