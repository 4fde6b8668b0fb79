//go:build linux

package chaos

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"ubl/test/soak"
)

// tenant is one tenant under load.
type tenant struct {
	id        string
	partition int
	owner     *client
	rooms     []*room
	workspace *workspace
	wallets   *wallets
	counters  *counters
	events    *follower // of all its rooms
	streams   []*follower
}

// load is all clients of a world.
type load struct {
	world   *world
	tally   *tally
	tenants []*tenant

	clients, streams         sync.WaitGroup
	stopClients, stopStreams context.CancelFunc
}

// weight is how much clients do.
type weight struct {
	tenants, rooms, senders, users int
	writers, carriers, wallets     int // of a tenant
	adders                         int
	pace                           time.Duration // between two acts of one client, at most
	// patience is that of carriers: what they give up is carried on when the
	// keeper comes round, which a check waits for.
	patience func(*rand.Rand) time.Duration
}

// light leaves the processor room for three nodes on two cores, and in `make test` for the
// packages beside it.
func light() weight {
	return weight{tenants: 4, rooms: 2, senders: 2, users: 1, writers: 2, carriers: 2, wallets: 3, adders: 1,
		pace: soak.Of(240*time.Millisecond, 120*time.Millisecond), patience: patience}
}

// begin makes tenants and rooms and lets the clients loose.
func (w *world) begin(how weight) *load {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.life, healTime)
	defer cancel()
	l := &load{world: w, tally: new(tally)}
	w.t.Cleanup(l.abandon)
	for i := range how.tenants {
		t, err := l.tenant(ctx, i, how)
		if err != nil {
			w.t.Fatalf("couldn't begin the load: %v", err)
		}
		l.tenants = append(l.tenants, t)
	}
	l.follow()
	l.work(how)
	return l
}

// domain is one whose tenant lives in the partition.
func domain(partition int) string {
	for i := 0; ; i++ {
		d := fmt.Sprintf("c%d-%d.example", partition, i)
		if partitionOf("t:"+d) == partition {
			return d
		}
	}
}

// partitionOf is the store's rule: FNV-1a of the group's name.
func partitionOf(tenant string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(tenant + "|0"))
	return int(h.Sum64() % partitions)
}

// tenant makes the i-th tenant, each in another partition.
func (l *load) tenant(ctx context.Context, i int, how weight) (*tenant, error) {
	mail := domain((i*3 + 1) % partitions)
	t := &tenant{id: "t:" + mail, partition: partitionOf("t:" + mail), owner: l.user("owner@" + mail)}
	if _, err := whoami(ctx, t.owner); err != nil {
		return nil, err
	}
	for k := range how.rooms {
		name := fmt.Sprintf("load-%d", k)
		r := &room{witness: witness{world: l.world}, owner: t.owner, tenant: t, id: "r:" + name, name: name, acked: make(map[string]message),
			seen: make(map[int64]string), members: make(map[string]bool), joined: make(map[string]int)}
		if err := r.make(ctx); err != nil {
			return nil, err
		}
		t.rooms = append(t.rooms, r)
	}
	t.workspace, t.counters = newWorkspace(t), newCounters(t)
	var err error
	t.wallets, err = makeWallets(ctx, t, how.wallets)
	return t, err
}

func (l *load) user(email string) *client {
	return &client{world: l.world, token: l.world.token(email), tally: l.tally}
}

// whoami is a user's id; asking makes them a member of their tenant.
func whoami(ctx context.Context, c *client) (string, error) {
	var out struct {
		Identity struct {
			UserID string `json:"user_id"`
		} `json:"identity"`
	}
	err := c.ask(ctx, "GET", "/api/whoami", "", nil, &out)
	return out.Identity.UserID, err
}

// follow opens the streams, and waits for those that begin with what is new.
func (l *load) follow() {
	ctx, cancel := context.WithCancel(l.world.life)
	l.stopStreams = cancel
	for _, t := range l.tenants {
		t.events = newFollower(t.owner, "/api/events", draws(l.world.seed, t.id))
		l.streams.Go(func() { t.events.follow(ctx) })
		for _, r := range t.rooms {
			f := newFollower(t.owner, "/api/events/rooms/"+r.id+"?from_seq=0", draws(l.world.seed, t.id, r.id))
			t.streams = append(t.streams, f)
			l.streams.Go(func() { f.follow(ctx) })
		}
		select {
		case <-t.events.begun:
		case <-l.world.life.Done():
			l.world.t.Fatalf("the stream of %s doesn't begin: %v", t.id, context.Cause(l.world.life))
		case <-time.After(deadline):
			l.world.t.Fatalf("the stream of %s doesn't begin", t.id)
		}
	}
}

// work starts all kinds of clients.
func (l *load) work(how weight) {
	ctx, cancel := context.WithCancel(l.world.life)
	l.stopClients = cancel
	who := 0
	next := func() int { who++; return who }
	for _, t := range l.tenants {
		for _, r := range t.rooms {
			for range how.senders {
				id := next()
				l.clients.Go(func() { r.sender(ctx, id, draws(l.world.seed, "send", id), how.pace) })
			}
			id := next()
			l.clients.Go(func() { r.reader(ctx, id, draws(l.world.seed, "read", id), how.pace) })
		}
		for k := range how.users {
			u := l.member(t, k)
			id := next()
			l.clients.Go(func() { t.rooms[0].churn(ctx, id, u, draws(l.world.seed, "member", id), 8*how.pace) })
		}
		for range how.writers {
			id := next()
			l.clients.Go(func() { t.workspace.writer(ctx, id, draws(l.world.seed, "write", id), 3*how.pace) })
		}
		for range how.carriers {
			id := next()
			l.clients.Go(func() { t.wallets.carrier(ctx, draws(l.world.seed, "carry", id), how.patience, 4*how.pace) })
		}
		for range how.adders {
			if id := next(); l.world.counts {
				l.clients.Go(func() { t.counters.adder(ctx, draws(l.world.seed, "add", id), how.patience, 4*how.pace) })
			}
		}
	}
}

// member makes a user of the tenant.
func (l *load) member(t *tenant, k int) user {
	l.world.t.Helper()
	ctx, cancel := context.WithTimeout(l.world.life, deadline)
	defer cancel()
	u := user{email: fmt.Sprintf("user%d@%s", k, t.id[len("t:"):])}
	id, err := whoami(ctx, l.user(u.email))
	if err != nil {
		l.world.t.Fatalf("couldn't enter as %s: %v", u.email, err)
	}
	u.id = id
	return u
}

// finish lets the clients complete what they began. Streams go on.
func (l *load) finish() {
	l.stopClients()
	l.clients.Wait()
}

// abandon ends all clients at once, finished or not.
func (l *load) abandon() {
	l.world.end(errOver)
	l.clients.Wait()
	l.streams.Wait()
}
