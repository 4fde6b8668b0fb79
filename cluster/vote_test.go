package cluster

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft-wal/metadb"
)

// TestVoteStandsTwice: whichever copy of a vote is lost, changed or behind, the replica
// opens with the newest, and both have it again.
func TestVoteStandsTwice(t *testing.T) {
	last := vote{term: 7, votedIn: 7, candidate: "n2@2"}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, f *files, beside string) // after f was closed
		want  vote
		told  bool
	}{
		"both sound": {want: last},
		"another candidate in wal-meta.db": {want: last, told: true, spoil: func(t *testing.T, f *files, _ string) {
			set(t, f, candidateKey, []byte("n3@3"))
		}},
		"an older vote in wal-meta.db": {want: last, told: true, spoil: func(t *testing.T, f *files, _ string) {
			set(t, f, votedInKey, []byte{6, 0, 0, 0, 0, 0, 0, 0})
		}},
		"an older term in wal-meta.db": {want: last, told: true, spoil: func(t *testing.T, f *files, _ string) {
			set(t, f, termKey, []byte{6, 0, 0, 0, 0, 0, 0, 0})
		}},
		"a newer vote in wal-meta.db": {want: vote{8, 8, "n3@3"}, told: true, spoil: func(t *testing.T, f *files, _ string) {
			set(t, f, termKey, []byte{8, 0, 0, 0, 0, 0, 0, 0})
			set(t, f, votedInKey, []byte{8, 0, 0, 0, 0, 0, 0, 0})
			set(t, f, candidateKey, []byte("n3@3"))
		}},
		"an earlier version's": {want: last, spoil: func(t *testing.T, _ *files, beside string) { must(t, os.Remove(beside)) }},
		"a flipped bit":        {want: last, told: true, spoil: func(t *testing.T, _ *files, beside string) { flip(t, beside, 30) }},
		"cut short":            {want: last, told: true, spoil: func(t *testing.T, _ *files, beside string) { must(t, os.Truncate(beside, 9)) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			open := func() *files {
				f, err := openFiles(dir, "n1@1", 0, hclog.NewNullLogger())
				must(t, err)
				return f
			}
			f := open()
			for term := range last.term {
				must(t, f.log.SetUint64([]byte(termKey), term+1))
				must(t, f.log.SetUint64([]byte(votedInKey), term+1))
				must(t, f.log.Set([]byte(candidateKey), []byte(last.candidate)))
			}
			must(t, f.close())
			beside := filepath.Join(groupDir(dir, 0), voteName)
			if c.spoil != nil {
				c.spoil(t, f, beside)
			}
			f = open()
			if told := f.ballots.differed != nil; told != c.told {
				t.Errorf("it was told that %v", f.ballots.differed)
			}
			has, err := f.ballots.theirs()
			must(t, err)
			ours, err := readVote(beside, f.ballots.salt)
			must(t, err)
			if has != c.want || ours != c.want {
				t.Errorf("the votes are %+v and %+v, want %+v", has, ours, c.want)
			}
			must(t, f.close())
		})
	}
}

// set changes wal-meta.db alone.
func set(t *testing.T, f *files, key string, value []byte) {
	t.Helper()
	meta := new(metadb.BoltMetaDB)
	_, err := meta.Load(f.segments.dir)
	must(t, err)
	must(t, meta.SetStable([]byte(key), value))
	must(t, meta.Close())
}

// TestVoteWrittenByTwo: Raft's main goroutine notes a vote while a heartbeat has a newer
// term noted. Both copies have both; and who comes after the end is told so.
func TestVoteWrittenByTwo(t *testing.T) {
	dir := t.TempDir()
	f, err := openFiles(dir, "n1@1", 0, hclog.NewNullLogger())
	must(t, err)
	for term := range uint64(30) {
		var writers sync.WaitGroup
		for _, key := range []string{termKey, votedInKey} {
			writers.Go(func() {
				if err := f.log.SetUint64([]byte(key), term); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		want := vote{term: term, votedIn: term}
		if v, err := readVote(f.ballots.path, f.ballots.salt); err != nil || v != want {
			t.Fatalf("the copy is %+v, want %+v: %v", v, want, err)
		}
	}
	late := make(chan error)
	go func() {
		for {
			if err := f.ballots.SetStable([]byte(termKey), nil); err != nil {
				late <- err
				return
			}
		}
	}()
	must(t, f.close())
	<-late
}
