package deploy

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	room    = "r:harbour"
	writers = 4
	each    = 60 // messages of a writer
)

// TestComposeSurvivesANode starts three nodes and their load balancer with the
// commands and the environment of compose.yaml. Four writers send through the
// load balancer, and a stream follows through it, while one node is killed and
// comes back. Afterwards everything acknowledged is there once, in order, in
// the history, on the stream and in a ledger that verifies, on every node.
func TestComposeSurvivesANode(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("every container gets a loopback address of its own, which Linux has")
	}
	if testing.Short() {
		t.Skip("three nodes take half a minute")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	i := newInstallation(t)
	i.start()
	// Every node has the key, so a token of any of them holds everywhere.
	c := newClient(i.at.url("lb"), i.token(owner, "n3"))
	var made struct{}
	if err := c.persist(ctx, "POST", "/api/rooms", "make-the-room", map[string]string{"name": "harbour"}, &made); err != nil {
		t.Fatal(err)
	}

	acked := load(ctx, t, i, c)
	history := checkHistory(ctx, t, c, acked)
	acked.follower.check(t, history)
	t.Logf("%d messages, followed over %d streams", len(history), acked.follower.streams)

	head := i.verifyExport("lb", c.token).HeadHash
	for _, name := range nodes {
		if got := i.verifyExport(name, c.token).HeadHash; got != head {
			t.Errorf("the ledger from %s ends with %s, the load balancer's with %s", name, got, head)
		}
	}
	i.allLed(ctx)
	if status, _, _ := get(t, i.at.url("lb")+"/metrics"); status != http.StatusNotFound {
		t.Errorf("the load balancer shows the figures of a node: %d", status)
	}
	i.stopNodes()
	i.refusal(ctx, c)
}

// sent is what was acknowledged, and what a stream saw meanwhile.
type sent struct {
	mu       sync.Mutex
	byText   map[string]message
	count    atomic.Int64
	follower *follower
}

// load sends and follows while n1, the founder, is killed after a third of the
// messages and started again after two thirds.
func load(ctx context.Context, t *testing.T, i *installation, c *client) *sent {
	s := &sent{byText: map[string]message{}, follower: &follower{c: c, room: room}}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() { s.write(ctx, t, c, w) })
	}
	all.Go(func() { s.follower.follow(ctx, t, writers*each+1) }) // the room's first message is the system's
	s.reach(ctx, writers*each/3)
	i.nodes["n1"].kill()
	s.reach(ctx, writers*each*2/3)
	i.nodes["n1"].start()
	i.ready("n1")
	all.Wait()
	return s
}

func (s *sent) write(ctx context.Context, t *testing.T, c *client, w int) {
	for n := range each {
		text := fmt.Sprintf("writer %d message %d", w, n)
		m, err := c.send(ctx, room, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		s.mu.Lock()
		s.byText[text] = m
		s.mu.Unlock()
		s.count.Add(1)
	}
}

// reach waits until so many messages were acknowledged.
func (s *sent) reach(ctx context.Context, n int64) {
	for s.count.Load() < n && ctx.Err() == nil {
		pause(ctx, 5*time.Millisecond)
	}
}

// checkHistory wants every acknowledged message once and no gap.
func checkHistory(ctx context.Context, t *testing.T, c *client, s *sent) []message {
	t.Helper()
	history, err := c.history(ctx, room)
	if err != nil {
		t.Fatal(err)
	}
	if len(history) != writers*each+1 {
		t.Errorf("the room has %d messages, want %d and the system's", len(history), writers*each)
	}
	for i, m := range history {
		if m.RoomSeq != int64(i+1) {
			t.Fatalf("message %d has room_seq %d", i+1, m.RoomSeq)
		}
		if want, ok := s.byText[m.Body.Text]; ok && want != m {
			t.Errorf("%q was acknowledged as %d, stored is %d", m.Body.Text, want.RoomSeq, m.RoomSeq)
		}
		delete(s.byText, m.Body.Text)
	}
	for text := range s.byText {
		t.Errorf("%q was acknowledged and is not in the history", text)
	}
	return history
}
