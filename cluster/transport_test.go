package cluster

import (
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// line is one follower's transport, and a leader's that calls it.
type line struct {
	follower  *transport
	leader    *raft.NetworkTransport
	at        raft.ServerAddress
	snapshots sync.Mutex
}

func newLine(t *testing.T, holds bool) *line {
	ends := func(ln net.Listener) *raft.NetworkTransport {
		n := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{Stream: tcpLayer{ln}, MaxPool: 1, Timeout: time.Minute, Logger: hclog.NewNullLogger()})
		t.Cleanup(func() {
			n.Close()
			n.CloseStreams() // which Close leaves open
		})
		return n
	}
	ln := listen(t)
	l := &line{leader: ends(listen(t)), at: raft.ServerAddress(ln.Addr().String())}
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	l.follower = (&transport{
		NetworkTransport: ends(ln), snapshots: &l.snapshots, holds: func(*raft.InstallSnapshotRequest) bool { return holds }, whole: func() bool { return true }, stop: stop,
	}).start()
	return l
}

const snapshotText = "the state"

// send has the leader send its snapshot; the outcome comes.
func (l *line) send() <-chan error {
	sent := make(chan error, 1)
	go func() {
		args := &raft.InstallSnapshotRequest{Size: int64(len(snapshotText))}
		sent <- l.leader.InstallSnapshot("b", l.at, args, &raft.InstallSnapshotResponse{}, strings.NewReader(snapshotText))
	}()
	return sent
}

// TestSnapshotsTakeTurns: Raft's main goroutine installs a leader's snapshot and
// answers nobody meanwhile, so this replica must not be taking its own. Everything
// else comes through.
func TestSnapshotsTakeTurns(t *testing.T) {
	l := newLine(t, false)
	l.snapshots.Lock() // it takes its own
	sent := l.send()
	appended := make(chan error, 1)
	go func() {
		appended <- l.leader.AppendEntries("b", l.at, &raft.AppendEntriesRequest{Term: 1, PrevLogEntry: 1}, &raft.AppendEntriesResponse{})
	}()
	rpc := <-l.follower.Consumer()
	if _, ok := rpc.Command.(*raft.AppendEntriesRequest); !ok {
		t.Fatalf("Raft was given %T while it takes a snapshot", rpc.Command)
	}
	rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
	if err := <-appended; err != nil {
		t.Fatal(err)
	}

	l.snapshots.Unlock()
	rpc = <-l.follower.Consumer()
	if _, ok := rpc.Command.(*raft.InstallSnapshotRequest); !ok {
		t.Fatalf("Raft was given %T", rpc.Command)
	}
	if l.snapshots.TryLock() {
		t.Error("a snapshot can be taken while one is installed")
	}
	rpc.Respond(&raft.InstallSnapshotResponse{Success: true}, nil)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	l.snapshots.Lock() // and then its own again
}

// TestASnapshotThatIsHeld doesn't reach Raft, and the leader goes on behind it.
func TestASnapshotThatIsHeld(t *testing.T) {
	l := newLine(t, true)
	select {
	case err := <-l.send():
		if err != nil {
			t.Fatal(err)
		}
	case rpc := <-l.follower.Consumer():
		t.Fatalf("Raft was given %T", rpc.Command)
	}
}

// TestVotesAreAskedForAgain: each pooled connection may be of a process that has ended. What
// fails slowly isn't repeated: Raft would ask for the next votes meanwhile.
func TestVotesAreAskedForAgain(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration // a failure
		fails int
		asked int
		err   error
	}{
		{fails: maxPool, asked: maxPool + 1},
		{fails: maxPool + 1, asked: maxPool + 1, err: net.ErrClosed},
		{takes: time.Second, fails: 1, asked: 1, err: net.ErrClosed},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			err := (&transport{timeout: time.Second}).again(func() error {
				if asked++; asked <= c.fails {
					time.Sleep(c.takes)
					return net.ErrClosed
				}
				return nil
			})
			if asked != c.asked || err != c.err {
				t.Errorf("%+v: asked %d times: %v", c, asked, err)
			}
		})
	}
}

// TestAnAnswerLeavesTheQuestionAlone: Raft asks with one request and one answer again and again,
// and what comes over the wire is decoded into what the answer has. A heartbeat that
// goes alone after others that didn't is still its leader's.
func TestAnAnswerLeavesTheQuestionAlone(t *testing.T) {
	l := newLine(t, false)
	q := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ID: []byte("a@1"), Addr: []byte("a@1")}, Term: 1, PrevLogEntry: 1}
	r := echo{term: 1, outcome: accepted}.response()
	sent := make(chan error, 1)
	go func() { sent <- l.leader.AppendEntries("b", l.at, q, &r) }()
	rpc := <-l.follower.Consumer()
	rpc.Respond(&raft.AppendEntriesResponse{RPCHeader: raft.RPCHeader{ID: []byte("b@2"), Addr: []byte("b@2")}, Term: 1}, nil)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if string(q.ID) != "a@1" || string(q.Addr) != "a@1" {
		t.Errorf("the leader now asks as %s at %s", q.ID, q.Addr)
	}
}
