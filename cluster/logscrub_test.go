package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"ubl/storage"
	"ubl/test/poll"
)

func unpaced(int64) {}

// sealedLog is a log of entries 1 to 150, which take more than two segments. It gives
// the first one's path.
func sealedLog(t *testing.T) (list *segmentList, first string) {
	t.Helper()
	dir := t.TempDir()
	list = new(segmentList)
	w := listedLog(t, dir, fs.New(), list)
	for i := range uint64(15) {
		must(t, w.StoreLogs(entries(10*i+1, 10)))
	}
	must(t, w.Close())
	segments := *list.newest.Load()
	if len(segments) < 3 {
		t.Fatalf("%d segments", len(segments))
	}
	return list, filepath.Join(dir, segment.FileName(segments[0]))
}

// TestScrubSegments: a flipped bit in a sealed segment is found wherever it is, with the
// segment's name. The newest segment is left out.
func TestScrubSegments(t *testing.T) {
	list, first := sealedLog(t)
	if found := list.scrub(t.Context(), unpaced); found != nil {
		t.Fatalf("a sound log: %v", found)
	}
	clean, err := os.ReadFile(first)
	must(t, err)
	whole, err := scan(clean)
	must(t, err)
	check := func(what string, at int) {
		t.Helper()
		found := list.scrub(t.Context(), unpaced)
		if len(found) != 1 || !errors.Is(found[0], storage.ErrDamaged) || !strings.Contains(found[0].Error(), filepath.Base(first)) {
			t.Errorf("%s %d of %d: found %v", what, at, whole.end, found)
		}
		must(t, os.WriteFile(first, clean, 0o600))
	}
	for _, at := range []int{4, 40, 900, whole.end / 2, whole.begin, whole.begin + 20, whole.index, whole.end - 8, whole.end - 4} {
		flip(t, first, int64(at))
		check("a bit flipped in byte", at)
	}
	for _, at := range []int{0, walHeader, whole.begin, whole.end - walFrame, whole.end - 1} {
		must(t, os.Truncate(first, int64(at)))
		check("cut at byte", at)
	}
	must(t, os.Remove(first))
	check("deleted", 0)
	flip(t, newestSegment(t, list.dir), 900)
	if found := list.scrub(t.Context(), unpaced); found != nil {
		t.Errorf("the newest segment: %v", found)
	}
}

// TestScrubSegmentsTwice: what reads otherwise the second time, or is off the list by then,
// is no damage. Nor is anything once the scrub is to end.
func TestScrubSegmentsTwice(t *testing.T) {
	for what, meanwhile := range map[string]func(t *testing.T, list *segmentList, first string, end func()){
		"it is sound again": func(t *testing.T, _ *segmentList, first string, _ func()) { flip(t, first, 900) },
		"other damage": func(t *testing.T, _ *segmentList, first string, _ func()) {
			flip(t, first, 30_000)
			flip(t, first, 900)
		},
		"it was deleted": func(t *testing.T, list *segmentList, first string, _ func()) {
			rest := (*list.newest.Load())[1:]
			list.newest.Store(&rest)
			must(t, os.Remove(first))
		},
		"the end":          func(_ *testing.T, _ *segmentList, _ string, end func()) { end() },
		"nothing happened": nil,
	} {
		t.Run(what, func(t *testing.T) {
			list, first := sealedLog(t)
			flip(t, first, 900)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reads, most := 0, int64(0)
			found := list.scrub(ctx, func(n int64) {
				if reads++; reads == 1 && meanwhile != nil {
					meanwhile(t, list, first, cancel)
				}
				most = max(most, n)
			})
			if told := len(found) > 0; told != (meanwhile == nil) {
				t.Errorf("found %v", found)
			}
			if ctx.Err() != nil && reads > 1 || most > logSlice {
				t.Errorf("it read %d times, up to %d bytes", reads, most)
			}
		})
	}
}

// watchedDisk calls look when a segment was made, and before one is synced or deleted.
type watchedDisk struct {
	*fs.FS
	look func(what, name string)
}

func (d *watchedDisk) Create(dir, name string, size uint64) (types.WritableFile, error) {
	f, err := d.FS.Create(dir, name, size)
	d.look("made", name)
	return watchedFile{f, d, name}, err
}

func (d *watchedDisk) Delete(dir, name string) error {
	d.look("before deleting", name)
	return d.FS.Delete(dir, name)
}

type watchedFile struct {
	types.WritableFile
	disk *watchedDisk
	name string
}

func (f watchedFile) Sync() error {
	f.disk.look("before syncing", f.name)
	return f.WritableFile.Sync()
}

// TestScrubSegmentsThatGo: a log is sound at each step of what Raft does to it: the first
// entry behind a snapshot, an install, and cuts of its head and tail. It is so for a scrub
// that reads all the while, too.
func TestScrubSegmentsThatGo(t *testing.T) {
	var list segmentList
	scrub := func(when ...string) {
		if found := list.scrub(t.Context(), unpaced); found != nil {
			t.Errorf("%s: found %v", strings.Join(when, " "), found)
		}
	}
	var step atomic.Value // segments are made by a goroutine of raft-wal's, too
	step.Store("opening")
	disk := &watchedDisk{FS: fs.New(), look: func(what, name string) { scrub(step.Load().(string), what, name) }}
	w := listedLog(t, t.TempDir(), disk, &list)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				scrub("all the while")
			}
		}
	}()
	for first := uint64(100); first < 2000; first += 500 {
		step.Store("the first entries behind a snapshot")
		must(t, w.StoreLogs(entries(first, 1)))
		step.Store("appending")
		for n := range uint64(20) {
			must(t, w.StoreLogs(entries(first+1+n*10, 10)))
		}
		step.Store("cutting the head")
		must(t, w.DeleteRange(first, first+80))
		step.Store("cutting the tail in the newest segment")
		must(t, w.DeleteRange(first+195, first+200))
		step.Store("cutting the tail across segments")
		must(t, w.DeleteRange(first+100, first+194))
		step.Store("appending behind the cut")
		must(t, w.StoreLogs(entries(first+100, 70)))
		must(t, w.StoreLogs(entries(first+170, 5)))
		step.Store("installing a snapshot")
		must(t, w.DeleteRange(first+81, first+174))
	}
	close(stop)
	<-stopped
	must(t, w.Close())
}

// TestScrubLog: damage in a log counts as its partition's, unless the replica was ended
// and its files deleted meanwhile.
func TestScrubLog(t *testing.T) {
	w := newWorld(t, 1, nil)
	n := w.nodes[0]
	damages := func() int64 { return n.engine.Stats().Partitions[0].Damaged }
	n.ScrubLog(t.Context(), 0, unpaced)
	if damages() != 0 {
		t.Fatal("a sound log is called damaged")
	}
	g := n.held(0)
	segments := &g.files.segments
	damaged := types.SegmentInfo{ID: 99, BaseIndex: 1, SealTime: time.Now()}
	list := slices.Concat(*segments.newest.Load(), []types.SegmentInfo{damaged})
	segments.newest.Store(&list)
	must(t, os.WriteFile(filepath.Join(segments.dir, segment.FileName(damaged)), make([]byte, 1<<10), 0o600))
	n.ScrubLog(t.Context(), 0, unpaced)
	if damages() != 1 || !n.engine.Stats().Partitions[0].Spoiled {
		t.Errorf("a damaged log counts %d times", damages())
	}
	n.ScrubLog(t.Context(), 0, func(int64) { n.drop(g) })
	if damages() != 1 {
		t.Error("a log that was deleted is called damaged")
	}
	n.mu.Lock()
	n.groups[0] = g
	n.mu.Unlock()
}

// TestScrubLogWhileNodesJoin: nodes that take their partitions by snapshot, and the one
// that sends them, have sound logs all the while.
func TestScrubLogWhileNodesJoin(t *testing.T) {
	const partitions = 8
	w := newWorld(t, 1, func(o *Options) {
		o.Storage.Partitions = partitions
		o.Storage.Damaged = func(p int, err error) { t.Errorf("%s, partition %d: %v", o.NodeID, p, err) }
	})
	ctx, cancel := context.WithCancel(t.Context())
	var scrubs sync.WaitGroup
	defer scrubs.Wait()
	defer cancel()
	scrub := func(n *Node) {
		scrubs.Go(func() {
			for ctx.Err() == nil {
				for p := range partitions {
					n.ScrubLog(ctx, p, unpaced)
				}
				time.Sleep(time.Millisecond) // leave the processor to those who join
			}
		})
	}
	scrub(w.nodes[0])
	for i := 1; i < 3; i++ {
		w.add(t)
		w.start(i)
		scrub(w.nodes[i])
	}
	poll.Until(t, "every partition has three voters", func() bool {
		for p := range partitions {
			n := w.leader(p)
			if n == nil || n.group(p) == nil || len(n.group(p).configuration().voters) < 3 {
				return false
			}
		}
		return true
	})
}
