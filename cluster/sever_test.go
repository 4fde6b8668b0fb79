package cluster

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// tcpLayer is a raft.StreamLayer over plain TCP.
type tcpLayer struct{ net.Listener }

func (tcpLayer) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", string(to), timeout)
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// zeros is a snapshot that never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestAGroupThatEndsWaitsForNoPeer: a snapshot is on its way to a node that was
// paused, which has minutes to take it. Ending the group breaks it off.
func TestAGroupThatEndsWaitsForNoPeer(t *testing.T) {
	paused := listen(t) // its kernel takes connections, and nobody reads
	peers := newSeverable(tcpLayer{listen(t)}, nil)
	transport := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{Stream: peers, MaxPool: 1, Timeout: time.Hour, Logger: hclog.NewNullLogger()})
	defer transport.Close()
	sent := make(chan error, 1)
	go func() {
		const size = 1 << 40
		args := &raft.InstallSnapshotRequest{Size: size}
		sent <- transport.InstallSnapshot("n3", raft.ServerAddress(paused.Addr().String()), args, &raft.InstallSnapshotResponse{}, io.LimitReader(zeros{}, size))
	}()
	conn, err := paused.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peers.sever()
	select {
	case err := <-sent:
		if err == nil {
			t.Error("the snapshot was taken")
		}
	case <-time.After(time.Minute):
		t.Fatal("the snapshot is still on its way")
	}
	if _, err := peers.Dial(raft.ServerAddress(paused.Addr().String()), time.Second); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a connection after the end: %v", err)
	}
}
