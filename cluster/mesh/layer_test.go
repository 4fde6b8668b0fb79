package mesh

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl/test/leaks"
	"ubl/test/poll"
)

const dialTime = 10 * time.Second

// TestEachPartitionHasItsLayer, and the server is told who calls before anybody takes the call.
func TestEachPartitionHasItsLayer(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	calls := make(chan string, 1)
	b, _ := listen(t, s, d, "n2@b", func(o *Options) { o.Called = func(server string) { calls <- server } })
	for _, p := range []int{0, 7, 65535} {
		from, to := a.RaftLayer(p), b.RaftLayer(p)
		c, err := from.Dial("n2@b", dialTime)
		if err != nil {
			t.Fatal(err)
		}
		taken, err := to.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte{byte(p)})
		var got [1]byte
		if _, err := io.ReadFull(taken, got[:]); err != nil || got[0] != byte(p) {
			t.Errorf("partition %d: %v, %v", p, got, err)
		}
		select {
		case who := <-calls:
			if who != "n1@a" {
				t.Errorf("%s calls", who)
			}
		default:
			t.Error("nobody was told of a call")
		}
	}
	if got := a.RaftLayer(1).Addr().String(); got != "n1@a" {
		t.Errorf("Raft calls us %s", got)
	}
}

// TestDialFailsClearly, when the other side is not who was meant.
func TestDialFailsClearly(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	listen(t, newSecret(t), d, "n3@c")
	d.set("n2@old", b.Addr())
	b.RaftLayer(0)
	layer := a.RaftLayer(0)
	if _, err := layer.Dial("n2@old", dialTime); !errors.Is(err, ErrWrongServer) {
		t.Errorf("another server on the address: %v", err)
	}
	if _, err := layer.Dial("n4@d", dialTime); !errors.Is(err, ErrUnknownServer) {
		t.Errorf("an unknown server: %v", err)
	}
	if _, err := layer.Dial("n3@c", dialTime); err == nil {
		t.Error("another cluster's node was reached")
	}
	if _, err := a.RaftLayer(1).Dial("n2@b", dialTime); !errors.Is(err, ErrNotServing) {
		t.Errorf("a partition that isn't open: %v", err)
	}
	if _, err := a.DialGRPC(t.Context(), "n2@b"); !errors.Is(err, ErrNotServing) {
		t.Errorf("gRPC that isn't open: %v", err)
	}
}

// TestDialGivesUp on a server that takes the connection and says nothing.
func TestDialGivesUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d := &directory{}
	a, _ := listen(t, newSecret(t), d, "n1@a")
	d.set("n2@b", silent.Addr().String())
	if _, err := a.RaftLayer(0).Dial("n2@b", 200*time.Millisecond); !errors.Is(err, errSlow) {
		t.Errorf("after its timeout: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := a.DialGRPC(ctx, "n2@b"); !errors.Is(err, context.Canceled) {
		t.Errorf("when cancelled: %v", err)
	}
}

// TestLayersComeAndGo: closing one ends its connections, on both ends, and
// opening it again serves again.
func TestLayersComeAndGo(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	from := a.RaftLayer(3)
	for range 3 {
		to := b.RaftLayer(3)
		c, err := from.Dial("n2@b", dialTime)
		if err != nil {
			t.Fatal(err)
		}
		taken, err := to.Accept()
		if err != nil {
			t.Fatal(err)
		}
		to.Close()
		ended(t, c)
		ended(t, taken)
		if _, err := to.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a closed layer accepts: %v", err)
		}
		if _, err := to.Dial("n1@a", dialTime); err == nil {
			t.Error("a closed layer dials")
		}
		if _, err := from.Dial("n2@b", dialTime); !errors.Is(err, ErrNotServing) {
			t.Errorf("a closed layer is reached: %v", err)
		}
	}
}

// TestOpeningAgainReplaces: a layer that is open already ends, the new one serves.
func TestOpeningAgainReplaces(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	first := b.RaftLayer(0)
	second := b.RaftLayer(0)
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the first one still accepts: %v", err)
	}
	first.Close() // late: the second one stays
	echo(t, second)
	c, err := a.RaftLayer(0).Dial("n2@b", dialTime)
	if err != nil {
		t.Fatal(err)
	}
	says(t, c)
}

// TestServerOnAnotherAddress is found there, and the one that was wiped is not
// taken for the one it was.
func TestServerOnAnotherAddress(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	layer := a.RaftLayer(0)
	call := func() error {
		c, err := layer.Dial("n2@b", dialTime)
		if err == nil {
			says(t, c)
			c.Close()
		}
		return err
	}

	b, _ := listen(t, s, d, "n2@b")
	before := b.Addr()
	echo(t, b.RaftLayer(0))
	if err := call(); err != nil {
		t.Fatal(err)
	}
	b.Close()

	wiped, log := listen(t, s, &directory{}, "n2@new", at(before))
	untouched := wiped.RaftLayer(0)
	if err := call(); !errors.Is(err, ErrWrongServer) {
		t.Fatalf("the wiped server got Raft's traffic: %v", err)
	}
	poll.Within(t, beforeForgotten, "it is logged", func() bool { return log.count("another server answers") == 1 })
	untouched.Close()
	if _, err := untouched.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error("a connection reached it")
	}

	moved, _ := listen(t, s, d, "n2@b")
	if moved.Addr() == before {
		t.Fatal("it is on the same address")
	}
	echo(t, moved.RaftLayer(0))
	if err := call(); err != nil {
		t.Fatal(err)
	}
}

// TestCloseEndsEverything: accepting, dialing, open connections, gossip and
// pending handshakes, of every kind, from any goroutine, more than once.
func TestCloseEndsEverything(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	g, err := b.StartGossip(GossipOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rpc, raft := b.GRPC(), b.RaftLayer(0)
	open, err := a.DialGRPC(t.Context(), "n2@b")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	taken, err := rpc.Accept()
	if err != nil {
		t.Fatal(err)
	}
	pending := stranger(t, b)

	var wg sync.WaitGroup
	for _, l := range []net.Listener{rpc, raft} {
		wg.Go(func() {
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept: %v", err)
			}
		})
	}
	for range 3 {
		wg.Go(func() { b.Close() })
	}
	wg.Wait()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []net.Conn{open, taken, pending} {
		ended(t, c)
	}
	if _, err := raft.Dial("n1@a", dialTime); err == nil {
		t.Error("a closed mesh dials Raft")
	}
	if _, err := b.DialGRPC(t.Context(), "n1@a"); err == nil {
		t.Error("a closed mesh dials gRPC")
	}
	if _, err := b.RaftLayer(1).Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a layer opened too late accepts: %v", err)
	}
	if _, err := b.StartGossip(GossipOptions{}); err == nil {
		t.Error("gossip starts on a closed mesh")
	}
	if err := g.UpdateMeta(); !errors.Is(err, errGossipEnded) {
		t.Errorf("UpdateMeta: %v", err)
	}
	if err := g.Leave(time.Second); !errors.Is(err, errGossipEnded) {
		t.Errorf("Leave: %v", err)
	}
	a.Close()
	leaks.None(t, before)
}

// TestClosingDoesNotWaitForAStalledPeer: TLS would wait five seconds to say
// goodbye to one that has stopped reading.
func TestClosingDoesNotWaitForAStalledPeer(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	to := b.RaftLayer(0)
	c, err := a.RaftLayer(0).Dial("n2@b", dialTime)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Accept(); err != nil { // and never reads
		t.Fatal(err)
	}
	raw := c.(*conn).NetConn()               // below TLS, which would know that a write of its own failed
	for _, size := range []int{1 << 20, 1} { // a few bytes fit where many don't
		for full := false; !full; {
			raw.SetWriteDeadline(time.Now().Add(time.Second))
			_, err := raw.Write(make([]byte, size))
			full = errors.Is(err, os.ErrDeadlineExceeded)
			if err != nil && !full {
				t.Fatal(err)
			}
		}
	}
	start := time.Now()
	a.Close()
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("closing took %v", took)
	}
}
