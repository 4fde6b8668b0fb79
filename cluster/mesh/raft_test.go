package mesh

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"ubl/test/poll"
)

const groups = 3

// tape is a state machine that remembers what was applied, once each: an entry
// whose outcome was unknown is tried again.
type tape struct {
	mu      sync.Mutex
	entries []string
}

func (f *tape) Apply(l *raft.Log) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.entries, string(l.Data)) {
		f.entries = append(f.entries, string(l.Data))
	}
	return nil
}

func (f *tape) has(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries) == n
}

func (f *tape) Snapshot() (raft.FSMSnapshot, error) { return nil, raft.ErrNothingNewToSnapshot }
func (f *tape) Restore(io.ReadCloser) error         { return nil }

// server is what a server keeps while its process is away: a log per group.
type server struct {
	id     string
	stores [groups]*raft.InmemStore
	tapes  [groups]*tape
	rafts  [groups]*raft.Raft
	mesh   *Mesh
}

func newServer(id string) *server {
	s := &server{id: id}
	for p := range groups {
		s.stores[p] = raft.NewInmemStore()
	}
	return s
}

// start begins every group of the server on a new port.
func (s *server) start(t *testing.T, secret Secret, d *directory, all []*server) {
	t.Helper()
	s.mesh, _ = listen(t, secret, d, s.id)
	var members raft.Configuration
	for _, m := range all {
		members.Servers = append(members.Servers, raft.Server{ID: raft.ServerID(m.id), Address: raft.ServerAddress(m.id)})
	}
	for p := range groups {
		s.tapes[p] = &tape{}
		config := raft.DefaultConfig()
		config.LocalID = raft.ServerID(s.id)
		config.LogOutput = io.Discard
		config.HeartbeatTimeout, config.ElectionTimeout = 500*time.Millisecond, 500*time.Millisecond
		config.LeaderLeaseTimeout = 500 * time.Millisecond
		transport := raft.NewNetworkTransport(s.mesh.RaftLayer(p), 3, 2*time.Second, io.Discard)
		store, snapshots := s.stores[p], raft.NewDiscardSnapshotStore()
		if has, err := raft.HasExistingState(store, store, snapshots); err != nil {
			t.Fatal(err)
		} else if !has {
			if err := raft.BootstrapCluster(config, store, store, snapshots, transport, members); err != nil {
				t.Fatal(err)
			}
		}
		r, err := raft.NewRaft(config, s.tapes[p], store, store, snapshots, transport)
		if err != nil {
			t.Fatal(err)
		}
		s.rafts[p] = r
	}
	t.Cleanup(func() { s.stop(t) })
}

// stop ends the server's process; NetworkTransport closes the layers.
func (s *server) stop(t *testing.T) {
	if s.mesh == nil {
		return
	}
	for _, r := range s.rafts {
		if err := r.Shutdown().Error(); err != nil {
			t.Error(err)
		}
	}
	s.mesh.Close()
	s.mesh = nil
}

// apply commits an entry in a group, through whoever leads it.
func apply(t *testing.T, all []*server, p int, text string) {
	t.Helper()
	poll.Within(t, beforeForgotten, text+" is committed", func() bool {
		for _, s := range all {
			if s.mesh != nil && s.rafts[p].State() == raft.Leader && s.rafts[p].Apply([]byte(text), 5*time.Second).Error() == nil {
				return true
			}
		}
		return false
	})
}

// TestRaftOverOnePort runs three groups on three servers, then takes a server
// away and brings it back on another port: its log catches up there.
func TestRaftOverOnePort(t *testing.T) {
	secret, d := newSecret(t), &directory{}
	all := []*server{newServer("n1@a"), newServer("n2@b"), newServer("n3@c")}
	for _, s := range all {
		s.start(t, secret, d, all)
	}
	everywhere := func(n int) {
		t.Helper()
		for _, s := range all {
			for p := range groups {
				if s.mesh != nil {
					poll.Within(t, beforeForgotten, fmt.Sprintf("%s has %d entries of group %d", s.id, n, p), func() bool { return s.tapes[p].has(n) })
				}
			}
		}
	}
	for i := range 10 {
		for p := range groups {
			apply(t, all, p, fmt.Sprintf("%d of group %d", i, p))
		}
	}
	everywhere(10)
	if got := all[0].tapes[1].entries[3]; got != "3 of group 1" {
		t.Errorf("group 1 was told %q", got)
	}

	before := all[1].mesh.Addr()
	all[1].stop(t)
	for p := range groups {
		apply(t, all, p, "while one is away")
	}
	everywhere(11)
	all[1].start(t, secret, d, all)
	if all[1].mesh.Addr() == before {
		t.Fatal("it came back on the same address")
	}
	for p := range groups {
		apply(t, all, p, "when it is back")
	}
	everywhere(12)
}
