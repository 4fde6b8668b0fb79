package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/container"
	"ubl/actors/ledger"
	rooms "ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/test/poll"
)

// writers are clients of a cluster whose nodes run rooms. A node's disk can be held:
// then whatever is written to a log there waits.
type writers struct {
	*world
	who   ubl.Identity
	room  ubl.Name
	local []*actors.Runtime
	disks []sync.RWMutex

	sending sync.WaitGroup
	mu      sync.Mutex
	serial  int
	seqs    []int64 // of accepted sends
	refused int     // with overloaded
}

// newWriters starts a cluster, and a tenant with its first room.
func newWriters(t *testing.T, nodes int, limits actors.Limits) *writers {
	w := &writers{disks: make([]sync.RWMutex, nodes), who: ubl.Identity{
		UserID: ubl.UserIDFor("https://idp.example", "ana", false), Email: "ana@example.com", EmailDomain: "example.com",
		TenantID: ubl.DomainTenant("example.com"), Issuer: "https://idp.example", Subject: "ana",
	}}
	w.room = ubl.RoomName(w.who.TenantID, ubl.GeneralRoom)
	w.world = newWorld(t, nodes, func(o *Options) {
		disk := &w.disks[o.NodeID[0]-'a']
		o.Logged = func(time.Duration, error) {
			disk.RLock()
			defer disk.RUnlock()
		}
	})
	for _, n := range w.nodes {
		rt := actors.New(actors.Options{
			Families: []actors.Family{
				ledger.Family(n.Store()), rooms.Family(n.Store()),
				tenant.Family(n.Store(), tenant.Places{Room: rooms.Found, Container: container.Found}, ubl.Kinds(), nil),
			},
			Now: time.Now, Random: rand.Reader, Limits: limits, Partition: n.engine.Partition, Elsewhere: n,
		})
		w.local = append(w.local, rt)
		n.Attach(rt)
		t.Cleanup(func() { _ = rt.Close(context.Background()) })
	}
	w.send(w.nodes[0])
	w.sending.Wait()
	if len(w.seqs) != 1 {
		t.Fatal("the first send of all was refused")
	}
	return w
}

// hold holds a node's disk until release, or the end of the test.
func (w *writers) hold(i int) (release func()) {
	w.disks[i].Lock()
	release = sync.OnceFunc(w.disks[i].Unlock)
	w.t.Cleanup(release)
	return release
}

// leads is the index of the node that leads the room's partition.
func (w *writers) leads() int {
	return slices.Index(w.nodes, w.led(w.nodes[0].engine.Partition(w.room.Group())))
}

// visit sends by way of a node, under a key of its own. As a client would, it sends again
// as long as it can't know the outcome.
func (w *writers) visit(n *Node) (*ubl.Entered, any, error) {
	w.mu.Lock()
	w.serial++
	id := fmt.Sprintf("req:writer-%d", w.serial)
	w.mu.Unlock()
	request := ubl.Request{Who: w.who, ID: id, Key: id}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for doubt := false; ; <-time.After(10 * time.Millisecond) {
		entered, answer, err := n.Visit(ctx, ubl.Enter{Request: request, Act: true}, w.room, ubl.SendMessage{Request: request, Text: id})
		code := ubl.CodeOf(err)
		doubt = doubt || code == ubl.CodeUnavailable
		if !doubt || err == nil || code != ubl.CodeUnavailable && code != ubl.CodeOverloaded || ctx.Err() != nil {
			return entered, answer, err
		}
	}
}

// send begins a send by way of a node. In the end it is accepted, or overloaded.
func (w *writers) send(n *Node) {
	w.sending.Go(func() {
		_, answer, err := w.visit(n)
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case err == nil:
			w.seqs = append(w.seqs, answer.(*ubl.Sent).RoomSeq)
		case ubl.CodeOf(err) == ubl.CodeOverloaded && ubl.AsError(err).RetryAfter() > 0:
			w.refused++
		default:
			w.t.Errorf("a send by way of %s: %v", n.server, err)
		}
	})
}

// finish waits until all sends are answered. Those that were accepted, and no others,
// are in the room.
func (w *writers) finish() {
	w.t.Helper()
	w.sending.Wait()
	slices.Sort(w.seqs)
	for i, seq := range w.seqs {
		if seq != w.seqs[0]+int64(i) {
			w.t.Fatalf("the accepted sends have the numbers %v", w.seqs)
		}
	}
	head, err := w.nodes[0].Ask(w.t.Context(), w.room, ubl.RoomHead{})
	if err != nil || head.(ubl.Head).LastSeq != w.seqs[len(w.seqs)-1] {
		w.t.Errorf("the room is at %v after the sends %v: %v", head, w.seqs, err)
	}
}

// TestRefusedBehindASlowFollower: the leader's window counts the time that its followers
// take. Where commits wait for a follower's disk, more sends are refused, also those
// that the follower passes on, and those that were let in are answered in the end.
func TestRefusedBehindASlowFollower(t *testing.T) {
	w := newWriters(t, 2, actors.Limits{})
	leads := w.leads()
	follower := w.nodes[1-leads]
	release := w.hold(1 - leads)
	for range 100 {
		w.send(follower)
	}
	poll.Until(t, "sends are refused", func() bool {
		w.send(follower)
		return w.local[leads].Stats().Refused["tenant"] > 0
	})
	if entered, _, err := w.visit(follower); ubl.CodeOf(err) != ubl.CodeOverloaded || entered != nil {
		t.Errorf("one more send: %v; the tenant was asked to let the writer in: %t", err, entered != nil)
	}
	release()
	w.finish()
	if w.refused == 0 { // how many were let in depends on how late the machine is
		t.Errorf("none of %d sends was refused", len(w.seqs))
	}
}

// TestLeaderChangesBeforeAFullWindow: sends that wait in the window of a leader which is
// deposed have their outcome from the next one, once. The old leader's window is empty
// then: as many are let in when it leads again.
func TestLeaderChangesBeforeAFullWindow(t *testing.T) {
	const places = 40
	w := newWriters(t, 3, actors.Limits{PartitionWrites: places})
	old := w.leads()
	release := w.hold(old)
	poll.Until(t, "the window is full", func() bool {
		for range places / 2 {
			for _, n := range w.nodes {
				w.send(n)
			}
		}
		return w.local[old].Stats().Refused["partition"] > 0
	})
	w.stand((old + 1) % 3)
	release()
	w.finish()
	if w.refused == 0 { // as above
		t.Errorf("none of %d sends was refused", len(w.seqs))
	}

	w.stand(old)
	poll.Until(t, "the window has all its places", func() bool {
		w.refused = 0
		for range places {
			w.send(w.nodes[old])
		}
		w.finish()
		return w.refused == 0
	})
}

// stand has a node lead the room's partition.
func (w *writers) stand(i int) {
	w.t.Helper()
	w.world.stand(w.nodes[i], w.nodes[i].engine.Partition(w.room.Group()))
}
