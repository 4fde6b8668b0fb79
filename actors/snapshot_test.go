package actors_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// unreadable is a reader that meets damage under keys with a beginning.
type unreadable struct {
	ubl.Reader
	key    []byte
	events *int // of the counter that were read
}

func (u unreadable) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return u.Reader.View(ctx, g, func(snap ubl.Snapshot) error { return fn(unreadableSnap{snap, u.key, u.events}) })
}

type unreadableSnap struct {
	ubl.Snapshot
	key    []byte
	events *int
}

func (u unreadableSnap) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	return u.Snapshot.Ascend(from, to, func(k, v []byte) bool {
		if bytes.HasPrefix(k, counterKey(counterAt.Local(), 0)[:len("zcounter:1")+1]) {
			*u.events++
		}
		return fn(k, v)
	})
}

func (u unreadableSnap) Get(key []byte) ([]byte, error) {
	if bytes.HasPrefix(key, u.key) {
		return nil, ubl.Damaged("a value doesn't match its checksum")
	}
	return u.Snapshot.Get(key)
}

// TestSnapshotOfABriefActor: one that leaves memory after each event, and so never comes to
// the last of several pieces, makes a snapshot all the same. Where the disk has damaged it,
// all events are replayed.
func TestSnapshotOfABriefActor(t *testing.T) {
	h, _, ana := openCounter(t)
	for range 12 {
		harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2})
		h.Reload()
	}
	key := append([]byte{'i', 4}, counterAt.Local()...)
	if saved := harness.Saved(t, h.Engine, counterAt, key); saved < 6 {
		t.Fatalf("the snapshot is of event %d", saved)
	}
	want := harness.Must[counterState](h, counterAt, get{})
	for name, damaged := range map[string][]byte{"nothing": []byte("no key"), "the head": key, "a piece": append(key, 0)} {
		var log strings.Builder
		x, err := counterKind().Load(t.Context(), unreadable{h.Engine, damaged, new(int)},
			actors.Env{Name: counterAt, Now: h.Clock.Now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}, actors.Hooks[counterEvent]{})
		if err != nil || x.State != want {
			t.Errorf("with damage in %s the state is %+v, %v; want %+v", name, x, err, want)
		}
		if told := strings.Contains(log.String(), "a snapshot is damaged"); told != (name != "nothing") {
			t.Errorf("with damage in %s the log says %q", name, log.String())
		}
	}
}

// TestKeptSnapshots: a look into the past reads the events behind the nearest snapshot that is
// kept. Where that is damaged, it reads those behind an earlier one, or all.
func TestKeptSnapshots(t *testing.T) {
	h, _, ana := openCounter(t)
	const acts = 60
	seqs := make([]int64, acts)
	for i := range seqs {
		seqs[i] = harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2}).Receipt.Seq
		h.Clock.Add(time.Second)
	}
	pieces := append([]byte{'i', 4}, counterAt.Local()...)
	for name, c := range map[string]struct {
		damaged []byte
		most    int // events that a look may read
	}{
		"nothing":    {[]byte("no key"), 30},
		"all pieces": {append(slices.Clone(pieces), 0, 3), 2 * acts},
	} {
		read := 0
		x, err := counterKind().Load(t.Context(), unreadable{h.Engine, c.damaged, &read},
			actors.Env{Name: counterAt, Now: h.Clock.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler)}, actors.Hooks[counterEvent]{})
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for i, seq := range seqs {
			read = 0
			s, newest, err := x.Then(t.Context(), ubl.AsOf{Seq: seq})
			if err != nil || s.Total != int64(2*(i+1)) || newest.Receipt.Seq != seq {
				t.Fatalf("with damage in %s, as of %d: %+v, %+v, %v", name, seq, s, newest, err)
			}
			most = max(most, read)
		}
		if most > c.most || name != "nothing" && most < acts {
			t.Errorf("with damage in %s a look read %d events", name, most)
		}
	}
}
