package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// sideActor is one of either family.
type sideActor struct {
	*actors.Entity[sideState, sideEvent]
	side side
}

// Receive implements [actors.Actor].
func (a sideActor) Receive(t *actors.Turn, cmd ubl.Command) {
	a.side.trace(a.Name.Local(), t.Now(), cmd)
	switch c := cmd.(type) {
	case tell:
		t.Reply(encodeJSON(a.State))
	case do:
		var then func(context.Context, any) (any, error)
		if c.Then {
			then = a.then(c)
		}
		a.ChangeThen(t, c, then)
		_ = a.side.meet("receive", c.Tag) // what was decided is forgotten
	default:
		a.Change(t, cmd)
	}
}

// then has another deed done at an actor of the other family, under the same key.
func (a sideActor) then(c do) func(context.Context, any) (any, error) {
	other := map[string]string{"left": "right:2", "right": "left:2"}[a.side.name]
	return func(ctx context.Context, answer any) (any, error) {
		time.Sleep(thenTakes)
		if err := a.side.meet("then", c.Tag); err != nil {
			return nil, err
		}
		_, err := a.Ask.Ask(ctx, a.side.at(other), a.side.command(c.Request, deed{Tag: c.Tag + "t", As: "event"}))
		if err != nil { // what it was refused for is not its caller's business
			err = ubl.Errorf(ubl.CodeUnavailable, "what follows isn't done yet").Because(err)
		}
		return answer, err
	}
}

// browser is a reader to whom the ledger takes a while.
type browser struct{ ubl.Reader }

func (b browser) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	s := &browsed{}
	err := b.Reader.View(ctx, g, func(snap ubl.Snapshot) error {
		s.Snapshot = snap
		return fn(s)
	})
	if s.atoms {
		time.Sleep(readTakes)
	}
	return err
}

type browsed struct {
	ubl.Snapshot
	atoms bool
}

func (s *browsed) Atom(seq int64) ([]byte, error) {
	s.atoms = true
	return s.Snapshot.Atom(seq)
}

// family is one side over the store of a node.
func (x side) family(read ubl.Reader) actors.Family {
	kind := x.kind()
	return actors.Family{
		Name: x.name, Follow: kind.Follow,
		Owns: func(local string) bool { return strings.HasPrefix(local, x.name+":") },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			env.Random = rand.NewChaCha8(x.loaded(env.Name))
			entity, err := kind.Load(ctx, browser{read}, env, x.hooks(read, env))
			return sideActor{entity, x}, err
		},
	}
}

func (x side) hooks(read ubl.Reader, env actors.Env) actors.Hooks[sideEvent] {
	hooks := actors.Hooks[sideEvent]{
		Outcome: func(_ context.Context, e sideEvent) (any, error) {
			kind, tag, _ := strings.Cut(withoutKey(e.What), ":")
			if kind == "end" { // by hand, which nobody asks for under a deed's name
				return answered{e.What, e.Receipt}, nil
			}
			return answered{e.What, e.Receipt}, x.meet("answer", tag)
		},
		Again: func(ctx context.Context, n int64) func() (any, error) {
			return func() (any, error) {
				item, err := readItem(ctx, read, env.Name, n)
				return answered{item.What, item.Receipt}, err
			}
		},
		Send: x.outside.send(x.world, env.Name),
	}
	if x.name == "right" {
		hooks.Errand, hooks.Deliver = x.errand(env.Ask, env.Name), x.deliver
	}
	return hooks
}

func readItem(ctx context.Context, read ubl.Reader, name ubl.Name, n int64) (item sideItem, err error) {
	err = read.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(itemsOf(name.Local()).Key(n))
		return errors.Join(err, json.Unmarshal(v, &item))
	})
	return item, err
}
