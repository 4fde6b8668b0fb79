package actors_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// unreadable is a reader that meets damage under keys with a beginning.
type unreadable struct {
	ubl.Reader
	key []byte
}

func (u unreadable) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return u.Reader.View(ctx, g, func(snap ubl.Snapshot) error { return fn(unreadableSnap{snap, u.key}) })
}

type unreadableSnap struct {
	ubl.Snapshot
	key []byte
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
		x, err := counterKind().Load(t.Context(), unreadable{h.Engine, damaged},
			actors.Env{Name: counterAt, Now: h.Clock.Now, Random: rand.Reader, Log: slog.New(slog.NewTextHandler(&log, nil))}, actors.Hooks[counterEvent]{})
		if err != nil || x.State != want {
			t.Errorf("with damage in %s the state is %+v, %v; want %+v", name, x, err, want)
		}
		if told := strings.Contains(log.String(), "a snapshot is damaged"); told != (name != "nothing") {
			t.Errorf("with damage in %s the log says %q", name, log.String())
		}
	}
}
