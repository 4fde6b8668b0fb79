package cluster

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// rostrum is Raft's way to the others in which a group's heartbeats are the pulpit's.
type rostrum struct {
	*raft.InmemTransport
	beats *transport
}

func (r rostrum) AppendEntries(id raft.ServerID, to raft.ServerAddress, q *raft.AppendEntriesRequest, a *raft.AppendEntriesResponse) error {
	if isHeartbeat(q) {
		return r.beats.AppendEntries(id, to, q, a)
	}
	return r.InmemTransport.AppendEntries(id, to, q, a)
}

// stateless is a state machine that keeps nothing.
type stateless struct{}

func (stateless) Apply(*raft.Log) any                 { return nil }
func (stateless) Snapshot() (raft.FSMSnapshot, error) { return nil, io.EOF }
func (stateless) Restore(r io.ReadCloser) error       { return r.Close() }

// TestRaftAsksAsSoonAsItIsAnswered: each beat has a heartbeat of a group at rest. Left to itself
// Raft would wait two beats or more with its next one, and wake for it in between.
func TestRaftAsksAsSoonAsItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const partition = 1
		p := newPulpit(t, map[int]uint64{})
		stop := make(chan struct{})
		both := raft.Configuration{Servers: []raft.Server{{ID: "a", Address: "a"}, {ID: "b", Address: "b"}}}
		ways := map[raft.ServerID]*raft.InmemTransport{}
		for _, s := range both.Servers {
			_, ways[s.ID] = raft.NewInmemTransport(s.Address)
		}
		ways["a"].Connect("b", ways["b"])
		ways["b"].Connect("a", ways["a"])
		begin := func(id raft.ServerID, patience time.Duration, way raft.Transport) *raft.Raft {
			c := raft.DefaultConfig()
			c.LocalID, c.Logger, c.NoLegacyTelemetry = id, hclog.NewNullLogger(), true
			c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = patience, patience, patience
			store, snapshots := raft.NewInmemStore(), raft.NewDiscardSnapshotStore()
			if err := raft.BootstrapCluster(c, store, store, snapshots, way, both); err != nil {
				t.Fatal(err)
			}
			r, err := raft.NewRaft(c, stateless{}, store, store, snapshots, way)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		follower := begin("b", time.Hour, ways["b"]) // the test answers for it
		// A tenth of it is two beats.
		leader := begin("a", 20*testBeat, rostrum{ways["a"], &transport{partition: partition, beats: p.beats, stop: stop}})
		defer func() {
			close(stop)
			for _, r := range []*raft.Raft{leader, follower} {
				if err := r.Shutdown().Error(); err != nil {
					t.Error(err)
				}
			}
		}()
		p.prompt = func(of int) {
			if of != partition {
				t.Errorf("partition %d is to ask", of)
			}
			leader.VerifyLeader()
		}
		for leader.State() != raft.Leader {
			time.Sleep(testBeat)
		}
		p.lead(partition, leader.CurrentTerm())
		l := p.heard()
		var before time.Time
		for beat := range 5 * pulseBeats {
			list := l.next()
			if now := time.Now(); len(list) != 1 || beat > 0 && now.Sub(before) != testBeat {
				t.Fatalf("beat %d has %d heartbeats, %s after the one before", beat, len(list), now.Sub(before))
			} else {
				before = now
			}
			l.say(list, echo{term: leader.CurrentTerm(), outcome: accepted})
			synctest.Wait()
		}
		if leader.State() != raft.Leader {
			t.Error("it leads no more")
		}
	})
}
