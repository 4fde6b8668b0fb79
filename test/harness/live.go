package harness

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"

	"ubl"
	"ubl/actors"
)

// Live is a house with one family's live actors within a test's reach, to be compared with
// those that are loaded from what is stored.
type Live[A actors.Actor] struct {
	*House
	open func(context.Context, ubl.Reader, actors.Env) (A, error)
	read ubl.Reader

	mu     sync.Mutex
	actors map[ubl.Name]A // guarded by mu
}

// OpenLive starts a house in which the family that owns the names opens its actors so. It has no
// indexes: the states of actors are looked at.
func OpenLive[A actors.Actor](t testing.TB, name string, owns func(local string) bool, open func(context.Context, ubl.Reader, actors.Env) (A, error)) *Live[A] {
	l := &Live[A]{open: open, actors: make(map[ubl.Name]A)}
	l.House = Open(t, Options{
		Families:   []actors.Family{{Name: name, Owns: owns, Open: l.live}},
		Wrap:       func(s ubl.Store) ubl.Store { l.read = s; return s },
		Unsearched: true,
	})
	return l
}

func (l *Live[A]) live(ctx context.Context, env actors.Env) (actors.Actor, error) {
	x, err := l.open(ctx, l.read, env)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.actors[env.Name] = x
	return x, nil
}

// Pair is the live actor of a name, and another one that is loaded from what is stored. It
// fails the test where that can't be loaded.
func (l *Live[A]) Pair(t interface{ Fatalf(string, ...any) }, name ubl.Name) (live, loaded A) {
	loaded, err := l.Loaded(name)
	if err != nil {
		t.Fatalf("couldn't load: %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.actors[name], loaded
}

// Loaded is an actor that is loaded from what is stored.
func (l *Live[A]) Loaded(name ubl.Name) (A, error) {
	return l.open(context.Background(), l.Engine, actors.Env{Name: name, Now: l.Clock.Now, Random: rand.Reader})
}
