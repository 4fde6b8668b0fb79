package mesh

import (
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"ubl/test/poll"
)

// pair is the secret while two are in use: the first is shown, both are accepted.
func pair(shown, also Secret) Secret {
	return shown.Select(also, append(shown.IDs()[:1], also.IDs()[0]))
}

// TestRotation goes the way of a rotation on two nodes, one node at a time, and
// asks after each step whether the nodes still speak with one another, on the
// connection that was open and on new ones.
func TestRotation(t *testing.T) {
	t.Parallel()
	d := &directory{}
	old, fresh := newSecret(t), newSecret(t)
	a, _ := listen(t, old, d, "n1@a")
	b, _ := listen(t, old, d, "n2@b")
	la, lb := a.RaftLayer(1), b.RaftLayer(1)
	echo(t, la)
	echo(t, lb)
	dial := func(from raft.StreamLayer, to raft.ServerAddress) net.Conn {
		c, err := from.Dial(to, time.Minute)
		if err != nil {
			t.Fatalf("couldn't call %s: %v", to, err)
		}
		t.Cleanup(func() { c.Close() })
		says(t, c)
		return c
	}
	open := dial(la, "n2@b")
	for _, step := range []struct {
		name string
		mesh *Mesh
		to   Secret
	}{
		{"n1 accepts the new one", a, pair(old, fresh)},
		{"n2 accepts the new one", b, pair(old, fresh)},
		{"n1 shows the new one", a, pair(fresh, old)},
		{"n2 shows the new one", b, pair(fresh, old)},
	} {
		if err := step.mesh.SetSecret(step.to); err != nil {
			t.Fatal(err)
		}
		t.Log(step.name)
		says(t, open)
		dial(la, "n2@b")
		dial(lb, "n1@a")
	}
	// Without the old one the connection that was made with it ends.
	if err := a.SetSecret(fresh); err != nil {
		t.Fatal(err)
	}
	open.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived its secret")
	}
	dial(la, "n2@b")
	if err := b.SetSecret(fresh); err != nil {
		t.Fatal(err)
	}
	dial(lb, "n1@a")

	// Who only has the old one is a stranger now.
	c, _ := listen(t, old, d, "n3@c")
	lc := c.RaftLayer(1)
	if conn, err := lc.Dial("n1@a", time.Minute); err == nil {
		conn.Close()
		t.Error("the old secret still opens the door")
	}
	if err := a.SetSecret(Secret{}); err == nil {
		t.Error("no secret was taken for one")
	}
}

// TestGossipRotation: two nodes go on gossiping through a rotation.
func TestGossipRotation(t *testing.T) {
	t.Parallel()
	old, fresh := newSecret(t), newSecret(t)
	a, b := gossip(t, old, "n1@a"), gossip(t, old, "n2@b")
	b.join(t, a)
	for i, step := range []struct {
		at gossiper
		to Secret
	}{
		{a, pair(old, fresh)}, {b, pair(old, fresh)}, {a, pair(fresh, old)}, {b, pair(fresh, old)}, {a, fresh}, {b, fresh},
	} {
		if err := step.at.mesh.SetSecret(step.to); err != nil {
			t.Fatal(err)
		}
		id := string(rune('a' + i))
		a.cluster.Store(id)
		if err := a.UpdateMeta(); err != nil {
			t.Fatal(err)
		}
		poll.Within(t, beforeForgotten, "n2 hears n1", func() bool { return b.member("n1@a").ClusterID == id })
	}
	a.sees(t, "n1@a alive, n2@b alive")
	stranger := gossip(t, old, "n3@c")
	if _, err := stranger.Join([]string{a.mesh.Addr()}); err == nil {
		t.Error("the old secret still joins")
	}
}
